"""Upper limits of many shares at once, as `stats.chernoff` finds them one table at a time."""

import math

import numpy as np

from auditor_client.stats.chernoff import tilts
from auditor_client.stats.noise import Floats, Noise


def share_limits(counts: Floats, people: Floats, law: Noise, level: float) -> Floats:
    """Return upper limits of the shares of noisy counts, each missed with probability `level`."""
    counts, people = np.broadcast_arrays(counts, people)
    if np.all(people == people.flat[0]):
        # Counts are whole numbers, so few differ.
        least = counts.min()
        table = _solved(np.arange(least, counts.max() + 1), people.flat[:1], law, level)
        return np.asarray(table[(counts - least).astype(np.int64)])
    return _solved(counts, people, law, level)


def _solved(counts: Floats, people: Floats, law: Noise, level: float) -> Floats:
    s = tilts(law.most_tilt)[::6]
    # As in `chernoff`: Chernoff's bound, solved for the share
    room = (math.log(level) - law.log_mgf(s) - s * counts[..., None]) / people[..., None]
    above = np.expm1(np.minimum(room, 0.0)) / np.expm1(-s)
    return np.asarray(np.clip(above.min(axis=-1), 0.0, 1.0))
