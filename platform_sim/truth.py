"""True fairness gap, for tests and the ground truth of demos; no auditor sees it."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from platform_sim.content.view_context import CONTEXT
from platform_sim.platform import SimulatedPlatform


def true_gap(
    platform: SimulatedPlatform,
    content: Mapping[str, Any],
    attribute: str,
    values: Sequence[str],
    edges: Sequence[float] | NDArray[np.float64],
    where: NDArray[np.bool_] | None = None,
    context: Mapping[str, str | float] | None = None,
) -> float:
    """Return FG over everybody, or over the people in `where`: the qualified, as in the paper."""
    shares = true_shares(platform, content, attribute, values, edges, where, context)
    # FG(R) = max over a1, a2 in A and y in Y of |P_{a1,y}(R) - P_{a2,y}(R)|
    #   [Imana, Korolova, Heidemann, CSCW 2023, Definition 5.2]
    return float(np.max(shares.max(axis=0) - shares.min(axis=0)))


def true_shares(
    platform: SimulatedPlatform,
    content: Mapping[str, Any],
    attribute: str,
    values: Sequence[str],
    edges: Sequence[float] | NDArray[np.float64],
    where: NDArray[np.bool_] | None = None,
    context: Mapping[str, str | float] | None = None,
) -> NDArray[np.float64]:
    """Return P_{a,y} of the paper's eq. 1: for each value, the share of its people in each bin."""
    moment = context or {name: choices[0] for name, choices in CONTEXT.items()}
    shares = []
    for value in values:
        group = platform.world.demographics.having(attribute, value)
        persons = np.flatnonzero(group if where is None else group & where)
        if not len(persons):
            raise ValueError(f"nobody has {attribute} {value}")
        counts, _ = np.histogram(platform.score(content, persons, moment), np.asarray(edges))
        shares.append(counts / len(persons))
    return np.stack(shares)
