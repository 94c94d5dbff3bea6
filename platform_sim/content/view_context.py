"""Temporal context of a view: the hour and the device.

In an audit it is the same for everybody, so differences come from people's history and not from the
moment (paper 1, §4.3.2).
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

CONTEXT: Mapping[str, Sequence[str | float]] = {
    "hour": (12.0, 0.0, 3.0, 6.0, 9.0, 15.0, 18.0, 21.0),
    "device": ("phone", "computer"),
}
WIDTH = 3


def moments(
    hour: NDArray[np.float64] | float, computer: NDArray[np.bool_] | bool
) -> NDArray[np.float64]:
    """Return hours on a circle, and whether the device is a computer, with one row per view."""
    angle = np.asarray(hour) * (2 * np.pi / 24)
    return np.stack([np.sin(angle), np.cos(angle), np.asarray(computer, np.float64)], axis=-1)


def make_single_moment(context: Mapping[str, str | float]) -> NDArray[np.float64]:
    """Return the one moment at which a whole audience is scored."""
    if context.keys() != CONTEXT.keys():
        raise ValueError(
            f"the context must have a value for each of {', '.join(CONTEXT)}, and no others"
        )
    for name, value in context.items():
        if value not in CONTEXT[name]:
            raise ValueError(f"{name} is one of {', '.join(map(str, CONTEXT[name]))}")
    return moments(float(context["hour"]), context["device"] == "computer")
