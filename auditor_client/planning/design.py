"""Design of a score audit: edges, the split of ε between bins and sizes, and the mechanism.

For the same price, the chosen design needs the fewest people for a verdict, by the forecast of
`sample_size.verdict_size`. The size of an uploaded group is private: its noise is bought in
addition to that of the bins, and both are debited.
"""

import math
from dataclasses import dataclass

from auditor_client.planning.audiences import AudienceSource, planned_audit
from auditor_client.planning.default_bins import (
    MATCHED,
    BinsQuestion,
    Criterion,
    bins_below_middle,
    edges_of,
)
from auditor_client.planning.sample_size import verdict_size
from auditor_client.stats.noise import variance
from openapi.kinds import score_cdf, score_histogram
from privacy.tables.tree_shape import tail_variances

# Tried parts of the budget for the sizes.
_SIZE_PARTS = (0.0, 1 / 16, 1 / 8, 1 / 5, 1 / 3, 1 / 2)


@dataclass(frozen=True, slots=True)
class AuditDesignChoice:
    """A design: edges on scores from `edges[0]` to `edges[-1]`, noise, and the number of people
    that it needs.

    `kind` is the kind of audit with less noise above an edge: `score-histogram`, which adds noise
    to every bin, or `score-cdf`, which adds it to a tree.
    """

    edges: tuple[float, ...]
    epsilon: float
    size_epsilon: float
    kind: str
    people: int


def plan_audit(
    people: int,
    budget: float,
    *,
    groups: int = 2,
    alpha: float = 0.2,
    delta: float = 0.05,
    audience: AudienceSource = "upload",
    criterion: Criterion = "distribution",
    power: float = 0.8,
    scores: tuple[float, float] = (0.0, 1.0),
) -> AuditDesignChoice:
    """Return the best design for `people` per group (uploaded, if not all match) and this price.

    `budget` is the ε of one audit under add/remove, including sizes.
    """
    parts = _SIZE_PARTS if audience == "upload" else (0.0,)
    found = []
    for part in parts:
        epsilon = _down(budget * (1 - part))
        size = _down(budget - epsilon)
        sizes, noise = planned_audit(
            audience, "noisy", "discrete-laplace", epsilon, None, size if part else 0.0
        )
        known = audience != "upload"
        asked = BinsQuestion(
            people * (1.0 if known else MATCHED),
            variance(noise.bins),
            0.0 if known else variance(noise.size) if sizes == "noisy" else math.inf,
            groups,
            alpha,
            delta,
            criterion,
        )
        below = bins_below_middle(asked)
        edges = edges_of(*scores, below)
        needed = verdict_size(
            alpha, delta, groups, len(edges), epsilon, power,
            audience=audience, criterion=criterion, size_epsilon=size if part else 0,
        )  # fmt: skip
        tree, bins = tail_variances(len(edges))
        better = (score_cdf if tree < bins else score_histogram).KIND.name
        found.append(AuditDesignChoice(tuple(edges), epsilon, size, better, needed))
    return min(found, key=lambda one: one.people)


def _down(amount: float) -> float:
    """Return the amount rounded down to whole millionths, as the service requires."""
    return math.floor(amount * 1_000_000 + 1e-6) / 1_000_000
