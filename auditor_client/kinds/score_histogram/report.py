"""Additional sections of a score histogram's report: people, sources of the gap, checks."""

from auditor_client.kinds.building_blocks import verification_section as checks
from auditor_client.kinds.score_histogram import narrative
from auditor_client.kinds.score_histogram.result import ScoreHistogramResult
from auditor_client.reporting.html_page import section, table
from auditor_client.reporting.metric_sentences import round_down, round_up
from auditor_client.reporting.results_document import AuditFound, Gap

# The number of differences shown; `results.json` has more.
DRIVERS = 10


def sections(audit: ScoreHistogramResult, found: AuditFound) -> list[str]:
    """Return the sections between the measurements and the other metrics."""
    return [
        section("Scored people", _people(found), checks.counts(audit)),
        section("Where the gap comes from", *_sources(found)),
        *([section("Assumptions of the method", _assumptions(found))] if found.assumptions else []),
    ]


def _people(found: AuditFound) -> str:
    kinds = {"known": "exact", "noisy": "noisy number", "estimated": "estimated from the bins"}
    rows = [(one.group, str(one.people), kinds[one.known]) for one in found.people]
    return table("People scored", ("group", "people", "how it is known"), rows)


def _sources(found: AuditFound) -> list[str]:
    sure = narrative.percent(1 - found.delta)
    parts = []
    if len(found.pairs) > 1:
        parts.append(
            table(
                f"The gap of each pair of groups; all limits hold at once with {sure}",
                ("pair", "measured", "between", "and", "largest for scores"),
                map(_pair, found.pairs),
                figures=True,
            )
        )
    rows = [
        (
            f"{one.first} less {one.second}",
            one.scores,
            f"{one.value:.3f}",
            round_down(one.low),
            round_up(one.high),
        )
        for one in found.drivers[:DRIVERS]
    ]
    header = ("difference of shares", "scores", "measured", "between", "and")
    words = (
        "The scores with the largest measured differences between groups. The limits "
        f"hold for all scores and pairs at once with {sure}. If both limits have the same "
        "sign, the groups differ at these scores."
    )
    return [*parts, table(words, header, rows, figures=True)]


def _pair(pair: Gap) -> tuple[str, ...]:
    names = f"{pair.more} and {pair.less}"
    return names, f"{pair.value:.3f}", round_down(pair.low), round_up(pair.high), pair.scores


def _assumptions(found: AuditFound) -> str:
    held = {True: "holds", False: "does not hold", None: "no release can tell"}
    rows = [(one.name, held[one.holds], one.words) for one in found.assumptions]
    words = "The paper’s assumptions, checked after the audit as far as possible"
    return table(words, ("assumption", "", ""), rows) if rows else ""
