"""Can several releases come from one model? A test of the platform, not of its fairness.

    repeat   the same content and audience again: true counts are the same, only noise differs
    edited   the same audience, the content with edits that should not matter: as above
    halves   the same content, an audience cut at random: true counts differ by sampling too

The statements are checked first: receipts say which content, audience and model they are of. A
false alarm has at most the probability that is asked for; exactly known noise makes that provable
(docs/canary.md). [IKH23] leaves this open: "technical methods that look for accidental errors or
intentional non-compliance by platforms".

[IKH23] Imana, Korolova, Heidemann, CSCW 2023, §7.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Literal

from auditor_client import bounds
from auditor_client.contrasts import Group
from auditor_client.errors import InputError
from auditor_client.finished import FinishedAudit
from auditor_client.metrics import HistogramSide, means
from auditor_client.noise import difference
from auditor_client.same_counts import Cell, SameCounts, same_counts

Relation = Literal["repeat", "edited", "halves"]
Verdict = Literal["consistent", "irreconcilable", "too alike"]
# Of a level of the halves, what goes to the largest gap; the rest goes to the mean score.
_GAP = 0.7
_STEPS = 24


@dataclass(frozen=True)
class Consistency:
    """The verdict, its probability of a false alarm, and what the receipts state."""

    verdict: Verdict
    relation: Relation
    p_value: float
    false_alarm: float
    worst: str
    same_model_stated: bool | None
    notes: tuple[str, ...] = ()

    def explain(self) -> str:
        """The verdict in plain sentences."""
        alarm = f"An honest platform is called so in at most {self.false_alarm:.2%} of cases."
        start = {
            "consistent": "Consistent: nothing shows that these releases are not of one model."
            " That is no proof that they are: see `canary_power` for what could have been seen.",
            "irreconcilable": "Irreconcilable: releases of one model do not differ so much"
            f" (p = {self.p_value:.2g}), most in {self.worst}. {alarm}",
            "too alike": "Too alike: the noise of independent releases does not agree so well"
            f" (p = {self.p_value:.2g}). {alarm}",
        }[self.verdict]
        stated = {
            True: "The platform signed that one model made them.",
            False: "The platform itself states different models.",
            None: "The platform states no model.",
        }[self.same_model_stated]
        return " ".join([start, stated, *self.notes])


def consistency(
    releases: Sequence[FinishedAudit | str | Path],
    relation: Relation,
    false_alarm: float = 0.001,
) -> Consistency:
    """Whether releases, or receipt files of them, can come from one model."""
    audits = [_read(release) for release in releases]
    if not 0 < false_alarm < 1:
        raise InputError(f"false_alarm must lie between 0 and 1, not {false_alarm}.")
    _check(audits, relation)
    tests = [_test(one, other, relation) for one, other in combinations(audits, 2)]
    # Pairs share the error equally, and so do the two ways to fail.
    factor = 2 * len(tests)
    differ = min(tests, key=lambda test: test.differ)
    alike = min(test.alike for test in tests)
    verdict: Verdict = "consistent"
    found = min(1.0, factor * min(differ.differ, alike))
    if found <= false_alarm:
        verdict = "irreconcilable" if differ.differ <= alike else "too alike"
    models = [audit.release.model_digest for audit in audits]
    same = None if None in models else len(set(models)) == 1
    notes = _notes(audits, relation)
    return Consistency(verdict, relation, found, false_alarm, differ.worst, same, notes)


def _test(one: FinishedAudit, other: FinishedAudit, relation: Relation) -> SameCounts:
    if relation != "halves":
        return same_counts(cells(one, other))
    groups, others = one.groups(), other.groups()
    middles = tuple((low + high) / 2 for low, high in one.limits())
    found = {
        name: least_level(
            lambda level, name=name: halves_differ(  # type: ignore[misc]
                groups[name], others[name], middles, level
            )
        )
        for name in groups
    }
    worst = min(found, key=lambda name: found[name])
    return SameCounts(min(1.0, found[worst] * len(found)), 1.0, worst)


def cells(one: FinishedAudit, other: FinishedAudit) -> list[Cell]:
    """Every number that two releases of one audience both state, bought sizes included."""
    bins = difference(one.noise("bins"), other.noise("bins"))
    found = [
        Cell(f"{name}, scores {words}", first, second, bins)
        for name, counts in one.counts.items()
        for words, first, second in zip(
            one.bin_names(), counts, other.counts[name], strict=True
        )
    ]
    if one.noisy_sizes and other.noisy_sizes:
        sizes = difference(one.noise("sizes"), other.noise("sizes"))
        for name, size in one.noisy_sizes.items():
            found.append(Cell(f"{name}, number of people", size, other.noisy_sizes[name], sizes))
    return found


def halves_differ(
    one: Group, other: Group, middles: tuple[float, ...], level: float
) -> bool:
    """Whether two samples of one group differ in a bin or in the mean; by chance, at most level."""
    if bounds.beyond([one, other], min(2 * _GAP * level, 1 - 1e-9), 0.0):
        return True
    sides = [HistogramSide(name, group, middles) for name, group in (("1", one), ("2", other))]
    low, high = means.limits(*sides, _array(middles), (1 - _GAP) * level)
    return low > 0 or high < 0
