"""`python -m bench.replication_2 [--quick] [--write]`: the figures and the table of paper 2, §5.

Prints the tables of docs/replication-2.md; with `--write` it writes them and the charts into it. In
full, four problems, 100 trials, 41 targets of 75 arms: some ten minutes. `--quick`: 10 trials, two
values of alpha.

[DCAU22] Do, Corbett-Davies, Atif, Usunier, AAAI 2022, §5.
"""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import altair as alt
import numpy as np

from api.audits.envy import Outcomes, Terms, fleet_of, run, truth
from api.audits.envy.terms import Bounds, Verdict
from auditor_client.charts import COLOURS, chart_of, finish, svg
from bench.envy import DELTA, EPSILON, paper_size, simulated
from platform_sim.bandits import PROBLEMS, alike
from platform_sim.policies import best, equal_utility, softmax, utilities
from platform_sim.preferences import learn, make_preferences

Row = dict[str, Any]
DOCS = Path(__file__).parent.parent / "docs"
PAGE = DOCS / "replication-2.md"
FIGURES = {2: DOCS / "replication-2-figure-2.svg", 3: DOCS / "replication-2-figure-3.svg"}
ALPHAS = (0.05, 0.1, 0.2, 0.4)
FACTORS = (1, 2, 3, 5, 8, 12, 16, 24, 32, 48)
BOTH: tuple[Bounds, ...] = ("printed", "tight")
_START, _END = "<!-- numbers -->", "<!-- end of numbers -->"


def play(problem: int, terms: Terms, trials: int) -> Outcomes:
    """The same problem for so many targets at once."""
    rng, means = np.random.default_rng(problem), PROBLEMS[problem]
    return run(fleet_of(terms, len(means) - 1, trials), alike(means, rng), rng)


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
    """Duration above, cost below, against alpha; a panel per problem."""
    panels = _panel(rows, "duration", "log"), _panel(rows, "cost", "linear")
    words = (
        "Duration and cost of OCEF against alpha in four bandit problems, by the printed bounds and"
        " by the tight ones, which need a seventh of the steps or fewer."
    )
    return finish(alt.vconcat(*panels), words)


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


def shapes_table(trials: int) -> Iterator[str]:
    """Lemma 4 leaves ω and σ open."""
    yield "| | α | ω = .99, σ = .5 | ω = .01, σ = .5 | ω = .99, σ = 1 | tight |"
    yield "|---|---|---|---|---|---|"
    for problem, alpha in ((1, 0.4), (3, 0.4)):
        found = [
            play(problem, Terms(DELTA, EPSILON, alpha, omega, sigma, bounds), trials).steps.mean()
            for omega, sigma, bounds in (
                (0.99, 0.5, BOTH[0]),
                (0.01, 0.5, BOTH[0]),
                (0.99, 1.0, BOTH[0]),
                (0.99, 0.5, BOTH[1]),
            )
        ]
        cells = " | ".join(f"{steps:,.0f}" for steps in found)
        yield f"| problem {problem} | {alpha:g} | {cells} |"


def figure_2_rows() -> list[Row]:
    preferences = make_preferences(1, 300, 400, 32)
    rows = []
    for factors in FACTORS:
        scores = learn(1, preferences, factors)
        for sharpness in (5, 10):
            found = utilities(preferences, softmax(scores, sharpness))
            shares = truth.average_envy(found), truth.share_envious(found, EPSILON)
            rows.append(
                {
                    "factors": factors,
                    "inverse temperature": f"{sharpness}",
                    "average envy": shares[0],
                    "share envious": shares[1],
                }
            )
    return rows


def figure_2_table(rows: Sequence[Row]) -> Iterator[str]:
    yield "| factors | average envy, 1/T = 5 | share .05-envious | average envy, 1/T = 10 | share |"
    yield "|---|---|---|---|---|"
    for five, ten in zip(rows[::2], rows[1::2], strict=True):
        cells = [f"{row[name]:.3f}" for row in (five, ten) for name in _MEASURES]
        yield f"| {five['factors']} | {' | '.join(cells)} |"


_MEASURES = ("average envy", "share envious")


def figure_2(rows: Sequence[Row]) -> Any:
    panels = [
        chart_of(list(rows))
        .mark_line(point=True)
        .encode(
            x=alt.X("factors:Q", title="latent factors of the recommender"),
            y=alt.Y(f"{name}:Q", title=name),
            color=alt.Color("inverse temperature:N", scale=alt.Scale(range=COLOURS[:2])),
            strokeDash=alt.StrokeDash("inverse temperature:N", legend=None),
        )
        .properties(width=260, height=160)
        for name in _MEASURES
    ]
    words = "Envy against the number of latent factors: none with one, a hump, none with many."
    return finish(alt.hconcat(*panels), words)


def table_1() -> Iterator[str]:
    preferences = make_preferences(1, 300, 400, 32)
    yield "| policies | total utility | average envy | share .05-envious |"
    yield "|---|---|---|---|"
    for name, policies in (
        ("equal user utility, penalty 20", equal_utility(preferences, 20)),
        ("equal user utility, exact", equal_utility(preferences, 1e9)),
        ("best for everybody", best(preferences)),
    ):
        found = utilities(preferences, policies)
        envy, share = truth.average_envy(found), truth.share_envious(found, EPSILON)
        yield f"| {name} | {np.diagonal(found).sum():.0f} | {envy:.2f} | {share:.2f} |"


def figure_4(alphas: Sequence[float]) -> Iterator[str]:
    yield "| platform | α | finding | targets in envy | targets | mean steps | mean cost |"
    yield "|---|---|---|---|---|---|---|"
    for sharpness, name in ((5, "1/T = 5"), (10, "1/T = 10")):
        found = simulated(sharpness)
        for alpha in alphas:
            audited = paper_size(found, "tight", alpha, seed=1)
            ended, people = audited.outcomes, audited.targets
            arms = np.column_stack([people, audited.arms])
            cost = ended.true_cost(found[people[:, None], arms])
            envious = ended.are("envy")
            for kind, which in (("in envy", envious), ("without", ~envious)):
                if which.any():
                    yield (
                        f"| {name} | {alpha:g} | {audited.finding} | {envious.sum()} of"
                        f" {len(people)} | {kind} | {ended.steps[which].mean():,.0f} |"
                        f" {cost[which].mean():,.1f} |"
                    )


def main() -> None:
    quick = "--quick" in sys.argv[1:]
    trials, alphas = (10, (0.1, 0.4)) if quick else (100, ALPHAS)
    three, two = figure_3_rows(trials, alphas), figure_2_rows()
    parts = [
        f"### Figure 3: duration and cost against α ({trials} trials)\n",
        f"![Figure 3]({FIGURES[3].name})\n",
        *figure_3_table(three),
        "\nDuration by the constants that Lemma 4 leaves open:\n",
        *shapes_table(trials),
        f"\n### Figure 2: envy from a model too small\n\n![Figure 2]({FIGURES[2].name})\n",
        *figure_2_table(two),
        "\n### Table 1: envy from equal user utility (300 people)\n",
        *table_1(),
        "\n### Figure 4: AUDIT with 41 targets and 75 arms, tight bounds\n",
        *figure_4((0.1, 0.4) if quick else (0.1, 0.2, 0.4)),
    ]
    numbers = "\n".join(parts)
    print(numbers)
    if "--write" in sys.argv[1:]:
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(_START)
        page = f"{before}{_START}\n{numbers}\n{_END}{rest.partition(_END)[2]}"
        PAGE.write_text(page, encoding="utf-8")
        FIGURES[3].write_text(svg(figure_3(three)), encoding="utf-8")
        FIGURES[2].write_text(svg(figure_2(two)), encoding="utf-8")


if __name__ == "__main__":
    main()
