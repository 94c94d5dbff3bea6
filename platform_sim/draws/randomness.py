"""Randomness of a world: streams from its seed, by name.

Each part of the world draws from its own stream. A part added later uses a new name and leaves all
other draws unchanged, byte for byte.
"""

import hashlib

import numpy as np
from numpy.typing import NDArray


def stream(seed: int, name: str) -> np.random.Generator:
    """Return the generator of the part of this name."""
    return np.random.default_rng(_key(seed, name))


def draw_uniform(seed: int, name: str, persons: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return a number in [0, 1) for each person, which does not depend on other people in the
    call.
    """
    key = np.uint64(_key(seed, name) & (2**64 - 1))
    bits = _splitmix(key, persons.astype(np.uint64)) >> np.uint64(11)
    return bits.astype(np.float64) * 2.0**-53


def _key(seed: int, name: str) -> int:
    return int.from_bytes(hashlib.sha256(f"{seed}/{name}".encode()).digest()[:16], "big")


def _splitmix(key: np.uint64, steps: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the output of SplitMix64, seeded with `key`, at each step; integers wrap."""
    z = steps * np.uint64(0x9E3779B97F4A7C15) + key
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
