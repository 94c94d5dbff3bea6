"""Items that can be recommended on a day, with topic, quality and creator.

The creator of an item is public: the platform declares it. Young creators make more items about
technology and sport; the quality of an item does not depend on its creator.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from platform_sim.draws.choices import Codes, draw, draw_each
from platform_sim.draws.randomness import stream
from platform_sim.people.interests import TOPICS

# A prime: steps of any width through the pool visit every item once.
POOL = 2_999
CREATORS = {"young_adult": ("no", "yes"), "region": ("north", "middle", "south")}
_YOUNG = (0.6, 0.4)
_REGION = (0.5, 0.3, 0.2)
_LEANING = {"technology": 1.5, "sport": 1.4, "culture": 1.2, "homes": 0.6, "finance": 0.7}


@dataclass(frozen=True)
class Items:
    """One entry per item of the pool."""

    topic: NDArray[np.intp]
    quality: NDArray[np.float32]
    young_adult: Codes
    region: Codes

    def creators(self, attribute: str) -> Codes:
        codes: Codes = getattr(self, attribute)
        return codes


@lru_cache(maxsize=32)
def make_items(seed: int, day: int) -> Items:
    """Return the pool of one day; every day has new items."""
    rng = stream(seed, f"items/{day}")
    young = draw(rng, _YOUNG, POOL)
    leanings = [[1.0] * len(TOPICS), [_LEANING.get(topic, 1.0) for topic in TOPICS]]
    topic = draw_each(rng, leanings, young).astype(np.intp)
    quality = rng.normal(0.0, 0.5, POOL).astype(np.float32)
    return Items(topic, quality, young, draw(rng, _REGION, POOL))
