"""What a release of each kind says, in words, numbers and pictures, by the SDK's own analysis.

A kind is one function here. Labels stand for names of groups; the reader's browser puts those in.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from auditor_client.charts import count_charts
from auditor_client.charts.chart import Chart
from auditor_client.fairness.bin_intervals import measured_gaps, measured_shares
from auditor_client.fairness.charts import verdict_chart
from auditor_client.kinds.balance_histogram.result import BalanceHistogramResult
from auditor_client.kinds.bias_size.result import BiasSizeResult
from auditor_client.kinds.building_blocks.cumulative_charts import running_chart
from auditor_client.kinds.envy_freeness.result import EnvyFreenessResult
from auditor_client.kinds.log_cdf.result import LogCdfResult
from auditor_client.kinds.match_count.result import MatchCountResult
from auditor_client.kinds.most_skewed.result import MostSkewedResult
from auditor_client.kinds.outcome_test.result import OutcomeTestResult
from auditor_client.kinds.registry import AnyResult
from auditor_client.kinds.reo.result import ReoResult
from auditor_client.kinds.score_cdf.result import ScoreCdfResult
from auditor_client.kinds.score_histogram import narrative
from auditor_client.kinds.score_histogram.analysis import analyse
from auditor_client.kinds.score_histogram.charts import gap_chart, share_chart
from auditor_client.kinds.score_histogram.result import ScoreHistogramResult
from auditor_client.kinds.two_party.result import TwoPartyResult
from auditor_client.outcome.charts import effect_chart, marginal_chart
from auditor_client.reo.charts import monitoring_chart
from auditor_client.reo.ratio_lines import Lines, four_fifths

_VERDICTS = {"envy-free": "fair", "not-envy-free": "unfair", "inconclusive": "inconclusive"}


@dataclass(frozen=True)
class Table:
    """`heads` are of columns, the first of which names its row."""

    caption: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Reading:
    """A result page: `verdict` is fair, unfair, inconclusive, or empty where nothing is judged."""

    headline: str
    words: tuple[str, ...]
    verdict: str = ""
    pictures: tuple[tuple[dict[str, Any], str], ...] = ()
    table: Table | None = None


@dataclass(frozen=True)
class Line:
    """What a kind is judged by, unless the reader says otherwise."""

    usual: float
    words: str


# Where the reader may say what is tolerated.
LINES = {
    "score-histogram": Line(0.2, "Tolerated gap α"),
    "outcome-test": Line(0.0, "Tolerated difference of outcomes"),
}


def read(result: AnyResult, alpha: float, delta: float) -> Reading:
    return _READERS[type(result)](result, alpha, delta)


def _histogram(audit: ScoreHistogramResult, alpha: float, delta: float) -> Reading:
    gap, shares = audit.fairness_gap(delta), measured_shares(audit.groups())
    labels, cells = list(audit.counts), {(each.group, each.bin): each.share for each in shares}
    rows = [
        (name, *(f"{100 * cells[label, number]:.1f} %" for label in labels), f"{gap_of_bin:.3f}")
        for number, (name, gap_of_bin) in enumerate(
            zip(audit.bin_names(), measured_gaps(shares), strict=True)
        )
    ]
    return Reading(
        narrative.headline(gap, alpha),
        (narrative.explanation(gap, alpha), narrative.driver(audit, gap), narrative.definition()),
        gap.verdict(alpha),
        (
            _drawn(
                verdict_chart(gap, alpha),
                "The interval of the fairness gap, and the gap that is tolerated.",
            ),
            _drawn(
                share_chart(audit, shares),
                "Shares per bin of scores, with limits that hold for each share alone with 95 %.",
            ),
            _drawn(
                gap_chart(audit, shares, alpha),
                "The measured gap of each bin, noise included; the verdict allows for it.",
            ),
        ),
        Table(
            "Shares of each group per bin of scores, as measured; noise may take one below zero.",
            ("Scores", *labels, "Gap"),
            tuple(rows),
        ),
    )


def _cdf(audit: ScoreCdfResult, _: float, delta: float) -> Reading:
    measured = analyse(audit, delta=delta).metrics
    return Reading(
        "How the scores of groups are distributed",
        (*(each.words for each in measured), _off_by(audit.error_95)),
        pictures=(_drawn(running_chart(audit, "score", "people"), "People up to each score."),),
        table=_running(audit, "Scores up to"),
    )


def _log_cdf(audit: LogCdfResult, *_: float) -> Reading:
    made = audit.release
    edges = ", ".join(f"{edge:.3g}" for edge in audit.quantile_edges(10))
    chart = running_chart(audit, made.column, "rows")
    return Reading(
        f"How {made.column} is distributed in the log {made.log}",
        (
            f"Edges of ten bins that are about equally full: {edges}. Which edges one takes costs"
            " power at most, never validity.",
            _off_by(audit.error_95),
        ),
        pictures=(_drawn(chart, f"Rows up to each {made.column}."),),
        table=_running(audit, f"{made.column} up to"),
    )


def _running(audit: ScoreCdfResult | LogCdfResult, head: str) -> Table:
    names = [*(f"{edge:g}" for edge in audit.edges), audit.all_there_is]
    counts = zip(*audit.cumulative.values(), strict=True)
    rows = [
        (name, *(f"{count:.1f}" for count in each))
        for name, each in zip(names, counts, strict=True)
    ]
    return Table("Running counts, noise included.", (head, *audit.cumulative), tuple(rows))


def _match_count(audit: MatchCountResult, *_: float) -> Reading:
    error = audit.error_95
    found = {name: (count, count - error, count + error) for name, count in audit.counts.items()}
    words = f"People found of {', '.join(found)}, with limits of 95 % for each alone."
    chart = count_charts.limits_chart(found, "people", words)
    return Reading(
        f"The platform found {_listed(f'{n} of {name}' for name, n in audit.counts.items())}",
        (
            f"{_off_by(error)} Noise may take a number below 0, or above what was uploaded.",
            "Whether any one identifier was found stays private.",
        ),
        pictures=(_drawn(chart, "People found, with limits that hold for each alone with 95 %."),),
    )


def _most_skewed(audit: MostSkewedResult, *_: float) -> Reading:
    return Reading(
        f"“{audit.chosen.title}” is scored most differently",
        (
            f"Of {len(audit.contents)} contents, this one has about the largest skew between the"
            f" two groups: it is at most {audit.error_95} people below the largest, with a"
            " probability of 95 %. How large the skew is does not come out; a score histogram of"
            " this content tells.",
        ),
    )


def _balances(audit: BalanceHistogramResult, *_: float) -> Reading:
    names = [f"{low:g} to {high:g}" for low, high in pairwise(audit.edges)]
    cells = [
        {"group": name, "bin": where, "count": count}
        for name, counts in audit.counts.items()
        for where, count in zip(names, counts, strict=True)
    ]
    words = "People by share of the lifetime cap that they have borne, with limits of 95 %."
    chart = count_charts.binned_chart(cells, audit.error_95, "share of the lifetime cap", words)
    counts = zip(*audit.counts.values(), strict=True)
    rows = [(name, *map(str, each)) for name, each in zip(names, counts, strict=True)]
    return Reading(
        "How much of the lifetime cap people have borne",
        (audit.words, _off_by(audit.error_95)),
        pictures=(_drawn(chart, words),),
        table=Table(
            "People by share of the cap, noise included.", ("Share", *audit.counts), tuple(rows)
        ),
    )


def _outcomes(audit: OutcomeTestResult, alpha: float, delta: float) -> Reading:
    tested = audit.test(delta=delta)
    headline, *words = tested.words(alpha)
    rows = [
        (
            f"{row['low_score']:.3g} to {row['high_score']:.3g}",
            row["group"],
            row["relative_to"],
            *(_number(row[name]) for name in ("estimate", "low", "high")),
        )
        for row in tested.frame().to_pylist()
    ]
    return Reading(
        headline,
        (*words, f"Each number of rows alone is off by at most {audit.error_95:.3g} with 95 %."),
        tested.verdict(alpha),
        (
            _drawn(marginal_chart(tested), "The average outcome of each group per bin of scores."),
            _drawn(
                effect_chart(tested), "Differences at equal scores; limits hold for each alone."
            ),
        ),
        Table(
            "Differences of outcomes at equal scores, as measured.",
            ("Scores", "Group", "Relative to", "Difference", "Low", "High"),
            tuple(rows),
        ),
    )


def _reo(audit: ReoResult, _: float, delta: float) -> Reading:
    made, share = audit.release, delta / len(audit.release.strategies)
    found = {name: audit.penalty(name, delta=share) for name in made.strategies}
    lines = four_fifths(len(made.creator_groups))
    first = found[made.strategies[0]]
    verdict = _judged(first.low, first.high, lines)
    said = {
        "fair": "Fair by the four-fifths rule: relevant content is shown alike, whoever made it",
        "unfair": "Unfair by the four-fifths rule: who made it decides what is shown",
        "inconclusive": "Inconclusive: the four-fifths rule may hold or be broken",
    }[verdict]
    limits = {name: (each.penalty, each.low, each.high) for name, each in found.items()}
    words = f"The penalty of {', '.join(found)}, with limits that hold for all at once."
    chart = (
        monitoring_chart(audit.monitor(delta=delta))
        if made.days
        else count_charts.limits_chart(_finite(limits), "penalty", words)
    )
    columns = audit.frame().to_pydict()
    return Reading(
        f"{said} ({made.strategies[0]})",
        (
            *(f"{name}: {each.explain()}" for name, each in found.items()),
            f"A penalty above {lines.broken:.1%} breaks the rule surely; one below"
            f" {lines.holds:.1%} keeps it.",
            _off_by(audit.error_95),
        ),
        verdict,
        (_drawn(chart, "The penalty of equal opportunity, with its limits."),),
        Table(
            "Rows by traffic and group of creators, noise included; without a strategy, random.",
            ("Viewers", "Strategy", "Day", "Creators", "Positive", "Negative"),
            tuple(
                tuple(_shown(cell) for cell in row) for row in zip(*columns.values(), strict=True)
            ),
        ),
    )


def _bias_size(audit: BiasSizeResult, _: float, delta: float) -> Reading:
    moved = audit.notifications(delta)
    limits = {name: (each.value, each.low, each.high) for name, each in moved.items()}
    words = f"Change of the opportunities of {', '.join(moved)}, in percent, with limits."
    rows = [
        (
            name,
            *(_number(each, 1) for each in (one.before, one.after, one.value, one.low, one.high)),
        )
        for name, one in moved.items()
    ]
    changes = (f"{name} {each.value:+.1f} %" for name, each in moved.items())
    gained = audit.outcome(delta)
    return Reading(
        f"Without the bias, opportunities within the audience would change: {_listed(changes)}",
        (
            f"What comes of all opportunities together would change by {gained.value:+.1f} %"
            f" (between {gained.low:+.1f} and {gained.high:+.1f} %).",
            f"Limits count the noise, and hold together with a probability of {1 - delta:.0%}. They"
            " are of the rows that were drawn.",
            audit.caution,
        ),
        pictures=(
            _drawn(
                count_charts.limits_chart(_finite(limits), "change in percent", words),
                "By how much each group's opportunities would change.",
            ),
        ),
        table=Table(
            "Opportunities, as they were and corrected, noise included.",
            ("Group", "Before", "After", "Change in %", "Low", "High"),
            tuple(rows),
        ),
    )


def _envy(audit: EnvyFreenessResult, *_: float) -> Reading:
    found, made = audit.certificate(), audit.release
    error = audit.error_95
    counts: Mapping[str, int] = {"in envy": made.envious, "certified without": made.no_envy}
    limits = {name: (count, count - error, count + error) for name, count in counts.items()}
    words = f"Of {made.targets} people: in envy {made.envious}, without {made.no_envy}; noisy."
    chart = count_charts.limits_chart(limits, "people", words, (0, made.targets))
    return Reading(
        found.verdict.replace("-", " ").capitalize(),
        (
            found.explain(),
            f"{made.targets} people were audited at most, each with {made.arms} others."
            f"{_taking_part(made.arms_per_person)} {_off_by(error)}",
            f"All together may have lost {audit.loss_at_most:f} of reward at most.",
        ),
        _VERDICTS[found.verdict],
        (_drawn(chart, "People by what was shown."),),
    )


def _taking_part(times: int | None) -> str:
    """Say what the noise covers; releases of earlier versions cover nobody as an arm."""
    if times is None:
        return " The noise does not cover people whose recommendations others were shown."
    return f" Nobody took part in more than {times} of these audits, and the noise covers all."


def _two_party(audit: TwoPartyResult, *_: float) -> Reading:
    return Reading(
        "The sums are with whoever ran it",
        (
            f"The platform computed {audit.release.metric.name} on values that it could not see,"
            " and signed the receipt below. What came out was decrypted by the SDK, on the machine"
            " that holds the keys: ask it there, with `auditor audit show`.",
        ),
    )


_READERS: dict[type, Callable[[Any, float, float], Reading]] = {
    ScoreHistogramResult: _histogram,
    ScoreCdfResult: _cdf,
    LogCdfResult: _log_cdf,
    MatchCountResult: _match_count,
    MostSkewedResult: _most_skewed,
    BalanceHistogramResult: _balances,
    OutcomeTestResult: _outcomes,
    ReoResult: _reo,
    BiasSizeResult: _bias_size,
    EnvyFreenessResult: _envy,
    TwoPartyResult: _two_party,
}


def _drawn(chart: Chart, caption: str) -> tuple[dict[str, Any], str]:
    return chart.to_dict(), caption


def _off_by(error: float) -> str:
    return f"Each number alone is off by at most {error:g} with a probability of 95 %."


def _judged(low: float, high: float, lines: Lines) -> str:
    if high <= lines.holds:
        return "fair"
    return "unfair" if low > lines.broken else "inconclusive"


def _finite(found: Mapping[str, count_charts.Limited]) -> dict[str, count_charts.Limited]:
    """What can be drawn: a number and its limits, all of them there."""
    return {
        name: each for name, each in found.items() if all(abs(part) < float("inf") for part in each)
    }


def _number(value: float | None, places: int = 3) -> str:
    return "–" if value is None or not abs(value) < float("inf") else f"{value:.{places}f}"


def _shown(cell: Any) -> str:
    return "–" if cell is None else str(cell)


def _listed(parts: Iterable[str]) -> str:
    found: Sequence[str] = list(parts)
    return " and ".join(filter(None, (", ".join(found[:-1]), found[-1])))
