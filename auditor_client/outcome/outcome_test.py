"""Complete outcome test: effects in all bins, joint tests and a verdict."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa

from auditor_client.errors import InputError
from auditor_client.outcome.bin_sums import FrameMoments
from auditor_client.outcome.effects import Effect, EffectQuestion, Joint, bin_effects
from auditor_client.outcome.joint_test import Wald, adjust_for_multiplicity, wald
from auditor_client.outcome.log_reader import sums_from_cells
from auditor_client.outcome.marginals import Marginal, marginals
from auditor_client.outcome.regression import Control
from auditor_client.outcome.sandwich_variance import Variance
from auditor_client.stats.outcome_moments import OutcomeMoments

if TYPE_CHECKING:
    import polars as pl

# ruff: noqa: PT028  (`test` is the public word, no function of pytest's)
Verdict = Literal["fair", "unfair", "inconclusive"]


@dataclass(frozen=True, eq=False)
class Tested:
    """Result of an outcome test.

    `effects` has every pair of groups in every bin. The effects of `tested` bins decide: all bins
    for a ranking; for a classification, the bin just above the threshold. `wald` is None if no
    tested bin is defined.
    """

    moments: OutcomeMoments = field(repr=False)
    effects: tuple[Effect, ...]
    marginals: tuple[Marginal, ...]
    tested: tuple[int, ...]
    wald: Wald | None
    reference: str
    control: Control
    variance: Variance
    delta: float
    threshold: float | None = None

    @property
    def bins(self) -> list[tuple[float, float]]:
        """The ends of each bin of scores."""
        return list(pairwise(self.moments.edges))

    def family(self) -> list[Effect]:
        """Return the effects that the verdict covers."""
        return [effect for effect in self.effects if effect.bin in self.tested]

    def coefficients(self) -> list[Effect]:
        """Return the paper's β̂, relative to the reference, in every bin."""
        return [effect for effect in self.effects if effect.relative_to == self.reference]

    def verdict(self, tolerance: float = 0.0) -> Verdict:
        """Return whether outcomes at equal scores differ by more than `tolerance` in a tested bin.

        `unfair` is wrong with probability at most delta, over all bins and pairs; `fair` with at
        most delta/2. Bins in which a group has almost nobody have no equal scores to compare.
        """
        if tolerance < 0:
            raise InputError(
                f"tolerance must be at least 0, not {tolerance}.", case="negative-tolerance"
            )
        compared = [effect for effect in self.family() if not effect.off_support]
        defined = [effect for effect in compared if effect.defined]
        if any(max(each.low_all, -each.high_all) > tolerance for each in defined):
            return "unfair"
        within = all(-tolerance <= each.low and each.high <= tolerance for each in compared)
        return "fair" if defined and len(defined) == len(compared) and within else "inconclusive"

    def words(self, tolerance: float = 0.0) -> list[str]:
        """Return the verdict in sentences: the under-predicted groups, the scores, and the
        differences.
        """
        from auditor_client.outcome.narrative import sentences

        return sentences(self, tolerance)

    def table(self) -> pa.Table:
        """Return a table with one row per effect."""
        ends = self.bins
        rows = [
            {"low_score": ends[each.bin][0], "high_score": ends[each.bin][1], **vars(each)}
            for each in self.effects
        ]
        return pa.Table.from_pylist(rows)

    def frame(self) -> "pl.DataFrame":
        """Return `table` as a Polars DataFrame; needs `platform-auditor[logs]`."""
        from auditor_client.local.data_frame import data_frame

        return data_frame(self.table())

    def marginal_table(self) -> pa.Table:
        """Return a table with the average outcome of each group and bin, with limits."""
        return pa.Table.from_pylist([vars(each) for each in self.marginals])


def test(
    moments: OutcomeMoments | Mapping[str, Sequence[Any]],
    *,
    reference: str | None = None,
    control: Control = "linear",
    threshold: float | None = None,
    delta: float = 0.05,
    variance: Variance = "guarded",
    binary: bool | None = None,
    edges: Sequence[float] | None = None,
) -> Tested:
    """Test whether people with equal scores have equal outcomes, whatever their group.

    `moments` come from `from_frame` or from a release; or they are, for each group, sums of 1, Y,
    s, s², sY and Y² in each bin between `edges`. With a `threshold`, only the bin just above it
    decides (a classification); otherwise all bins decide (a ranking). `control` adjusts for the
    score within a bin: a common slope ("linear", as in the paper), a slope for each group
    ("slopes"), "quadratic" (own rows only) or "none". `binary`: outcomes are one of the two ends of
    their range.
    """
    if not isinstance(moments, OutcomeMoments):
        if edges is None:
            raise InputError(
                "Give the edges of the bins of these sums: edges=[…].", case="no-edges"
            )
        moments = sums_from_cells(moments, edges)
    if not 0 < delta < 1:
        raise InputError(f"delta must lie between 0 and 1, not {delta}.")
    if len(moments.groups) < 2:
        raise InputError("An outcome test compares at least two groups.", case="few-groups")
    known = isinstance(moments, FrameMoments) and moments.binary
    question = EffectQuestion(control, variance, delta, known if binary is None else binary)
    order = _order(moments, reference)
    tested = _tested(moments, threshold)
    effects: list[Effect] = []
    joints: list[Joint] = []
    for number in range(len(moments.edges) - 1):
        found, joint = bin_effects(moments, number, order, question)
        effects += found
        joints += [joint] if joint is not None and number in tested else []
    return Tested(
        moments,
        tuple(adjust_for_multiplicity(effects, tested, delta)),
        tuple(marginals(moments, question.binary, delta)),
        tested,
        wald(joints, moments, order),
        moments.groups[order[0]],
        control,
        variance,
        delta,
        threshold,
    )


def _order(moments: OutcomeMoments, reference: str | None) -> list[int]:
    """Return the groups, with the reference first."""
    if reference is not None and reference not in moments.groups:
        raise InputError(
            f"There is no group {reference!r}. The groups are: {', '.join(moments.groups)}.",
            case="no-such-group",
        )
    first = 0 if reference is None else moments.groups.index(reference)
    return [first, *(group for group in range(len(moments.groups)) if group != first)]


def _tested(moments: OutcomeMoments, threshold: float | None) -> tuple[int, ...]:
    if threshold is None:
        return tuple(range(len(moments.edges) - 1))
    for number, low in enumerate(moments.edges[:-1]):
        if np.isclose(low, threshold, rtol=0, atol=1e-9):
            return (number,)
    raise InputError(
        f"No bin begins at the threshold {threshold:g}: make it one of the edges, so that "
        "a bin holds people just above it.",
        case="no-bin-at-the-threshold",
    )
