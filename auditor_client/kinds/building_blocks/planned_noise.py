"""Expected noise of a request, from the public release plan of its kind.

The service uses the same plan (`privacy.plans`) for prices and noise, so a forecast needs no
request to the service.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from auditor_client.kinds.forecasts import ForecastAudience
from privacy.plans import PLANS, PlannedTable, PublicAudience
from privacy.tables.mechanism_prices import GAUSSIAN, NOISY_MAX, TREE, exact_scale
from privacy.tables.tree_shape import best_branching, nodes_of_prefix

# Two-sided 95 % quantile of the normal distribution.
_NORMAL_95 = 1.96


@dataclass(frozen=True, slots=True)
class PlannedPart:
    """Noise of one part of a release, in the units of its table."""

    name: str
    mechanism: str
    scale: float
    variance: float
    cells: int

    @property
    def error_95(self) -> float:
        """Return an error that one number exceeds with a probability of at most about 5 %."""
        if self.mechanism == GAUSSIAN:
            return _NORMAL_95 * self.scale
        if self.mechanism == TREE:
            return _NORMAL_95 * math.sqrt(self.variance)
        if self.mechanism == NOISY_MAX:
            # The choice is wrong if the noise of another content exceeds its own by the difference.
            return self.scale * math.log(max(self.cells - 1, 1) / 0.05)
        # P(|noise| > t) = 2 q^(t+1) / (1 + q), q = exp(-1 / scale)
        q = math.exp(-1 / self.scale)
        return max(math.ceil(-self.scale * math.log(0.05 * (1 + q) / 2) - 1), 0)


def planned_parts(request: Any, audience: ForecastAudience) -> dict[str, PlannedPart]:
    """Return the planned parts of a request's release, by name."""
    public = PublicAudience(
        groups=len(audience.people),
        groups_per_person=audience.groups_per_person,
        fixed_slots=audience.fixed_size,
        sizes_known=audience.source in ("sample", "confirmed"),
        candidates=audience.candidates,
    )
    parts = PLANS[request.kind](request.model_dump(mode="json"), public)
    return {part.name: _planned(part) for part in parts}


def _planned(part: PlannedTable) -> PlannedPart:
    bounds = part.bounds
    written = exact_scale(part.mechanism, bounds.shape, bounds.added, part.parameter)
    if written.startswith("sqrt("):
        scale = math.sqrt(Fraction(written[5:-1]))
    else:
        scale = float(Fraction(written))
    variance = scale**2 if part.mechanism == GAUSSIAN else 2 * scale**2
    if part.mechanism == TREE:
        leaves = bounds.shape[-1]
        variance *= nodes_of_prefix(leaves, best_branching(leaves))
    return PlannedPart(part.name, part.mechanism, scale, variance, bounds.cells)
