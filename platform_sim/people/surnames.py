"""Surnames, which correlate with race and ethnicity, as in BISG.

The surnames are real, so that census tables know them. Their frequencies are invented: names
earlier in a list are more common (Zipf), and a list for everybody is mixed into each of the six.
"""

from functools import cache

import numpy as np

from platform_sim.draws.choices import Codes, draw_each
from platform_sim.draws.randomness import stream
from platform_sim.people.demographics import ATTRIBUTES

_EVERYBODY = "smith johnson williams brown jones davis miller wilson moore taylor"
_OWN = {
    "white": "anderson olson schmidt sullivan peterson meyer schneider murphy novak kowalski",
    "black": "washington jefferson booker banks jackson robinson harris mosley gaines dorsey",
    "hispanic": "garcia rodriguez martinez hernandez lopez gonzalez perez sanchez ramirez torres",
    "api": "nguyen kim patel tran chen wong park singh yang kaur",
    "aian": "begay yazzie benally tsosie nez begaye tso lowery locklear oxendine",
    "multiple": "lee young scott king hall allen baker green adams campbell",
}
_SHARED = {
    "white": 0.5,
    "black": 0.55,
    "hispanic": 0.08,
    "api": 0.06,
    "aian": 0.45,
    "multiple": 0.6,
}
SURNAMES = tuple(
    dict.fromkeys(name for names in (_EVERYBODY, *_OWN.values()) for name in names.split())
)


def make_surnames(seed: int, race: Codes) -> Codes:
    """Return codes in SURNAMES."""
    return draw_each(stream(seed, "surname"), _weights(), race)


@cache
def _weights() -> tuple[tuple[float, ...], ...]:
    """Return P(surname | race), one row per race."""
    rows = []
    for race in ATTRIBUTES["race"]:
        row = dict.fromkeys(SURNAMES, 0.0)
        for names, share in ((_EVERYBODY, _SHARED[race]), (_OWN[race], 1 - _SHARED[race])):
            zipf = 1 / np.arange(1, len(names.split()) + 1)
            for name, weight in zip(names.split(), zipf / zipf.sum(), strict=True):
                row[name] += share * float(weight)
        rows.append(tuple(row.values()))
    return tuple(rows)
