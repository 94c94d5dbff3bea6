"""`python -m replications.paper_3.figures [--write]`: paper 3 on simulated InstaJob and PYMK.

The module prints the tables of docs/replications/paper-3.md; with `--write` it rewrites that page
and its figures. The true value of every effect is known: it is the same regression on E[Y], which
the simulated world knows, in place of Y.

[YS22] Yu, Saint-Jacques, Figures 4 to 7, §4.1, §4.2 and §5.1.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from auditor_client import outcome
from auditor_client.charts.chart import svg
from auditor_client.outcome.planning import UNITS, OutcomeTestPlan
from platform_sim import Bias, Opportunities, Prejudice, World
from platform_sim.jobs.opportunities import THRESHOLD

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "replications/paper-3.md"
PEOPLE, ROWS, SEED = 100_000, 1_000_000, 7
EPSILON, BIAS, TOLERANCE = 1.0, -0.06, 0.01
# InstaJob's scores were too low for men, those of PYMK for women.
WRONGED = {"instajob": "man", "pymk": "woman"}
FIGURES = {"instajob": (4, 5), "pymk": (6, 7)}
# Tolerance for the attribution of bias: the model is learned, so it is never quite exact.
_WHOSE = 0.03
_START, _END = "<!-- numbers -->", "<!-- end of numbers -->"
_PLURALS = {"woman": "women", "man": "men", "nonbinary": "others"}
_NAMES: dict[str, Any] = {"score": "score", "group": "gender"}


def everybody(opportunities: Opportunities, name: str) -> pa.Table:
    """Return the log with groups by their plural."""
    table = opportunities.table(name)
    codes = pc.index_in(table["gender"], pa.array(_PLURALS.keys()))
    named = pa.array(_PLURALS.values()).take(codes.combine_chunks())
    return table.set_column(table.column_names.index("gender"), "gender", named)


@dataclass(frozen=True, eq=False)
class Audited:
    """One log and three tests of it: on all rows, on a private release, and on the truth."""

    name: str
    opportunities: Opportunities

    @cached_property
    def rows(self) -> pa.Table:
        """Given opportunities, with E[Y] as `truth`."""
        table = everybody(self.opportunities, self.name)
        table = table.append_column("truth", pa.array(self.opportunities.log(self.name).truth))
        return table.filter(table["outcome"].is_valid())

    @cached_property
    def edges(self) -> list[float]:
        """Deciles, to two digits: an auditor chooses edges before seeing data."""
        inner = np.quantile(self.rows["score"].to_numpy(), np.linspace(0, 1, 11)[1:-1])
        low = THRESHOLD if self.name == "instajob" else 0.0
        return [low, *np.unique(inner.round(2)).tolist(), 1.0]

    def own(self, column: str) -> outcome.Tested:
        """Test all rows, clustered by person."""
        names = {**_NAMES, "outcome": column, "bins": self.edges, "person": "person"}
        return outcome.test(outcome.from_frame(self.rows, **names), **self._options)

    @cached_property
    def private(self) -> outcome.Tested:
        """Test one random row of each person, with the noise of a release."""
        generator = np.random.default_rng(SEED)
        mixed = self.rows.take(pa.array(generator.permutation(len(self.rows))))
        _, first = np.unique(mixed["person"].to_numpy(), return_index=True)
        names = {**_NAMES, "outcome": "outcome", "bins": self.edges}
        exact = outcome.from_frame(mixed.take(pa.array(first)), **names)
        law = OutcomeTestPlan(0.1, epsilon=EPSILON).distribution
        drawn = law.simulated(generator, exact.sums.size).reshape(exact.sums.shape)
        noisy = exact.sums + drawn / np.array(UNITS)
        moments = outcome.OutcomeMoments(
            exact.groups, exact.edges, exact.outcome_range, noisy, 1, law, UNITS
        )
        return outcome.test(moments, **self._options)

    @property
    def _options(self) -> dict[str, Any]:
        threshold = THRESHOLD if self.name == "instajob" else None
        return {"reference": "women", "threshold": threshold}


def figures(audited: Audited) -> Iterator[str]:
    """Yield β̂ of men relative to women in each bin, and whether the limits contain the true
    value.
    """
    private, own, true = audited.private, audited.own("outcome"), audited.own("truth")
    found = [
        [each for each in tested.coefficients() if each.group == "men"]
        for tested in (private, own, true)
    ]
    averages = {(each.group, each.bin): each for each in private.marginals}
    yield (
        "| scores | women achieve | men achieve | men more, ε = 1 | 95 % limits | all rows |"
        " 95 % limits | truth |"
    )
    yield "|---|---|---|---|---|---|---|---|"
    for number, (low, high) in enumerate(private.bins):
        ours, full, exact = (tested[number] for tested in found)
        means = " | ".join(f"{averages[g, number].mean:.3f}" for g in ("women", "men"))
        yield (
            f"| {low:.2f} to {high:.2f} | {means} | {ours.estimate:.3f} | {ours.low:.3f} to"
            f" {ours.high:.3f} | {full.estimate:.3f} | {full.low:.3f} to {full.high:.3f} |"
            f" {exact.estimate:.3f} |"
        )
    yield ""
    for words, tested in (("the release", found[0]), ("all rows", found[1])):
        pairs = zip(tested, found[2], strict=True)
        held = sum(each.low <= exact.estimate <= each.high for each, exact in pairs)
        yield f"Limits of {words} contain the true value in {held} of {len(tested)} bins."
    for words, test in (("The release", private), ("All rows", own)):
        yield f"\n{words}, with a tolerance of {TOLERANCE:g}:\n"
        yield from (f"> {line}" for line in test.words(TOLERANCE)[:2])


def sizes() -> Iterator[str]:
    """Yield N%Δ, Y%Δ and the change of average ranks, compared with the effect of unbiased
    scores.
    """
    jobs, lists = (everybody(_audited(name).opportunities, name) for name in WRONGED)
    names = {**_NAMES, "outcome": "outcome", "query": "query"}
    sent = outcome.notifications(jobs, **names, threshold=THRESHOLD, bins=5, replicates=0)
    true = _without_bias("instajob")
    yield "| InstaJob | notified before | corrected | N%Δ | N%Δ with the scores before the bias |"
    yield "|---|---|---|---|---|"
    for group, change in sent.groups.items():
        yield (
            f"| {group} | {change.before:,.0f} | {change.after:,.0f} | {change.percent:+.1f} % |"
            f" {true[group]:+.1f} % |"
        )
    yield f"\nOutcomes of all notifications together: Y%Δ = {sent.outcome.percent:+.2f} %.\n"
    moved = outcome.ranks(lists, **names, bins=5, replicates=0)
    yield "| PYMK | average rank before | corrected | change |"
    yield "|---|---|---|---|"
    for group, change in moved.items():
        yield (f"| {group} | {change.before:.2f} | {change.after:.2f} | {change.difference:+.2f} |")


def _without_bias(name: str) -> dict[str, float]:
    """Return N%Δ if each job sent the same number of notifications by the scores without the
    bias.
    """
    biased = everybody(_audited(name).opportunities, name)
    fair = Opportunities(_WORLD, rows=ROWS).table(name)
    data = biased.to_pandas().assign(fair=fair["score"].to_numpy())
    sent = data.score >= THRESHOLD
    place = data.groupby("query").fair.rank(ascending=False, method="first")
    chosen = place <= sent.groupby(data["query"]).transform("sum")
    before, after = data[sent].gender.value_counts(), data[chosen].gender.value_counts()
    return {group: float(100 * (after[group] / before[group] - 1)) for group in before.index}


def attribution() -> Iterator[str]:
    """Yield the verdict of the outcome test on the algorithm for one bias at a time (§5.1)."""
    worlds: dict[str, dict[str, Any]] = {
        "nobody’s": {},
        "the model’s: scores of women .06 lower": {"bias": Bias("gender", {"woman": BIAS})},
        "job seekers’: women hold back (−.6 log-odds)": {
            "prejudice": Prejudice(first={"woman": -0.6})
        },
        "recruiters’: against women (−.9 log-odds)": {
            "prejudice": Prejudice(second={"woman": -0.9})
        },
        "job seekers’, and the model is not told gender": {
            "prejudice": Prejudice(first={"woman": -0.6}),
            "told": False,
        },
    }
    yield (
        "| whose bias | women’s mean outcome less men’s | true effect, women at equal scores |"
        f" largest, estimated | verdict within {_WHOSE:g} |"
    )
    yield "|---|---|---|---|---|"
    for words, settings in worlds.items():
        audited = Audited("instajob", Opportunities(_WORLD, rows=ROWS, **settings))
        names = {**_NAMES, "bins": 3, "person": "person"}
        both = audited.rows.filter(
            pa.array(audited.rows["gender"].to_numpy(zero_copy_only=False) != "others")
        )
        found, true = (
            outcome.test(outcome.from_frame(both, outcome=column, **names), reference="men")
            for column in ("outcome", "truth")
        )
        means = both.group_by("gender").aggregate([("truth", "mean")]).to_pydict()
        by = dict(zip(means["gender"], means["truth_mean"], strict=True))
        effect = np.mean([each.estimate for each in true.effects])
        largest = max(found.effects, key=lambda each: abs(each.estimate)).estimate
        yield (
            f"| {words} | {by['women'] - by['men']:+.3f} | {effect:+.3f} | {largest:+.3f} |"
            f" {found.verdict(_WHOSE)} |"
        )


_WORLD = World(SEED, PEOPLE)
_MADE: dict[str, Audited] = {}


def _audited(name: str) -> Audited:
    if name not in _MADE:
        bias = Bias("gender", {WRONGED[name]: BIAS})
        _MADE[name] = Audited(name, Opportunities(_WORLD, rows=ROWS, bias=bias))
    return _MADE[name]


def figure(number: int) -> Path:
    return DOCS / f"replications/paper-3-figure-{number}.svg"


def numbers() -> str:
    """Return all tables, in the form of the page."""
    parts: list[str] = []
    for name, (first, second) in FIGURES.items():
        title = {"instajob": "InstaJob", "pymk": "PYMK"}[name]
        pictures = [f"![Figure {which}]({figure(which).name})\n" for which in (first, second)]
        parts += [f"### {title}: Figures {first} and {second}\n", *pictures]
        parts += [*figures(_audited(name)), ""]
    parts += ["### The size of the bias\n", *sizes(), "\n### Whose bias is it?\n", *attribution()]
    return "\n".join(parts)


def main() -> None:
    found = numbers()
    print(found)
    if "--write" in sys.argv[1:]:
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(_START)
        after = rest.partition(_END)[2]
        PAGE.write_text(f"{before}{_START}\n{found}\n{_END}{after}", encoding="utf-8")
        for name, (first, second) in FIGURES.items():
            tested = _audited(name).private
            figure(first).write_text(svg(outcome.marginal_chart(tested)), encoding="utf-8")
            figure(second).write_text(svg(outcome.effect_chart(tested)), encoding="utf-8")


if __name__ == "__main__":
    main()
