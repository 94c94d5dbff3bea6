"""Test whether several releases can come from one model: a test of honesty, not of fairness.

    repeat   the same content and audience again: true counts are the same, only noise differs
    same-people  the same content and people, uploaded again (also by another auditor): as above
    edited   the same audience, the content with edits that should not matter: as above
    halves   the same content, an audience split at random: true counts differ by sampling too

A false alarm has at most the requested probability, because the law of the noise is known
(docs/how-to/researchers/check-for-canaries.md).

[IKH23] Imana, Korolova, Heidemann, CSCW 2023, §7 leaves such checks open.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Literal

import numpy as np

from auditor_client.consistency.comparability import Relation, check_statements, list_notes
from auditor_client.consistency.repeat_test import Cell, SameCounts, same_counts
from auditor_client.errors import InputError
from auditor_client.fairness import gap_bounds
from auditor_client.fairness.bin_tests import GroupCounts
from auditor_client.fairness.metrics import means
from auditor_client.fairness.metrics.group_view import HistogramGroupView
from auditor_client.kinds.score_histogram.result import ScoreHistogramResult
from auditor_client.stats.noise import difference

Verdict = Literal["consistent", "irreconcilable", "too alike"]
# Share of the halves' level for the largest gap; the rest is for the mean score.
_GAP = 0.7


@dataclass(frozen=True)
class Consistency:
    """Verdict, its probability of a false alarm, and the model that the receipts state."""

    verdict: Verdict
    relation: Relation
    p_value: float
    false_alarm: float
    worst: str
    same_model_stated: bool | None
    notes: tuple[str, ...] = ()

    def explain(self) -> str:
        """Return the verdict in plain sentences."""
        alarm = f"An honest platform gets this verdict in at most {self.false_alarm:.2%} of cases."
        start = {
            "consistent"
            "": "Consistent: nothing shows that these releases come from different models. "
            "This does not prove that they come from one model; `canary_power` computes "
            "which differences the test would find.",
            "irreconcilable": "Irreconcilable: releases of one model do not differ this much"
            f" (p = {self.p_value:.2g}), most in {self.worst}. {alarm}",
            "too alike"
            "": "Too similar: the noise of independent releases does not agree this well (p "
            f"= {self.p_value:.2g}). {alarm}",
        }[self.verdict]
        stated = {
            True: "The platform signed that one model made all releases.",
            False: "The platform itself states different models.",
            None: "The platform states no model.",
        }[self.same_model_stated]
        return " ".join([start, stated, *self.notes])


def consistency(
    releases: Sequence[ScoreHistogramResult | str | Path],
    relation: Relation,
    false_alarm: float = 0.001,
) -> Consistency:
    """Test whether releases, or their receipt files, can come from one model."""
    audits = [_read(release) for release in releases]
    if not 0 < false_alarm < 1:
        raise InputError(f"false_alarm must lie between 0 and 1, not {false_alarm}.")
    check_statements(audits, relation)
    pairs = list(combinations(audits, 2))
    if relation == "halves":
        tests = [_halves(*pair, false_alarm / len(pairs)) for pair in pairs]
        factor = len(pairs)
    else:
        # Pairs share the error equally, as do the two ways to fail.
        tests = [same_counts(cells(*pair)) for pair in pairs]
        factor = 2 * len(pairs)
    differ, alike = min(tests, key=lambda test: test.differ), min(test.alike for test in tests)
    found = min(1.0, factor * min(differ.differ, alike))
    verdict: Verdict = "consistent"
    if found <= false_alarm:
        verdict = "irreconcilable" if differ.differ <= alike else "too alike"
    models = [audit.release.model_digest for audit in audits]
    same = None if None in models else len(set(models)) == 1
    notes = list_notes(audits, relation)
    return Consistency(verdict, relation, found, false_alarm, differ.worst, same, notes)


def _read(release: ScoreHistogramResult | str | Path) -> ScoreHistogramResult:
    return (
        release
        if isinstance(release, ScoreHistogramResult)
        else ScoreHistogramResult.from_receipt(release)
    )


def _halves(one: ScoreHistogramResult, other: ScoreHistogramResult, level: float) -> SameCounts:
    """Test halves of an audience. Groups share the level; the p-value is the level if it is
    reached, else 1.
    """
    groups, others = one.groups(), other.groups()
    middles = tuple((low + high) / 2 for low, high in one.limits())
    for name in groups:
        if halves_differ(groups[name], others[name], middles, level / len(groups)):
            return SameCounts(level, 1.0, name)
    return SameCounts(1.0, 1.0, "")


def cells(one: ScoreHistogramResult, other: ScoreHistogramResult) -> list[Cell]:
    """Return every number that two releases of one audience both state, including bought sizes."""
    bins = difference(one.noise("bins"), other.noise("bins"))
    found = [
        Cell(f"{name}, scores {words}", first, second, bins)
        for name, counts in one.counts.items()
        for words, first, second in zip(one.bin_names(), counts, other.counts[name], strict=True)
    ]
    if one.noisy_sizes and other.noisy_sizes:
        sizes = difference(one.noise("sizes"), other.noise("sizes"))
        for name, size in one.noisy_sizes.items():
            found.append(Cell(f"{name}, number of people", size, other.noisy_sizes[name], sizes))
    return found


def halves_differ(
    one: GroupCounts, other: GroupCounts, middles: tuple[float, ...], level: float
) -> bool:
    """Tell whether two samples of one group differ in a bin or in the mean; wrong with probability
    at most `level`.
    """
    if gap_bounds.certify_beyond([one, other], min(2 * _GAP * level, 1 - 1e-9), 0.0):
        return True
    first, second = HistogramGroupView("1", one, middles), HistogramGroupView("2", other, middles)
    low, high = means.limits(first, second, np.asarray(middles), (1 - _GAP) * level)
    return low > 0 or high < 0
