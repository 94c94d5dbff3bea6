"""ZIP codes: homes correlate with race, and the model sees the neighbourhood.

The ZIP codes are real, so that census tables know them. The inhabitants are invented, in line with
what each place is known for. So are wealth and density, the two features of a neighbourhood that
the model sees.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from platform_sim.draws.choices import Codes, draw_each
from platform_sim.draws.randomness import stream


class HomePlace(NamedTuple):
    zip_code: str
    wealth: float
    density: float
    residents: tuple[float, float, float, float, float, float]


PLACES = (
    HomePlace("59718", 0.4, -0.9, (90, 1, 4, 2, 1, 2)),
    HomePlace("84060", 1.6, -0.8, (75, 1, 20, 2, 0.2, 2)),
    HomePlace("04101", 0.3, 0.2, (80, 9, 4, 4, 0.4, 3)),
    HomePlace("55401", 1.0, 0.9, (72, 12, 5, 8, 0.5, 3)),
    HomePlace("45202", 0.4, 0.8, (58, 32, 4, 4, 0.3, 2)),
    HomePlace("37012", -0.4, -1.4, (93, 1, 3, 0.5, 0.3, 2)),
    HomePlace("97214", 0.8, 0.7, (80, 3, 7, 6, 0.6, 4)),
    HomePlace("06820", 2.0, -0.2, (85, 1, 6, 6, 0.1, 2)),
    HomePlace("60619", -0.7, 0.8, (1, 95, 2, 0.3, 0.1, 1)),
    HomePlace("48205", -1.5, 0.3, (5, 90, 2, 1, 0.2, 2)),
    HomePlace("30310", -0.8, 0.5, (12, 80, 4, 2, 0.2, 2)),
    HomePlace("20743", -0.2, 0.2, (3, 85, 10, 1, 0.3, 1)),
    HomePlace("78207", -1.5, 0.4, (4, 5, 90, 0.4, 0.2, 1)),
    HomePlace("90011", -1.2, 1.4, (1, 8, 90, 0.7, 0.2, 1)),
    HomePlace("33125", -0.9, 1.0, (4, 2, 93, 0.5, 0.1, 0.5)),
    HomePlace("79901", -1.6, 0.3, (5, 2, 92, 0.5, 0.3, 0.5)),
    HomePlace("95122", -0.1, 1.0, (6, 2, 58, 32, 0.3, 2)),
    HomePlace("11354", 0.0, 1.6, (14, 4, 16, 64, 0.2, 2)),
    HomePlace("94538", 1.3, 0.6, (18, 3, 13, 62, 0.2, 4)),
    HomePlace("96817", 0.2, 0.8, (14, 2, 6, 62, 0.2, 16)),
    HomePlace("86515", -1.3, -1.6, (4, 0.5, 1, 0.5, 92, 2)),
    HomePlace("28372", -1.2, -1.2, (14, 10, 6, 0.5, 66, 3)),
    HomePlace("94110", 1.2, 1.4, (42, 4, 36, 13, 0.4, 5)),
    HomePlace("10025", 1.1, 1.9, (58, 11, 20, 8, 0.2, 3)),
)


@dataclass(frozen=True)
class Homes:
    """Code in PLACES per person, and the wealth and density that the model sees."""

    place: Codes
    neighbourhood: NDArray[np.float32]


def make_homes(seed: int, race: Codes, correlation: float) -> Homes:
    """Return homes, which depend on race; the model's view of them depends on it only through
    `correlation`.
    """
    place = draw_each(stream(seed, "home"), _residents_by_race(), race)
    known = np.array([(p.wealth, p.density) for p in PLACES])
    chance = stream(seed, "neighbourhood").standard_normal((len(race), 2), np.float32)
    # Variance one at every correlation, so that the feature has the same size in every world.
    shown = correlation * known[place] + np.sqrt(max(0.0, 1 - correlation**2)) * chance
    return Homes(place, shown.astype(np.float32))


def _residents_by_race() -> NDArray[np.float64]:
    return np.array([place.residents for place in PLACES]).T
