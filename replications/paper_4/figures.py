"""`python -m replications.paper_4.figures [--write]`: figures of paper 4, §4, on simulated logs.

The module prints the tables of docs/replications/paper-4.md; with `--write` it rewrites that page
and its figures. The logs have the shape and size of the paper's: 150,000 rows of default traffic on
each of 14 days, and 300,000 rows of random traffic.

[DJHL25] Dong, Jin, Hu, Liu, Measuring fairness in large-scale recommendation systems with missing
         labels, §4, Figures 3 to 5 and 7 to 9.
"""

import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from auditor_client import reo
from auditor_client.charts.chart import svg
from auditor_client.stats.noise_distributions import Laplace, Noise, NoNoise
from platform_sim import Feed, Impressions, World
from platform_sim.feed.signals import SIGNALS
from replications.paper_4 import charts, resampling

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "replications/paper-4.md"
DAYS, ROWS, VIEWERS = 14, 150_000, 200_000
# p_1, p_2 of the paper's synthetic cases; q_1 = 10 p_1 and q_2 = 5 p_2.
CASES = ((0.01, 0.05), (0.001, 0.005), (0.0001, 0.0005))
SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000)
CLUSTERED = 6_000
_CLUSTERED = ("viewers of each traffic", "seed", "viewers told", "rows taken for independent")
PARTS = (5_000, 10_000, 20_000, 50_000, 100_000)
BOOSTS = {
    "1.25x deboost": {"0": 1.25, "1": 1.0},
    "2x deboost": {"0": 2.0, "1": 1.0},
    "2x boost": {"0": 1.0, "1": 2.0},
}
_START, _END = "<!-- numbers -->", "<!-- end of numbers -->"
Row = dict[str, Any]
Positives = dict[str, int]


@dataclass(frozen=True)
class Logs:
    """Rows and positives by group, for each day of default traffic and for random traffic."""

    shown: dict[str, Positives]
    days: dict[str, Positives]
    random: Positives
    n_random: int

    def rows(self, day: str) -> int:
        return sum(self.shown[day].values())


def simulated_logs(days: int = DAYS, rows: int = ROWS, viewers: int = VIEWERS) -> Logs:
    """Return logs of a feed that favours young creators by a factor of 1.3."""
    made = Impressions(World(2025, viewers), Feed(strategies={"default": {}}), days, rows)
    own = reo.own_logs(
        made.traffic("default"), made.traffic("random"), list(SIGNALS), "young_adult", day="day"
    )
    names = {"no": "0", "yes": "1"}
    by_day = own.default.days()

    def named(counts: Positives) -> Positives:
        return {names[name]: count for name, count in counts.items()}

    return Logs(
        {day: named(log.shown) for day, log in by_day.items()},
        {day: named(log.positives) for day, log in by_day.items()},
        named(own.random.positives),
        own.random.rows,
    )


def figure_3(repetitions: int = 50) -> list[Row]:
    """Return the mean squared error of the penalty by traffic size; draws without positives are
    omitted.
    """
    rows = []
    for number, p in enumerate(CASES):
        q = (10 * p[0], 5 * p[1])
        for n in SIZES:
            rng = np.random.default_rng((number, n))
            x, w = (
                rng.multinomial(n, [*shares, 1 - sum(shares)], repetitions)[:, :2]
                for shares in (q, p)
            )
            kept = (w > 0).all(axis=1)
            u = x[kept] / w[kept]
            error = u.std(axis=1) / u.mean(axis=1) - 1 / 3
            counts = [{"a": n * a, "b": n * b} for a, b in (q, p)]
            predicted = reo.penalty(counts[0], counts[1], n, n).se if n * p[0] >= 16 else None
            rows.append({
                "case": f"({number + 1})", "n": n, "mse": float(np.mean(error**2)),
                "variance": predicted and predicted**2, "kept": int(kept.sum()),
            })  # fmt: skip
    return rows


def figures_4_and_5(logs: Logs, repetitions: int = 20) -> list[Row]:
    """Return relative error and variance of the penalty on parts of one day's rows."""
    day = next(iter(logs.days))
    whole = reo.penalty(logs.days[day], logs.random, logs.rows(day), logs.n_random).penalty
    rows = []
    for n in PARTS:
        rng = np.random.default_rng(n)
        x, w = (
            rng.multivariate_hypergeometric(
                [*counts.values(), total - sum(counts.values())], n, repetitions
            )[:, :2]
            for counts, total in (
                (logs.days[day], logs.rows(day)), (logs.random, logs.n_random)
            )
        )  # fmt: skip
        u = x / w
        found = u.std(axis=1) / u.mean(axis=1)
        rows.append({
            "n": n, "relative error": float(np.mean(np.abs(found - whole) / whole)),
            "variance": float(found.var(ddof=1)),
        })  # fmt: skip
    return rows


def slope(rows: list[Row], field: str) -> float:
    """Return the slope of log field on log n, by least squares."""
    x, y = (np.log([row[name] for row in rows]) for name in ("n", field))
    return float(np.polyfit(x, y, 1)[0])


def figures_7_and_8(logs: Logs, repetitions: int = 100) -> list[Row]:
    """Return each day's interval by four methods, and the bias that the bootstrap estimates."""
    rows = []
    for number, (day, counts) in enumerate(logs.days.items()):
        sizes = (logs.rows(day), logs.n_random)
        ours = reo.penalty(counts, logs.random, *sizes)
        printed = reo.penalty(counts, logs.random, *sizes, covariance="printed")
        plain, bca = (
            resampling.bootstrap(
                counts, logs.random, *sizes,
                repetitions=repetitions, method=method, seed=number,
            )
            for method in ("standard", "bca")
        )  # fmt: skip
        limits = {"ours": ours, "Algorithm 1": printed, "bootstrap": plain, "BCa": bca}
        rows.append({
            "day": day, "penalty": ours.penalty, "bias": plain.bias / ours.penalty,
            **{name: (one.low, one.high) for name, one in limits.items()},  # type: ignore[attr-defined]
        })  # fmt: skip
    return rows


def figure_9(logs: Logs) -> dict[str, dict[str, reo.PenaltyDifference]]:
    """Return the effect of boosting: a day's rows resampled with weights, compared with the day."""
    rng = np.random.default_rng(9)
    found: dict[str, dict[str, reo.PenaltyDifference]] = {}
    for name, weights in BOOSTS.items():
        found[name] = {}
        for day, counts in logs.days.items():
            rows = logs.rows(day)
            cells = [(g, y) for g in ("0", "1") for y in (0, 1)]
            sizes = np.array(
                [counts[g] if y else logs.shown[day][g] - counts[g] for g, y in cells], float
            )
            chances = sizes * [weights[g] for g, _ in cells]
            drawn = rng.multinomial(rows, chances / chances.sum())
            boosted = {g: int(drawn[cells.index((g, 1))]) for g in ("0", "1")}
            found[name][day] = reo.difference(
                boosted, counts, logs.random, rows, rows, logs.n_random
            )
    return found


def _poisson(means: list[float], noise: Noise, rng: np.random.Generator) -> dict[str, float]:
    drawn = rng.poisson(means) + noise.simulated(rng, len(means))
    return {str(k): float(value) for k, value in enumerate(drawn)}


def coverage(runs: int = 6_000) -> Iterator[Row]:
    """Yield the coverage of 95 % intervals: ours, and Algorithm 1's."""
    cases: list[tuple[str, list[float], list[float], Noise]] = [
        ("penalty 0", [1000, 1000], [1000, 1000], NoNoise()),
        ("penalty 1/9", [45_000, 45_000], [30_000, 37_500], NoNoise()),
        ("few positives, 1/3", [150, 375], [15, 75], NoNoise()),
        ("noise of scale 10, 1/9", [300, 300], [200, 250], Laplace(0.1)),
        ("three groups, penalty 0", [300] * 3, [300] * 3, NoNoise()),
        ("six groups, .12", [400, *[300] * 5], [300] * 6, NoNoise()),
    ]
    for number, (name, x, w, noise) in enumerate(cases):
        rng = np.random.default_rng(number)
        u = np.asarray(x) / np.asarray(w)
        truth = u.std() / u.mean()
        held = {"ours": 0, "Algorithm 1": 0}
        for _ in range(runs):
            above, below = _poisson(x, noise, rng), _poisson(w, noise, rng)
            ours = reo.penalty(above, below, noise_recommended=noise, noise_random=noise)
            held["ours"] += bool(ours.low - 1e-12 <= truth <= ours.high + 1e-12)
            held["Algorithm 1"] += _printed_holds(above, below, truth)
        yield {"case": name} | {key: count / runs for key, count in held.items()}


def _printed_holds(above: dict[str, float], below: dict[str, float], truth: float) -> bool:
    """Tell whether Algorithm 1's interval holds. It knows no noise, so counts are clipped at
    zero.
    """
    x, w = ({key: max(value, 0.0) for key, value in one.items()} for one in (above, below))
    if min(w.values()) <= 0 or sum(x.values()) <= 0:
        return False
    rows = 4 * max(sum(x.values()), sum(w.values()))
    one = reo.penalty(x, w, rows, rows, covariance="printed")
    return bool(one.low <= truth <= one.high)


def clustered(runs: int = CLUSTERED) -> Iterator[Row]:
    """Yield intervals with and without viewers, for ten rows per viewer of one mood and a true
    value of 0.
    """
    for viewers, seed in ((600, 11), (600, 12), (200, 13)):
        rng = np.random.default_rng(seed)
        held = {"viewers told": 0, "rows taken for independent": 0}
        for _ in range(runs):
            one, other = _moody(rng, viewers, 0), _moody(rng, viewers, viewers)
            told = reo.own_logs(one, other, ["like"], "group", viewer="viewer").penalty()
            untold = reo.own_logs(one, other, ["like"], "group").penalty()
            held["viewers told"] += told.low == 0
            held["rows taken for independent"] += untold.low == 0
        shares = {name: f"{count / runs:.1%}" for name, count in held.items()}
        yield {"viewers of each traffic": viewers, "seed": seed, **shares}


def _moody(rng: np.random.Generator, viewers: int, first: int) -> Any:
    """Return a log of viewers who like almost everything or almost nothing, with their own
    preferred groups.
    """
    import polars as pl

    viewer = np.repeat(np.arange(viewers), 10)
    mood = rng.beta(0.2, 0.4, viewers)[viewer]
    young = rng.random(len(viewer)) < rng.beta(1, 1, viewers)[viewer]
    like = rng.random(len(viewer)) < mood
    return pl.DataFrame({"like": like, "group": young, "viewer": viewer + first})


def planning() -> Iterator[Row]:
    """Yield the rows for an error of .02 in the first synthetic case, by the theorems and
    exactly.
    """
    q, p = {"a": 0.1, "b": 0.25}, {"a": 0.01, "b": 0.05}
    shares = [max(reo.share_rows(share, 0.02) for share in one.values()) for one in (q, p)]
    yield {"by": "Theorem E.1: each share, relatively", "default": shares[0], "random": shares[1]}
    # The mean of U = (10, 5) is 7.5: an error of .15 is .02 of it, like that of ΔU.
    each = reo.utility_rows(q, p, 0.02 * 7.5, method="theorem-e2")
    words = "Theorem E.2: each utility, relative to their mean"
    yield {"by": words, "default": each.recommended, "random": each.random}
    for name, method in (("Theorem E.3: all ΔU", "theorem-e3"), ("Theorem E.4", "theorem-e4")):
        rows = reo.rows_needed(q, p, 0.02, method=method)  # type: ignore[arg-type]
        yield {"by": name, "default": rows.recommended, "random": rows.random}
    exact = reo.rows_needed(q, p, 0.02)
    yield {"by": "exactly", "default": exact.recommended, "random": exact.random}
    noisy = reo.rows_needed(q, p, 0.02, noise=Laplace(0.1))
    words = "exactly, with noise of scale 10"
    yield {"by": words, "default": noisy.recommended, "random": noisy.random}
    traffic = reo.random_traffic(q, p, 0.02, n_recommended=2_100_000, requests=1e8, shown=8)
    words = f"2.1 M rows of default traffic: {traffic.activation:.4%} of 100 M requests activated"
    yield {"by": words, "default": 2_100_000, "random": traffic.rows}


def table(rows: list[Row], words: dict[str, Callable[[Any], str]]) -> Iterator[str]:
    yield f"| {' | '.join(words)} |"
    yield f"|{'---|' * len(words)}"
    for row in rows:
        yield f"| {' | '.join(show(row[name]) for name, show in words.items())} |"


def between(limits: tuple[float, float]) -> str:
    return f"{limits[0]:.4f} – {limits[1]:.4f}"


def numbers(logs: Logs, runs: int = 6_000) -> tuple[str, dict[str, Any]]:
    """Return all tables in the form of the page, and the data of the figures."""
    three, parts = figure_3(), figures_4_and_5(logs)
    days, boosts = figures_7_and_8(logs), figure_9(logs)
    drawn = {"3": three, "4": parts, "7": days, "9": boosts}
    steep = {case: slope([r for r in three if r["case"] == case], "mse") for case in ("(1)", "(2)")}
    changes = [
        {"strategy": name, "changed": np.mean([one.difference for one in by_day.values()]),
         "verdicts": ", ".join(sorted({one.verdict for one in by_day.values()})),
         "ours": np.mean([one.se for one in by_day.values()]),
         "Algorithm 2": np.mean([_printed_se(logs, name, day) for day in by_day])}
        for name, by_day in boosts.items()
    ]  # fmt: skip
    number, plain, exact = (lambda n: f"{n:,}"), str, (lambda x: f"{x:.2e}")
    text = [
        "### Figure 3: mean squared error by traffic size\n\n"
        f"![Figures 3 to 5](paper-4-sizes.svg)\n\nSlopes on logarithmic axes: case (1)"
        f" {steep['(1)']:.2f}, case (2) {steep['(2)']:.2f}; 1/n is -1.\n",
        *table(three, {"case": plain, "n": number, "mse": exact,
                       "variance": lambda v: f"{v:.2e}" if v else "", "kept": plain}),
        "\n### Figures 4 and 5: parts of a day\n\n"
        f"The variance falls with a slope of {slope(parts, 'variance'):.2f}: a little more than"
        " 1/n, as parts are drawn without replacement, and the last is two thirds of the day.\n",
        *table(parts, {"n": number, "relative error": lambda x: f"{x:.1%}", "variance": exact}),
        "\n### Figures 7 and 8: four intervals for each day, and the bias\n\n"
        "![Figures 7 and 8](paper-4-intervals.svg)\n",
        *table(days, {"day": plain, "penalty": lambda x: f"{x:.4f}", "ours": between,
                      "Algorithm 1": between, "bootstrap": between, "BCa": between,
                      "bias": lambda x: f"{x:+.1%}"}),
        "\n### Figure 9: boosting\n\n![Figure 9](paper-4-boosting.svg)\n",
        *table(changes, {"strategy": plain, "changed": lambda x: f"{x:+.3f}", "verdicts": plain,
                         "ours": lambda x: f"{x:.4f}", "Algorithm 2": lambda x: f"{x:.4f}"}),
        f"\n### Coverage of 95 % intervals, {runs:,} runs each\n",
        *table(list(coverage(runs)), {"case": plain, "ours": lambda x: f"{x:.1%}",
                                      "Algorithm 1": lambda x: f"{x:.1%}"}),
        f"\n### Ten rows per viewer, truth 0, {CLUSTERED:,} runs each\n",
        *table(list(clustered()), dict.fromkeys(_CLUSTERED, plain)),
        "\n### Rows for an error of .02 with probability .95, case (1)\n",
        *table(list(planning()), {"by": plain, "default": number, "random": number}),
    ]  # fmt: skip
    return "\n".join(text), drawn


def _printed_se(logs: Logs, strategy: str, day: str) -> float:
    """Return the standard error of Algorithm 2 on the same day, with the expected counts of a
    strategy.
    """
    weights, counts, shown = BOOSTS[strategy], logs.days[day], logs.shown[day]
    total = sum(weights[g] * shown[g] for g in shown)
    rows = logs.rows(day)
    boosted = {g: rows * weights[g] * counts[g] / total for g in counts}
    return reo.difference(
        boosted, counts, logs.random, rows, rows, logs.n_random, covariance="printed"
    ).se


def main() -> None:
    started = time.perf_counter()
    logs = simulated_logs()
    made = time.perf_counter() - started
    rows = sum(logs.rows(day) for day in logs.days) + logs.n_random
    print(f"{rows:,} rows made and counted in {made:.1f} s\n", file=sys.stderr)
    found, drawn = numbers(logs)
    print(found)
    if "--write" in sys.argv[1:]:
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(_START)
        after = rest.partition(_END)[2]
        PAGE.write_text(f"{before}{_START}\n{found}\n{_END}{after}", encoding="utf-8")
        for name, chart in charts.charts(drawn).items():
            (DOCS / "replications" / name).write_text(svg(chart), encoding="utf-8")


if __name__ == "__main__":
    main()
