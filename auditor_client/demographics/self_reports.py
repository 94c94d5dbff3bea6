"""Randomised response: self-reported labels, changed at random once per person.

Unit: one person's label. Guarantee: while the secret is unknown, `reported` is epsilon-locally
differentially private for each label that a person ever gave. Whether somebody answered is not
hidden.

    P(reported y | true r) = keep if y = r, else other;   keep / other <= e^epsilon

A reported label must not be used as if it were true. `inverted` and `posterior` are the two exact
ways to use it (docs/explanation/demographics.md, "Self-reported labels"). `posterior` needs draws
that are independent of the proxies, which they are by construction.

[War65] Warner, JASA 60 (1965). [OHB26] §2.2 and Appendix A.3 (k values).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from auditor_client.demographics.person_randomness import Persons, drawn
from auditor_client.demographics.probability_columns import CATEGORIES, Floats, Probabilities
from auditor_client.errors import InputError

SILENT = -1
_ALL = 2**64


@dataclass(frozen=True)
class RandomisedResponse:
    """Randomised response: a label is kept with probability e^epsilon/(e^epsilon + k - 1); all
    others are equally likely.
    """

    epsilon: float = 4.5
    columns: tuple[str, ...] = CATEGORIES

    def __post_init__(self) -> None:
        if not 0 < self.epsilon < math.inf or len(self.columns) < 2:
            raise InputError(
                "Randomised response needs an epsilon above 0 and at least two groups.",
                case="randomised-response",
            )

    @property
    def other(self) -> float:
        """The probability of each wrong label."""
        return self._other / _ALL

    @property
    def keep(self) -> float:
        """The probability of the true label."""
        return self._keep / _ALL

    @property
    def matrix(self) -> Floats:
        """P(reported column | true row)."""
        k = len(self.columns)
        return np.asarray(np.full((k, k), self.other) + np.eye(k) * (self.keep - self.other))

    @property
    def _other(self) -> int:
        """Probability of a wrong label in units of 2⁻⁶⁴, rounded up: keep/other is then exactly at
        most e^epsilon.
        """
        # other = 1 / (e^ε + k - 1)   [OHB26, Appendix A.3]
        below = math.exp(min(self.epsilon, 700.0)) + len(self.columns) - 1
        return math.floor(Fraction(_ALL) / Fraction(below) * (1 + Fraction(1, 10**15))) + 1

    @property
    def _keep(self) -> int:
        return _ALL - (len(self.columns) - 1) * self._other

    def reported(
        self, labels: Sequence[str | None], persons: Persons, secret: bytes
    ) -> NDArray[np.intp]:
        """Return reported labels as column numbers; `SILENT` for people who gave none.

        The same person with the same label gets the same answer in every run. A changed label gets
        its own draw, and the two answers compose to twice the epsilon.
        """
        true = self._codes(labels)
        if len(persons) != len(true):
            raise InputError(
                f"There are {len(true)} labels and {len(persons)} persons.", case="label-per-person"
            )
        subjects = (f"{label} {person}" for label, person in zip(true, persons, strict=True))
        first = drawn(secret, "self-report", subjects)[:, 0]
        keep, other = np.uint64(self._keep), np.uint64(self._other)
        wrong = first >= keep
        steps = np.where(wrong, (first - keep) // other, 0).astype(np.intp)
        # The wrong labels in order, without the true one.
        answer = np.where(wrong, steps + (steps >= true), true)
        return np.where(true == SILENT, SILENT, answer)

    def _codes(self, labels: Sequence[str | None]) -> NDArray[np.intp]:
        columns_by_name: dict[str | None, int] = {name: n for n, name in enumerate(self.columns)}
        columns_by_name[None] = SILENT
        unknown = sorted({str(label) for label in labels if label not in columns_by_name})
        if unknown:
            raise InputError(
                f"Labels of no group: {', '.join(unknown)}. Groups: "
                f"{', '.join(self.columns)}; None for a person who gave no label.",
                case="unknown-labels",
            )
        return np.fromiter((columns_by_name[label] for label in labels), np.intp, len(labels))

    def inverted(self, reported: NDArray[np.intp]) -> Probabilities:
        """Return weights whose mean is the true label. Some are negative: they are not
        probabilities.

        For people who gave no label, all weights are zero.
        """
        k, reported = len(self.columns), np.asarray(reported)
        spoke = reported != SILENT
        weights = np.zeros((len(reported), k))
        # M⁻¹ = (I - other·J) / (keep - other), J all ones, as keep + (k - 1)·other = 1
        weights[spoke] = (np.eye(k)[reported[spoke]] - self.other) / (self.keep - self.other)
        return Probabilities(weights, self.columns)

    def posterior(self, prior: Probabilities, reported: NDArray[np.intp]) -> Probabilities:
        """Return the posterior from BISG and a reported label; people who gave no label keep their
        prior.
        """
        if prior.columns != self.columns or len(prior) != len(reported):
            raise InputError(
                f"The prior needs the columns {', '.join(self.columns)} and a row per person.",
                case="shape-of-the-prior",
            )
        spoke = np.asarray(reported) != SILENT
        found = np.array(prior)
        # P(r | y, s, z) ∝ P(y | r) P(r | s, z)
        found[spoke] *= self.matrix.T[np.asarray(reported)[spoke]]
        found /= found.sum(axis=1, keepdims=True)
        return Probabilities(found, self.columns)
