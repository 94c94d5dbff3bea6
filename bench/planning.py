"""`python -m bench.planning`: what planning answers cost, and how right forecasts are.

Each figure sets an answer against the simulation of one size, Theorem 1's, by a hundred audits and
the interval itself: what a simulated answer would do several times over. Then forecasts are
compared with `bounds` on the same releases: the last line is the worst agreement.
"""

from collections.abc import Callable

from auditor_client import plan, rehearsal
from auditor_client.inverse import power_at, resolvable_alpha
from auditor_client.plan import sample_size, verdict_size
from auditor_client.power import RUNS, Design, Outcome, SizeKind, audit, ends_in
from auditor_client.releases import draw, groups_of
from bench.harness import Figure, compare

COMMAND = "python -m bench.planning"
DESIGNS: list[tuple[SizeKind, int, int, float]] = [
    ("known", 180, 100, 1.0),
    ("known", 120, 10, 0.3),
    ("noisy", 320, 100, 1.0),
    ("estimated", 300, 20, 1.0),
]


def run() -> list[Figure]:
    """Seconds of each answer, caches emptied, beside one simulation of 1,879 people."""
    design = Design(0.2, 0.05, 2, 100, 1.0, "known", 0.25)

    def simulation() -> None:
        for seed in range(RUNS):
            ends_in(design, audit(design, 1879, 0.0, seed), "fair")

    questions: dict[str, Callable[[], object]] = {
        "exact promise, sizes known": lambda: sample_size(0.2, 0.05, 2, 100, 1.0, "exact"),
        "verdict, sizes known": lambda: verdict_size(0.2, bins=100),
        "verdict, sizes noisy": lambda: verdict_size(0.2, bins=100, sizes="noisy"),
        "power of 300 people": lambda: power_at(300, 0.0, bins=100),
        "least alpha of 300 people": lambda: resolvable_alpha(300, bins=100),
    }
    return [
        compare(f"plan: {name}", _afresh(ask), simulation, goal="< 2", command=COMMAND, rounds=3)
        for name, ask in questions.items()
    ]


def _afresh(ask: Callable[[], object]) -> Callable[[], object]:
    def asked() -> object:
        rehearsal.chance.cache_clear()
        plan._exact.cache_clear()
        return ask()

    return asked


def agreement(design: Design, people: int, verdict: Outcome, runs: int) -> tuple[float, ...]:
    """Shares of releases that end in the verdict by forecast, by `bounds`, and judged alike."""
    gap = 0.0 if verdict == "fair" else 2 * design.alpha
    quick = rehearsal.decisions(design, people, gap, verdict)[:runs]
    drawn = draw(design, people, gap, 0.001)
    exact = [
        ends_in(design, groups_of(design, drawn, people, number), verdict) for number in range(runs)
    ]
    alike = sum(a == b for a, b in zip(quick, exact, strict=True))
    return sum(quick) / runs, sum(exact) / runs, alike / runs


def main() -> None:
    for figure in run():
        print(f"{figure.name:32} {figure.ours:6.3f} s = {figure.ratio:.2f} of one simulation")
    worst = 1.0
    for sizes, people, bins, rate in DESIGNS:
        design = Design(0.2, 0.05, 2, bins, rate, sizes, rate / 4)
        for verdict in ("fair", "unfair"):
            quick, exact, alike = agreement(design, people, verdict, 100)
            worst = min(worst, alike)
            print(f"{sizes:>10} {people:5} {bins:4} {rate:4} {verdict:>7} {quick:.3f} {exact:.3f}")
    print(f"worst agreement: {worst:.3f}")


if __name__ == "__main__":
    main()
