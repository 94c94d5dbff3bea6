"""`python -m bench.planning`: what planning answers cost, and how right forecasts are.

First come the processor seconds of usual questions, each once with empty caches, and of the first
question of a fresh process. Each figure then compares an answer with the simulation of one size,
Theorem 1's, by a hundred audits and the interval itself; a simulated answer would repeat this
several times. Last, forecasts are compared with `gap_bounds` on the same releases: the last line is
the worst agreement.
"""

import subprocess
import sys
import time
from collections.abc import Callable
from itertools import product
from statistics import median

from auditor_client.planning import fast_power
from auditor_client.planning import sample_size as plan
from auditor_client.planning.inverse import power_at, resolvable_alpha
from auditor_client.planning.power_simulation import (
    RUNS,
    AuditDesign,
    Outcome,
    SizeKind,
    has_verdict,
    simulate_release,
)
from auditor_client.planning.sample_size import sample_size, verdict_size
from auditor_client.planning.simulated_releases import draw, groups_of
from bench.harness import Figure, compare

COMMAND = "python -m bench.planning"
DESIGNS: list[tuple[SizeKind, int, int, float]] = [
    ("known", 180, 100, 1.0),
    ("known", 120, 10, 0.3),
    ("noisy", 320, 100, 1.0),
    ("estimated", 300, 20, 1.0),
]

# Seconds in the worst case, in which fifty numbers are proved one by one
GOALS = {"exact promise, sizes noisy": "< 10"}
# alpha, groups, bins, epsilon
USUAL = list(product((0.1, 0.15, 0.2, 0.25, 0.3), (2, 3, 4), (10, 20, 100), (0.5, 1.0, 2.0)))
FIRST = """
import time
from auditor_client.planning.sample_size import sample_size, verdict_size
started = time.process_time()
{question}
print(time.process_time() - started)
"""


def seconds(ask: Callable[[float, int, int, float], object]) -> list[float]:
    """Return the seconds of every usual question, with empty caches."""
    taken = []
    for question in USUAL:
        started = time.process_time()
        ask(*question)
        taken.append(time.process_time() - started)
    return sorted(taken)


def first_seconds(question: str, rounds: int = 5) -> list[float]:
    """Return the seconds of a process's first question, after all imports."""
    command = [sys.executable, "-c", FIRST.format(question=question)]
    return sorted(float(subprocess.check_output(command)) for _ in range(rounds))


def usual() -> None:
    """Print their smallest value, median and largest value."""
    asked: dict[str, Callable[[float, int, int, float], object]] = {
        "exact promise": lambda a, g, y, e: sample_size(a, 0.05, g, y, e, "exact"),
        "verdict": lambda a, g, y, e: verdict_size(a, 0.05, g, y, e),
    }
    first = {
        "exact promise, first": "sample_size(0.2, 0.05, 2, 100, 1.0, 'exact')",
        "verdict, first": "verdict_size(0.2, bins=100)",
    }
    taken = {name: seconds(ask) for name, ask in asked.items()}
    taken |= {name: first_seconds(question) for name, question in first.items()}
    for name, found in taken.items():
        under = sum(one < 0.1 for one in found) / len(found)
        print(
            f"{name:24} least {found[0]:.3f} median {median(found):.3f} most {found[-1]:.3f} s, "
            f"{under:.0%} under 0.1 s"
        )


def run() -> list[Figure]:
    """Compare the seconds of each answer, with empty caches, with one simulation of 1,879
    people.
    """
    design = AuditDesign(0.2, 0.05, 2, 100, 1.0, "known", 0.25)

    def simulation() -> None:
        for seed in range(RUNS):
            has_verdict(design, simulate_release(design, 1879, 0.0, seed), "fair")

    questions: dict[str, Callable[[], object]] = {
        "exact promise, sizes known": lambda: sample_size(0.2, 0.05, 2, 100, 1.0, "exact"),
        "exact promise, sizes noisy": lambda: sample_size(
            0.2, 0.05, 2, 100, 1.0, "exact", sizes="noisy"
        ),
        "verdict, sizes known": lambda: verdict_size(0.2, bins=100),
        "verdict, sizes noisy": lambda: verdict_size(0.2, bins=100, sizes="noisy"),
        "power of 300 people": lambda: power_at(300, 0.0, bins=100),
        "least alpha of 300 people": lambda: resolvable_alpha(300, bins=100),
    }
    return [
        compare(
            f"plan: {name}",
            _afresh(ask),
            simulation,
            goal=GOALS.get(name, "< 2"),
            command=COMMAND,
            rounds=3,
        )
        for name, ask in questions.items()
    ]


def _afresh(ask: Callable[[], object]) -> Callable[[], object]:
    def asked() -> object:
        fast_power.estimate_power.cache_clear()
        plan._exact.cache_clear()
        return ask()

    return asked


def agreement(design: AuditDesign, people: int, verdict: Outcome, runs: int) -> tuple[float, ...]:
    """Return shares of releases that end in the verdict by forecast, by `gap_bounds`, and equally
    by both.
    """
    gap = 0.0 if verdict == "fair" else plan.unfair_gap(design)
    quick = fast_power.simulate_decisions(design, people, gap, verdict)[:runs]
    drawn = draw(design, people, gap, 0.001)
    exact = [
        has_verdict(design, groups_of(design, drawn, people, number), verdict)
        for number in range(runs)
    ]
    alike = sum(a == b for a, b in zip(quick, exact, strict=True))
    return sum(quick) / runs, sum(exact) / runs, alike / runs


def main() -> None:
    usual()
    for figure in run():
        print(f"{figure.name:32} {figure.ours:6.3f} s = {figure.ratio:.2f} of one simulation")
    worst = 1.0
    for sizes, people, bins, rate in DESIGNS:
        design = AuditDesign(0.2, 0.05, 2, bins, rate, sizes, rate / 4)
        for verdict in ("fair", "unfair"):
            quick, exact, alike = agreement(design, people, verdict, 100)
            worst = min(worst, alike)
            print(f"{sizes:>10} {people:5} {bins:4} {rate:4} {verdict:>7} {quick:.3f} {exact:.3f}")
    print(f"worst agreement: {worst:.3f}")


if __name__ == "__main__":
    main()
