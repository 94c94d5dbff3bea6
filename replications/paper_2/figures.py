"""`python -m replications.paper_2.figures [part …] [--quick] [--write]`: paper 2, §5.

The module prints the parts of docs/replications/paper-2.md, or the named ones (see `PARTS`); with
`--write` it writes them and their charts into the page. Everything takes about ten minutes of one
core. `--quick`: few trials, two values of alpha.

[DCAU22] Do, Corbett-Davies, Atif, Usunier, AAAI 2022, §5.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import altair as alt
import numpy as np

from api.kinds.envy_freeness.algorithms import BatchOutcomes, Terms, make_fleet, run
from api.kinds.envy_freeness.algorithms.reference import OnePerson
from api.kinds.envy_freeness.algorithms.terms import Bounds, Verdict
from auditor_client.charts.chart import COLOURS, chart_of, finish, svg
from auditor_client.envy.charts import tube_chart
from bench.envy import DELTA, EPSILON
from platform_sim.exploration.bandits import PROBLEMS, equal_arms
from replications.paper_2 import platforms

Row = dict[str, Any]
DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "replications/paper-2.md"
FIGURE_3 = DOCS / "replications/paper-2-figure-3.svg"
TUBES = DOCS / "replications/paper-2-tubes.svg"
ALPHAS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5)
BOTH: tuple[Bounds, ...] = ("printed", "tight")


def play(problem: int, terms: Terms, trials: int) -> BatchOutcomes:
    """Run the same problem for `trials` targets at once."""
    rng, means = np.random.default_rng(problem), PROBLEMS[problem]
    return run(make_fleet(terms, len(means) - 1, trials), equal_arms(means, rng), rng, ahead=True)


def figure_3_rows(trials: int, alphas: Sequence[float]) -> list[Row]:
    rows = []
    for problem, means in PROBLEMS.items():
        right: Verdict = "envy" if means[1:].max() > means[0] else "no-envy"
        for alpha in alphas:
            for bounds in BOTH:
                found = play(problem, Terms(DELTA, EPSILON, alpha, bounds=bounds), trials)
                rows.append(
                    {
                        "problem": f"problem {problem}",
                        "alpha": alpha,
                        "bounds": bounds,
                        "duration": found.steps.mean(),
                        "cost": found.true_cost(means).mean(),
                        "wrong": 1 - found.are(right).mean(),
                    }
                )
    return rows


def figure_3_table(rows: Sequence[Row]) -> Iterator[str]:
    yield "| | α | steps, printed | steps, tight | share | cost, printed | cost, tight | wrong |"
    yield "|---|---|---|---|---|---|---|---|"
    for printed, tight in zip(rows[::2], rows[1::2], strict=True):
        steps = printed["duration"], tight["duration"]
        wrong = f"{printed['wrong']:.2f} / {tight['wrong']:.2f}"
        yield (
            f"| {printed['problem']} | {printed['alpha']:g} | {steps[0]:,.0f} | {steps[1]:,.0f} |"
            f" 1/{steps[0] / steps[1]:.1f} | {printed['cost']:,.0f} | {tight['cost']:,.0f} |"
            f" {wrong} |"
        )


def figure_3(rows: Sequence[Row]) -> Any:
    """Return a chart of duration (above) and cost (below) against alpha, with a panel per
    problem.
    """
    panels = _panel(rows, "duration", "log"), _panel(rows, "cost", "linear")
    least = min(_shares(rows))
    words = (
        "Duration and cost of OCEF against alpha in four bandit problems, by the printed bounds and"
        f" by the tight ones, which need {least:.0f} times fewer steps or better."
    )
    return finish(alt.vconcat(*panels), words)


def _shares(rows: Sequence[Row]) -> list[float]:
    """Return the steps of the printed bounds as multiples of those of the tight ones."""
    return [
        float(printed["duration"] / tight["duration"])
        for printed, tight in zip(rows[::2], rows[1::2], strict=True)
    ]


def _panel(rows: Sequence[Row], name: str, scale: Literal["log", "linear"]) -> Any:
    lines = (
        chart_of(list(rows))
        .mark_line(point=True)
        .encode(
            x=alt.X("alpha:Q", title="α"),
            y=alt.Y(f"{name}:Q", title=name, scale=alt.Scale(type=scale)),
            color=alt.Color("bounds:N", scale=alt.Scale(domain=list(BOTH), range=COLOURS[:2])),
            strokeDash=alt.StrokeDash("bounds:N", legend=None),
        )
    )
    return lines.properties(width=140, height=120).facet(column=alt.Column("problem:N", title=None))


# Values that Lemma 4 leaves open; the first is that of the known answers.
OMEGAS = (0.99, 0.1, 0.03, 0.01, 0.003, 0.001)


def shapes_table(trials: int, alphas: Sequence[float]) -> Iterator[str]:
    """Yield the steps of the printed bounds by ω, at σ = .5, next to the tight ones."""
    names = [f"ω = {omega:g}" for omega in OMEGAS]
    yield f"| | α | {' | '.join(names)} | tight | share of ω = .99 | of the best |"
    yield "|---|---|" + "---|" * (len(OMEGAS) + 3)
    for problem in PROBLEMS:
        for alpha in alphas:
            found = [
                play(problem, Terms(DELTA, EPSILON, alpha, omega), trials).steps.mean()
                for omega in OMEGAS
            ]
            terms = Terms(DELTA, EPSILON, alpha, bounds="tight")
            tight = play(problem, terms, trials).steps.mean()
            cells = " | ".join(f"{steps:,.0f}" for steps in (*found, tight))
            shares = f"1/{found[0] / tight:.1f} | 1/{min(found) / tight:.1f}"
            yield f"| problem {problem} | {alpha:g} | {cells} | {shares} |"


def figure_3_part(quick: bool, write: bool) -> Iterator[str]:
    trials, alphas = (10, (0.1, 0.4)) if quick else (100, ALPHAS)
    rows = figure_3_rows(trials, alphas)
    if write:
        FIGURE_3.write_text(svg(figure_3(rows)), encoding="utf-8")
    yield f"### Figure 3: duration and cost against α ({trials} trials)\n"
    yield f"![Figure 3]({FIGURE_3.name})\n"
    yield from figure_3_table(rows)


def tube_rows(problem: int, alpha: float, seed: int = 1) -> list[Row]:
    """Return means and limits of all arms in one run of Algorithm 1, at steps that grow by a
    tenth.
    """
    rng, means = np.random.default_rng(seed), PROBLEMS[problem]
    person = OnePerson(Terms(DELTA, EPSILON, alpha), len(means) - 1)
    rows, verdict, due = [], "running", 50.0
    while verdict == "running":
        verdict = person.step(lambda arm, chance: float(chance.random() < means[arm]), rng)
        if person.steps >= due or verdict != "running":
            due = 1.1 * person.steps
            rows += [
                {"arm": arm, "step": person.steps, "mean": total / max(pulls, 1)}
                | {"low": max(low, 0.0), "high": min(high, 1.0)}
                for arm, (pulls, total, low, high) in enumerate(
                    zip(person.pulls, person.sums, person.low, person.high, strict=True)
                )
            ]
    return rows


def tubes_part(quick: bool, write: bool) -> Iterator[str]:  # noqa: ARG001  (it is short)
    rows = [row for row in tube_rows(4, 0.4) if row["arm"] in (0, 1, 2, 9)]
    if write:
        TUBES.write_text(svg(tube_chart(rows)), encoding="utf-8")
    yield "### One run of Algorithm 1: problem 4, three of its arms\n"
    yield f"![Tubes]({TUBES.name})"


def shapes_part(quick: bool, write: bool) -> Iterator[str]:  # noqa: ARG001  (draws nothing)
    yield "### Duration by the constants that Lemma 4 leaves open\n"
    yield from shapes_table(10 if quick else 100, (0.1, 0.4))


PARTS: dict[str, Callable[[bool, bool], Iterator[str]]] = {
    "figure-3": figure_3_part,
    "shapes": shapes_part,
    "tubes": tubes_part,
    "figure-2": platforms.figure_2_part,
    "table-1": platforms.table_1_part,
    "figure-4": platforms.figure_4_part,
    "movielens": platforms.movielens_part,
}


def main() -> None:
    named = [word for word in sys.argv[1:] if not word.startswith("--")]
    quick, write = "--quick" in sys.argv[1:], "--write" in sys.argv[1:]
    for name in named or PARTS:
        lines = list(PARTS[name](quick, write))
        print("\n".join(lines), flush=True)
        if write and lines:
            _put(name, "\n".join(lines))


def _put(name: str, text: str) -> None:
    start, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(start)
    page = f"{before}{start}\n{text}\n{end}{rest.partition(end)[2]}"
    PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
