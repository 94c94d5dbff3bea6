"""Calibration: a check of probabilities against people whose group is known.

    H = -mean log p_i[group of i]      cross-entropy: lower is better   [OHB26, Appendix D]

If labels went through randomised response, give its `inverted` weights in their place. Every mean
here is then an unbiased estimate of the mean for true labels. The check covers only people who
answered the survey, who may differ from others.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from auditor_client.demographics.probability_columns import Floats, Probabilities, hard
from auditor_client.errors import InputError

# A probability of zero for a person's own group would make the mean infinite: count it and raise it
# to a floor.
_FLOOR = 1e-4


@dataclass(frozen=True)
class GroupCheck:
    """One group: its people, their cross-entropy, and its observed and predicted share.

    `gap` is observed minus predicted. Its two limits hold together with probability about
    1 - delta, for this group alone (normal approximation).
    """

    people: float
    cross_entropy: float
    observed: float
    predicted: float
    gap: float
    low: float
    high: float

    @property
    def calibrated(self) -> bool:
        """Whether the data are consistent with equal shares."""
        return self.low <= 0 <= self.high


@dataclass(frozen=True)
class Calibration:
    """Cross-entropy of the vectors, compared with `baseline`, that of the groups' shares alone.

    Vectors with a higher cross-entropy than `baseline` are `worse_than_base_rates`: the groups'
    shares, given to everybody, would be nearer to the truth.
    """

    people: int
    cross_entropy: float
    se: float
    baseline: float
    impossible: int
    by_group: dict[str, GroupCheck]

    @property
    def worse_than_base_rates(self) -> bool:
        return self.cross_entropy > self.baseline

    def explain(self) -> str:
        """Return the check in words."""
        figures = (
            f"cross-entropy {self.cross_entropy:.3f} (standard error {self.se:.3f}) against"
            f" {self.baseline:.3f} of the groups' shares alone, over {self.people} people"
        )
        if self.worse_than_base_rates:
            return (
                f"These probabilities are worse than base rates: {figures}. Do not use "
                "them here. Use tables of this population, or ask people for their "
                "groups."
            )
        return f"These probabilities are better than base rates: {figures}."


class WorseThanBaseRatesWarning(UserWarning):
    """Warning: probabilities of groups are further from the truth than the groups' shares alone."""


def calibration(
    found: Probabilities, labels: Sequence[str] | Probabilities, delta: float = 0.05
) -> Calibration:
    """Compare vectors with the labels (or unbiased weights) of the same people.

    Warn with `WorseThanBaseRatesWarning` if the groups' shares alone are nearer to the labels.
    """
    truth = labels if isinstance(labels, Probabilities) else hard(labels, found.columns)
    if truth.columns != found.columns or len(truth) != len(found) or not len(found):
        raise InputError(
            "Give one label, in one of the groups, for each vector.", case="label-per-vector"
        )
    p, w = np.asarray(found), np.asarray(truth)
    surprise = -np.log(np.maximum(p, _FLOOR))
    each = (w * surprise).sum(axis=1)
    shares = np.clip(w.mean(axis=0), 0.0, None)
    made = Calibration(
        people=len(p),
        cross_entropy=float(each.mean()),
        se=_standard_error(each),
        baseline=float(special.entr(shares / shares.sum()).sum()),
        impossible=int(np.sum((w > 0.5) & (p == 0))),
        by_group={
            name: _group(p[:, j], w[:, j], surprise[:, j], delta)
            for j, name in enumerate(found.columns)
        },
    )
    if made.worse_than_base_rates:
        warnings.warn(made.explain(), WorseThanBaseRatesWarning, stacklevel=2)
    return made


def _group(p: Floats, w: Floats, surprise: Floats, delta: float) -> GroupCheck:
    total, apart = float(w.sum()), w - p
    half = float(-special.ndtri(delta / 2)) * _standard_error(apart)
    gap = float(apart.mean())
    return GroupCheck(
        people=total,
        cross_entropy=float(w @ surprise) / total if total > 0 else np.nan,
        observed=float(w.mean()),
        predicted=float(p.mean()),
        gap=gap,
        low=gap - half,
        high=gap + half,
    )


def _standard_error(values: Floats) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else np.inf
