"""Noise of an audit by the origin of its audience, from the plans that the service uses for prices.

upload      people find their way by identifiers; how many match is private, so a size is bought
sample      drawn by the platform, of exact size: one person displaces another, so everything
that a person moves doubles, and so does the scale of the noise
confirmed   people who confirmed themselves: their number is public, and they do not displace
"""

from fractions import Fraction
from typing import Any, Literal

from auditor_client.planning.noise import Mechanism, Planned, planned_noise
from auditor_client.planning.power_simulation import SizeKind
from auditor_client.stats.noise import AnyNoise, Epsilon, Gaussian, as_rate
from privacy.plans import PlannedTable, PublicAudience, has_fixed_slots
from privacy.plans.score_histogram import PLAN

AudienceSource = Literal["upload", "sample", "confirmed"]
SOURCES: tuple[AudienceSource, ...] = ("upload", "sample", "confirmed")


def planned_audit(
    audience: AudienceSource | None,
    sizes: SizeKind,
    mechanism: Mechanism,
    epsilon: Epsilon | None,
    rho: Epsilon | None,
    size_epsilon: Epsilon | None = None,
    size_rho: Epsilon | None = None,
) -> tuple[SizeKind, Planned]:
    """Return how sizes are known, and the noise, as in the service's price of the audit.

    Without `audience`, `sizes` states how they are known, and the noise is that of an upload. With
    `audience`, a `size_epsilon` (or `size_rho`) of 0 buys no size, and the sum of the bins is used.
    """
    if audience is None:
        return sizes, planned_noise(mechanism, epsilon, rho, size_epsilon, size_rho)
    if audience not in SOURCES:
        raise ValueError(f"audience must be one of {', '.join(SOURCES)}, not {audience!r}")
    unbought = any(given is not None and float(given) == 0 for given in (size_epsilon, size_rho))
    bought = (None, None) if unbought else (size_epsilon, size_rho)
    plain = planned_noise(mechanism, epsilon, rho, *bought)
    if mechanism == "discrete-laplace" and epsilon is None:
        return "known", plain
    parts = _parts(audience, mechanism, epsilon, rho, unbought=unbought)
    noise = Planned(_noise(parts[0], epsilon if rho is None else rho), plain.size)
    if len(parts) > 1:
        return "noisy", noise
    return "estimated" if audience == "upload" else "known", noise


def _parts(
    audience: AudienceSource,
    mechanism: Mechanism,
    epsilon: Epsilon | None,
    rho: Epsilon | None,
    *,
    unbought: bool,
) -> tuple[PlannedTable, ...]:
    """Return the parts that the service releases for this audience."""
    size = "0" if unbought else None
    request: dict[str, Any] = {
        "mechanism": mechanism,
        "epsilon": "1" if epsilon is None else str(Fraction(str(epsilon))),
        "rho": "1" if rho is None else str(Fraction(str(rho))),
        "size_epsilon": size,
        "size_rho": size,
        "bins": {"edges": (0, 1)},
    }
    facts = PublicAudience(
        groups=2,
        groups_per_person=1,
        fixed_slots=has_fixed_slots(audience),
        sizes_known=audience != "upload",
    )
    return PLAN(request, facts)


def _noise(part: PlannedTable, paid: Epsilon | None) -> AnyNoise:
    """Return the noise of one cell: its sensitivity divided by its price."""
    moved = part.bounds.added
    if part.mechanism == "discrete-gaussian":
        # sigma² = (squared L2) / 2ρ   (privacy/waist/gaussian.py)
        return Gaussian(moved.l2_squared / (2 * as_rate(paid, "rho")))
    # The scale is L1 over epsilon   (privacy/waist/laplace.py)
    return as_rate(paid) / moved.l1
