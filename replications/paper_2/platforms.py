"""Envy on whole platforms: Figure 2, Table 1 and Figure 4 of paper 2, simulated and on MovieLens.

[DCAU22] Do, Corbett-Davies, Atif, Usunier, AAAI 2022, §5.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np

from api.kinds.envy_freeness.algorithms.batch import Bools
from api.kinds.envy_freeness.algorithms.terms import Bounds
from auditor_client.charts.chart import COLOURS, chart_of, finish, svg
from bench.envy import EPSILON, paper_size
from platform_sim.draws.randomness import stream
from platform_sim.exploration.matrix_completion import Floats
from platform_sim.exploration.policies import (
    best_item_policies,
    equal_utility_policies,
    softmax,
    utilities,
)
from platform_sim.exploration.preferences import complete_preferences, learn, make_preferences
from replications.paper_2 import exact_envy
from replications.paper_2.movielens import liked

Row = dict[str, Any]
FIGURE_2 = Path(__file__).parents[2] / "docs" / "replications" / "paper-2-figure-2.svg"
FACTORS = (1, 2, 3, 5, 8, 12, 16, 24, 32, 48)
SHARPNESS = (5, 10)
NEWCOMERS = 0.2
# Values of alpha and trials of Figure 4, by the bounds.
FIGURE_4: dict[Bounds, tuple[tuple[float, ...], int]] = {
    "tight": ((0.1, 0.2, 0.4), 10),
    "printed": ((0.1, 0.4), 3),
}
_MEASURES = ("average envy", "share envious")


def simulated() -> Floats:
    return make_preferences(1, 300, 400, 32)


def figure_2_rows(preferences: Floats, factors: Sequence[int]) -> list[Row]:
    rows = []
    for number in factors:
        scores = learn(1, preferences, number)
        for sharpness in SHARPNESS:
            found = utilities(preferences, softmax(scores, sharpness))
            shares = exact_envy.average_envy(found), exact_envy.share_envious(found, EPSILON)
            rows.append(
                {
                    "factors": number,
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


def table_1(preferences: Floats, penalties: Sequence[float]) -> Iterator[str]:
    yield "| policies | total utility | average envy | share .05-envious |"
    yield "|---|---|---|---|"
    equal = {
        f"equal user utility, penalty {penalty:g}": equal_utility_policies(preferences, penalty)
        for penalty in penalties
    }
    equal["equal user utility, exact"] = equal_utility_policies(preferences, 1e9)
    for name, policies in {**equal, "best for everybody": best_item_policies(preferences)}.items():
        found = utilities(preferences, policies)
        envy, share = exact_envy.average_envy(found), exact_envy.share_envious(found, EPSILON)
        yield f"| {name} | {np.diagonal(found).sum():.0f} | {envy:.2f} | {share:.2f} |"


def softmax_platforms(preferences: Floats) -> dict[str, Floats]:
    scores = learn(1, preferences, 48)
    return {
        f"1/T = {sharpness}": utilities(preferences, softmax(scores, sharpness))
        for sharpness in SHARPNESS
    }


def with_newcomers(preferences: Floats) -> Floats:
    """Return utilities if a fifth of people, about whom nothing is known yet, are shown random
    items.
    """
    policies = softmax(learn(1, preferences, 48), 10)
    new = stream(1, "newcomers").random(len(preferences)) < NEWCOMERS
    policies[new] = 1 / preferences.shape[1]
    return utilities(preferences, policies)


@dataclass(frozen=True)
class Audited:
    """All targets of some audits; a target is in envy if an arm is better by more than ε."""

    envious: Bools
    better: Floats
    steps: Floats
    costs: Floats
    ended_in_envy: Bools


def audited(found: Floats, bounds: Bounds, alpha: float, trials: int) -> Audited:
    each = []
    for seed in range(trials):
        audit = paper_size(found, bounds, alpha, seed)
        people, ended = audit.targets, audit.outcomes
        means = found[people[:, None], np.column_stack([people, audit.arms])]
        own, others = means[:, :1], means[:, 1:]
        each.append(
            (
                (others > own + EPSILON).any(axis=1),
                (others > own).mean(axis=1),
                ended.steps,
                ended.true_cost(means),
                ended.are("envy"),
            )
        )
    return Audited(*(np.concatenate(column) for column in zip(*each, strict=True)))


def figure_4(
    platforms: Mapping[str, Floats], alphas: Sequence[float], bounds: Bounds, trials: int
) -> Iterator[str]:
    """Yield averages over targets in envy, and over the others, as in the paper, with standard
    errors.
    """
    yield f"{bounds.capitalize()} bounds; trials: {trials}\n"
    yield "| platform | α | targets | of 41 | better arms | steps | cost | ended in envy |"
    yield "|---|---|---|---|---|---|---|---|"
    for name, found in platforms.items():
        for alpha in alphas:
            every = audited(found, bounds, alpha, trials)
            for kind, which in (("in envy", every.envious), ("without", ~every.envious)):
                if which.any():
                    cost = every.costs[which]
                    yield (
                        f"| {name} | {alpha:g} | {kind} | {which.sum() / trials:.1f} |"
                        f" {every.better[which].mean():.0%} | {every.steps[which].mean():,.0f} |"
                        f" {cost.mean():,.0f} ± {cost.std() / len(cost) ** 0.5:,.0f} |"
                        f" {every.ended_in_envy[which].mean():.0%} |"
                    )


def figure_4_both(platforms: Mapping[str, Floats], quick: bool) -> Iterator[str]:
    for bounds, (alphas, trials) in FIGURE_4.items():
        yield from figure_4(
            platforms, *((alphas[-1:], bounds, 1) if quick else (alphas, bounds, trials))
        )
        yield ""


def figure_2_part(quick: bool, write: bool) -> Iterator[str]:
    rows = figure_2_rows(simulated(), FACTORS[::3] if quick else FACTORS)
    if write:
        FIGURE_2.write_text(svg(figure_2(rows)), encoding="utf-8")
    yield f"### Figure 2: envy from a model too small\n\n![Figure 2]({FIGURE_2.name})\n"
    yield from figure_2_table(rows)


def table_1_part(quick: bool, write: bool) -> Iterator[str]:  # noqa: ARG001  (draws nothing)
    yield "### Table 1: envy from equal user utility (300 people)\n"
    yield from table_1(simulated(), (20,))


def figure_4_part(quick: bool, write: bool) -> Iterator[str]:  # noqa: ARG001  (draws nothing)
    preferences = simulated()
    every = softmax_platforms(preferences) | {"newcomers": with_newcomers(preferences)}
    yield "### Figure 4: AUDIT with 41 targets and 75 arms\n"
    yield from figure_4_both(every, quick)


def movielens_part(quick: bool, write: bool) -> Iterator[str]:  # noqa: ARG001  (draws nothing)
    chosen = liked()
    if chosen is None:
        return
    preferences = complete_preferences(1, chosen)
    yield f"### MovieLens-100k: {len(chosen)} people, {chosen.shape[1]} films\n"
    yield "Figure 2:\n"
    yield from figure_2_table(figure_2_rows(preferences, FACTORS[::3] if quick else FACTORS))
    yield "\nTable 1:\n"
    yield from table_1(preferences, (20, 50, 100))
    yield "\nFigure 4:\n"
    yield from figure_4_both(softmax_platforms(preferences), quick)
