"""Sequential audits: early looks without a larger probability of error.

People are recruited in batches; each batch is its own release, at its own price, and each person is
in one batch only. At look k, the counts of the first k batches and their noises are added up, and
the interval is computed at delta_k. The delta_k add up to delta. So, by the union bound, all looks
are right at once with probability 1 - delta, whenever one stops and for whatever reason. Batch
sizes are fixed beforehand and do not depend on results. The proof is in
docs/explanation/planning.md.

With a planned end, Lan and DeMets's function (1983) spends delta: most of it late.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from scipy import special

from auditor_client.fairness.gap import FairnessGap, fairness_gap
from auditor_client.planning.fast_power import estimate_power
from auditor_client.planning.noise import Mechanism, planned_noise
from auditor_client.planning.power_simulation import AuditDesign, SizeKind
from auditor_client.planning.sample_size import check_power, fast_size, make_design, unfair_gap
from auditor_client.stats.noise import AnyNoise, Epsilon, Noise, as_rate, distribution, sum_of_draws

# Batch of one look: noisy counts by group.
Counts = Mapping[str, Sequence[int]]


def look_delta(look: int, delta: float, looks: int | None = None) -> float:
    """Return the part of delta for this look.

    With a planned number of looks, late looks get most of it. Without one (None), early looks do.
    """
    if look < 1 or (looks is not None and look > looks):
        raise ValueError(f"look {look} is not one of the {looks} planned looks")
    if looks is None:
        # Σ 1/(k(k+1)) = 1
        return delta / (look * (look + 1))
    return _spent(look / looks, delta) - _spent((look - 1) / looks, delta)


def _spent(time: float, delta: float) -> float:
    # 2 - 2Φ(z/√t), z = Φ⁻¹(1 - δ/2)
    if time <= 0:
        return 0.0
    return float(2 * special.ndtr(special.ndtri(delta / 2) / math.sqrt(time)))


@dataclass(frozen=True, slots=True)
class Look:
    """People per group so far, the delta of this look, and its probability of ending the audit."""

    people: int
    delta: float
    fair: float
    unfair: float


@dataclass(frozen=True, slots=True)
class SequentialPlan:
    """Equal batches, with the cost and the saving of early looks.

    `single` is the number of people for one look at the end. `fair` and `unfair` of a look are the
    probabilities that it alone calls a fair platform fair, and one with a gap of 2·alpha unfair.
    `noise` is that of each batch, and `size_noise` that of a size bought with it.
    """

    alpha: float
    delta: float
    noise: AnyNoise
    size_noise: AnyNoise
    batch: int
    looks: tuple[Look, ...]
    single: int

    @property
    def most(self) -> int:
        """People per group if no look ends the audit early."""
        return self.looks[-1].people

    @property
    def price(self) -> float:
        """Return the largest number of people as a multiple of a single look's."""
        return self.most / self.single

    @property
    def expected_if_fair(self) -> float:
        """Return an upper bound of the expected people per group if the platform is fair."""
        return self._expected([look.fair for look in self.looks])

    @property
    def expected_if_unfair(self) -> float:
        """Return an upper bound of the expected people per group if the gap is 2·alpha."""
        return self._expected([look.unfair for look in self.looks])

    def _expected(self, ends: Sequence[float]) -> float:
        # The probability of an end by some look is at least that of any earlier look alone.
        going = [1.0] + [1.0 - max(ends[:k]) for k in range(1, len(ends))]
        return self.batch * sum(going)

    def read(
        self,
        batches: Sequence[Counts],
        sizes: Sequence[Mapping[str, int]] | None = None,
        noisy_sizes: Sequence[Mapping[str, int]] | None = None,
        size_epsilon: Epsilon | None = None,
    ) -> FairnessGap:
        """Return the interval after these batches; stop recruiting if its verdict is not
        inconclusive.

        Default `size_epsilon`: the planned one.
        """
        delta = look_delta(len(batches), self.delta, len(self.looks))
        own = self.size_noise if size_epsilon is None else as_rate(size_epsilon, "size_epsilon")
        return pooled_gap(
            batches,
            sizes,
            delta=delta,
            noisy_sizes=noisy_sizes,
            noise=distribution(self.noise),
            size_noise=distribution(own),
        )


def sequential_plan(
    alpha: float = 0.2,
    delta: float = 0.05,
    looks: int = 3,
    groups: int = 2,
    bins: int = 20,
    epsilon: Epsilon | None = 1.0,
    power: float = 0.8,
    sizes: SizeKind = "known",
    *,
    mechanism: Mechanism = "discrete-laplace",
    rho: Epsilon | None = None,
) -> SequentialPlan:
    """Return batches such that the last look alone has the power; earlier looks may save people."""
    check_power(power)
    if looks < 1:
        raise ValueError(f"an audit needs at least one look, not {looks}")
    noise = planned_noise(mechanism, epsilon, rho)
    design = make_design(alpha, delta, groups, bins, noise, sizes)
    last = _at_look(design, looks, looks)
    batch = math.ceil(fast_size(last, power, 0.0) / looks)
    found = []
    for k in range(1, looks + 1):
        at = _at_look(design, k, looks)
        fair = estimate_power(at, k * batch, 0.0, "fair")
        unfair = estimate_power(at, k * batch, unfair_gap(at), "unfair")
        found.append(Look(k * batch, at.delta, fair, unfair))
    single = fast_size(design, power, 0.0)
    return SequentialPlan(alpha, delta, noise.bins, noise.size, batch, tuple(found), single)


def pooled_gap(
    batches: Sequence[Counts],
    sizes: Sequence[Mapping[str, int]] | None,
    epsilon: Epsilon | None = 1.0,
    delta: float = 0.05,
    noisy_sizes: Sequence[Mapping[str, int]] | None = None,
    size_epsilon: Epsilon | None = None,
    *,
    noise: Noise | None = None,
    size_noise: Noise | None = None,
) -> FairnessGap:
    """Return the gap from several pooled releases of different people, each with noise at
    `epsilon`.

    For another distribution give the `noise` and `size_noise` of one release in place of the
    epsilons.
    """
    count = len(batches)
    if not batches or any(len(more or batches) != count for more in (sizes, noisy_sizes)):
        raise ValueError("give at least one batch, and one entry of sizes per batch")
    if size_epsilon is not None and size_noise is None:
        size_noise = distribution(as_rate(size_epsilon, "size_epsilon"))
    return fairness_gap(
        _added_counts(batches),
        _added(sizes),
        delta=delta,
        noise=sum_of_draws(as_rate(epsilon) if noise is None else noise, count),
        noisy_sizes=_added(noisy_sizes),
        size_noise=None if size_noise is None else sum_of_draws(size_noise, count),
    )


def _added_counts(batches: Sequence[Counts]) -> dict[str, list[int]]:
    if len({(tuple(batch), *(len(row) for row in batch.values())) for batch in batches}) != 1:
        raise ValueError("all batches need the same groups, in the same order, and the same bins")
    return {
        name: [sum(column) for column in zip(*(batch[name] for batch in batches), strict=True)]
        for name in batches[0]
    }


def _added(sizes: Sequence[Mapping[str, int]] | None) -> dict[str, int] | None:
    if sizes is None:
        return None
    return {name: sum(batch[name] for batch in sizes) for name in sizes[0]}


def _at_look(design: AuditDesign, look: int, looks: int) -> AuditDesign:
    return replace(design, delta=look_delta(look, design.delta, looks), releases=look)
