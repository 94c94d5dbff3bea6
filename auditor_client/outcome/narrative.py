"""Outcome test in sentences that a journalist can read and a statistician can check."""

import math

from auditor_client.outcome.bin_sums import FrameMoments
from auditor_client.outcome.effects import Effect
from auditor_client.outcome.outcome_test import Tested
from auditor_client.stats.outcome_moments import OutcomeMoments

# Measured on simulated logs in which the rows of a job share a random effect.
_RISK = (
    "If rows of one job share influences on their outcomes, limits are too narrow. In "
    "simulated logs without any bias, the verdict was “unfair” in up to 21 % of cases, "
    "not in the requested 5 %."
)


def sentences(tested: Tested, tolerance: float) -> list[str]:
    """Return sentences with the verdict, its sources and its caveats."""
    return [
        headline(tested, tolerance),
        *_findings(tested, tolerance),
        *_jointly(tested),
        *_left_open(tested),
        *caveats(tested),
    ]


def headline(tested: Tested, tolerance: float) -> str:
    where = "" if tested.threshold is None else " just above the threshold"
    beyond = f" by more than {tolerance:g}" if tolerance else ""
    return {
        "fair": f"Fair within {tolerance:g}: people with equal scores{where} have equal outcomes, "
        "whatever their group.",
        "unfair": f"Unfair: people with equal scores{where} have outcomes that differ{beyond}.",
        "inconclusive"
        "": f"Inconclusive: this test cannot tell whether people with equal scores{where} "
        f"have outcomes that differ{beyond}.",
    }[tested.verdict(tolerance)]


def _findings(tested: Tested, tolerance: float) -> list[str]:
    """Return each pair's and direction's clearest under-prediction, and the number of others."""
    found: dict[tuple[str, str], list[Effect]] = {}
    for each in tested.family():
        if each.defined and max(each.low_all, -each.high_all) > tolerance:
            pair = (each.group, each.relative_to)
            found.setdefault(pair if each.estimate > 0 else pair[::-1], []).append(each)
    return [_finding(tested, *pair, effects) for pair, effects in found.items()]


def _finding(tested: Tested, better: str, worse: str, effects: list[Effect]) -> str:
    clearest = max(effects, key=lambda each: max(each.low_all, -each.high_all))
    limits = sorted((abs(clearest.low_all), abs(clearest.high_all)))
    low, high = tested.bins[clearest.bin]
    more = f", and likewise in {len(effects) - 1} more bins" if len(effects) > 1 else ""
    # Round outwards: the printed limits must hold too.
    return (
        f"Scores under-predict {better} relative to {worse}: with equal scores from "
        f"{low:.3g} to {high:.3g}, {better} achieve {abs(clearest.estimate):.3f} more "
        f"(between {math.floor(limits[0] * 1000) / 1000:.3f} and "
        f"{math.ceil(limits[1] * 1000) / 1000:.3f}, with {100 * (1 - tested.delta):g} % "
        f"confidence for all bins and pairs at once){more}."
    )


def _jointly(tested: Tested) -> list[str]:
    if tested.wald is None:
        return []
    chance = tested.wald.p_value
    shown = "below .0001" if chance < 1e-4 else f"{chance:.4f}"
    freedom = tested.wald.freedom
    return [
        f"Over all tested bins together: χ² = {tested.wald.statistic:.1f} with"
        f" {freedom} degree{'' if freedom == 1 else 's'} of freedom, p-value {shown}."
    ]


def _left_open(tested: Tested) -> list[str]:
    lines: dict[tuple[str, str, str], list[str]] = {}
    for each in tested.family():
        if not each.defined:
            low, high = tested.bins[each.bin]
            interval = f"{low:.3g} to {high:.3g}"
            lines.setdefault((each.group, each.relative_to, each.why), []).append(interval)
    return [
        f"Undefined for {group} and {other} with scores from {', '.join(intervals)}: {why}."
        for (group, other, why), intervals in lines.items()
    ]


def caveats(tested: Tested) -> list[str]:
    """Return sentences about the assumptions of the numbers."""
    moments = tested.moments
    found = [
        "Bias is relative to the outcome that the score is meant to predict. People's "
        "own choices and other people's prejudice are part of the outcome, not of this "
        "verdict."
    ]
    if moments.noise.variance:
        most = moments.rows_per_person
        found.append(
            f"At most {most} row{'s' * (most > 1)} of each person count{'s' * (most == 1)}, drawn"
            " at random, so averages are over people rather than over opportunities."
        )
    elif moments.rows_per_person == 1:
        found.append("All rows count as independent. Name the column of persons if they are not.")
    found += _of_queries(moments)
    if tested.control == "none":
        found.append("The test does not control for differences of scores within a bin.")
    return found


def _of_queries(moments: OutcomeMoments) -> list[str]:
    """Return a warning about rows that share a job or query, which affects all of their
    outcomes.
    """
    shared = moments.shared if isinstance(moments, FrameMoments) else None
    if shared is None:
        return [f"Rows of one job or query count as independent of each other. {_RISK}"]
    if not shared.rows:
        return []
    return [
        f"WARNING: {shared.rows} rows share {shared.queries} jobs or queries with rows of other"
        f" people, up to {shared.most} in one, and count as independent all the same. {_RISK}"
    ]
