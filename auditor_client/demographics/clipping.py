"""Clipping of near-certain vectors, so that a self-report cannot be told from an estimate.

If the largest probability exceeds T, it becomes T - width·U, with U uniform. The other groups
receive the difference in the proportions of a Dirichlet draw (all parameters 1). The draw belongs
to the person (`person_randomness`), so that repeated runs do not average it away. A clipped vector
is no longer calibrated; `auditor_client.two_party.attenuation` computes by how much gaps shrink
(docs/explanation/demographics.md, "Clipping").

[OHB26] §6.1 and Table 4: T = .825, below which lie 90 % of the largest probabilities.
"""

from collections.abc import Sequence

import numpy as np

from auditor_client.demographics.person_randomness import WORDS, Persons, drawn, uniform
from auditor_client.demographics.probability_columns import Floats, Probabilities
from auditor_client.errors import InputError

THRESHOLD = 0.825
WIDTH = 0.05


def threshold_at(found: Probabilities, share: float = 0.9) -> float:
    """Return the T below which this share of the largest probabilities lies."""
    return float(np.quantile(np.asarray(found).max(axis=1), share))


def clipped(
    found: Probabilities,
    persons: Persons,
    secret: bytes,
    threshold: float = THRESHOLD,
    width: float = WIDTH,
) -> Probabilities:
    """Return vectors without a probability above the threshold; each still adds up to one."""
    groups = len(found.columns)
    if not (width >= 0 and (1 + width) / 2 <= threshold <= 1):
        raise InputError(
            f"The threshold must lie between {(1 + width) / 2:g} and 1, not "
            f"{threshold:g}: at a lower threshold, the weight that one group loses would "
            "lift another group above it.",
            case="threshold-range",
        )
    if len(persons) != len(found):
        raise InputError(
            f"There are {len(found)} vectors and {len(persons)} persons.", case="vector-per-person"
        )
    rows = np.array(found)
    above = np.flatnonzero(rows.max(axis=1) > threshold)
    column = rows[above].argmax(axis=1)
    words = _numbers(secret, [persons[row] for row in above.tolist()], groups)
    target = threshold - width * words[:, 0]
    lost = rows[above, column] - target
    # Exponential variables over their sum are a Dirichlet draw.
    gains = -np.log(words[:, 1:])
    gains[np.arange(len(above)), column] = 0.0
    rows[above] += gains * (lost / gains.sum(axis=1))[:, np.newaxis]
    rows[above, column] = target
    return Probabilities(rows, found.columns)


def _numbers(secret: bytes, persons: Sequence[object], groups: int) -> Floats:
    """Return one uniform number for the reduction and one for each group, per person."""
    blocks = -(-(groups + 1) // WORDS)
    drawn_blocks = [drawn(secret, f"clipping {block}", persons) for block in range(blocks)]
    return uniform(np.concatenate(drawn_blocks, axis=1)[:, : groups + 1])
