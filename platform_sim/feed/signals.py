"""Signals of viewers who like an item: the six of paper 4, §4.2.

A viewer who likes an item shows it by at least one signal; one who does not shows none.
"""

import numpy as np
from numpy.typing import NDArray

SIGNALS = {
    "like_video": 0.35,
    "share": 0.08,
    "follow": 0.05,
    "finish": 0.55,
    "download": 0.04,
    "long_view": 0.65,
}


def make_signals(
    liked: NDArray[np.bool_], rng: np.random.Generator
) -> dict[str, NDArray[np.uint8]]:
    """Return one column of zeros and ones for each signal."""
    found = {
        name: liked & (rng.random(len(liked), np.float32) < chance)
        for name, chance in SIGNALS.items()
    }
    silent = liked & ~np.logical_or.reduce(list(found.values()))
    found["long_view"] = found["long_view"] | silent
    return {name: flags.astype(np.uint8) for name, flags in found.items()}
