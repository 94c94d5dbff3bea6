"""Bound of P(|EFG - FG| > alpha) that decreases with the number of people.

For equal groups of n people, with V = X - np + (noises) the error of a count, and every θ > 0:

    P(V_a - V_b > αn) <= exp(-θαn) · E exp(θ(V_a - V_b)) · min(1, Q/(1 - exp(-θ))),

where Q is a bound of the probability of any one value of X_a - X_b (and the noise, if it is whole)
after tilting by exp(θ·). For a fixed θ, each of the three factors decreases with n: a bound for n
holds for every larger number. Compared with Chernoff's bound, Q gains a factor of about six;
compared with the exact sum, about an eighth is lost. The proof is in docs/explanation/planning.md.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from auditor_client.planning.branch_and_bound import best_plane, prove_bound, unit_square
from auditor_client.stats import noise
from auditor_client.stats.exponential_tilting import (
    Span,
    largest_growth,
    log_single,
    log_size_of_people,
    nodes,
)
from auditor_client.stats.group_size import PARTS
from auditor_client.stats.noise import Floats
from auditor_client.stats.share_distribution import Estimator

_TILTS = 24
_NEAR = np.linspace(-1, 1, 9)
# Shares at which the slack is computed first: dense where errors are most likely.
_SHARES = np.concatenate(
    [[0.0], np.geomspace(0.002, 0.1, 12), np.linspace(0.12, 0.7, 59), np.linspace(0.75, 1.0, 6)]
)
_NARROWEST = 1e-4
# Largest tilt, in deviations of the noise; larger tilts do not help.
_FAR = 12.0


@dataclass(frozen=True, slots=True)
class Envelope:
    """Two groups with equal numbers of people, measured in the same way."""

    alpha: float
    estimator: Estimator

    def holds(self, people: int, level: float) -> bool:
        """Tell whether errors above alpha have at most this probability, for this number of people
        or more.

        Proved for the sum over all bins of one pair of groups.
        """
        values = self._bound(people, _SHARES, _SHARES, 0.0)
        plane, room = best_plane(values, _SHARES, level, self.estimator.bins)

        def bound(p: Floats, q: Floats, width: float) -> Floats:
            return self._bound(people, p, q, width)

        return room >= 1 and prove_bound(bound, plane.at, unit_square(symmetric=True), _NARROWEST)

    def room(self, people: int, level: float) -> float:
        """Return the slack that `holds` would find at equal shares, where errors are most
        likely.
        """
        values = self._bound(people, _SHARES, _SHARES, 0.0)
        return best_plane(values, _SHARES, level, self.estimator.bins)[1]

    def unsized(self, people: int) -> float:
        """Return a bound of the probability that a group's size is measured as less than one."""
        terms = self.estimator.size_terms(self.estimator.bins)
        if not terms:
            return 0.0
        limits = [noise.distribution(rate).most_tilt / max(weight, 1) for _, rate, weight in terms]
        spread = PARTS * math.sqrt(self._size_variance())
        s = min(*limits, _FAR / spread) * np.linspace(0.01, 0.99, 99)
        logs = sum(count * noise.log_mgf(weight * s, rate) for count, rate, weight in terms)
        return math.exp(min(float(np.min(logs - s * PARTS * (people - 1))), 0.0))

    def _bound(self, people: int, p: Floats, q: Floats, width: float) -> Floats:
        """Return a bound of the tails beyond ±alpha on the boxes [p, p + width] x [q, q +
        width].
        """
        low = np.concatenate([p, q])
        one = low, np.minimum(low + width, 1.0)
        other = np.roll(one[0], len(p)), np.roll(one[1], len(p))
        total = self._above(people, one, other)
        if not self.estimator.exact:
            total = total + self._alone(people, one, 1) + self._alone(people, one, -1)
        return np.asarray(np.minimum(total.reshape(2, -1).sum(axis=0), 2.0))

    def _above(self, people: int, p: Span, q: Span) -> Floats:
        """Return P(V_a/N_a - V_b/N_b > α), with both parts positive, on boxes, each at its best
        θ.
        """

        def growth(θ: Floats) -> Floats:
            found = people * (largest_growth(θ, p) + largest_growth(-θ, q) - θ * self.alpha)
            return np.where(found > 0, np.inf, found)

        def chernoff(θ: Floats) -> Floats:
            return np.asarray(growth(θ) + self._both_noises(θ, p, q))

        θ = self._best_tilt(lambda θ: chernoff(θ) - np.log(-np.expm1(-θ)))
        found = chernoff(θ)[:, 0] + self._single_count(people, θ[:, 0], p, q)
        if not self.estimator.exact:
            θ = self._best_tilt(chernoff)
            one, two = (part[:, 0] for part in self._parts(θ, p, q))
            logs = np.logaddexp(
                one + self._single_size(θ[:, 0], p[0] + self.alpha),
                two + self._single_size(θ[:, 0], p[0]),
            )
            found = np.minimum(found, growth(θ)[:, 0] + logs)
        return np.asarray(np.exp(np.minimum(found, 0.0)))

    def _best_tilt(self, of: Callable[[Floats], Floats]) -> Floats:
        """Return a column of good θ, one for each row of `of`; every θ proves a bound."""
        law = noise.distribution(self.estimator.rate)
        far = _FAR / math.sqrt(law.variance) if law.variance else math.inf
        most = min(4.0, far, 0.97 * law.most_tilt)
        θ = np.geomspace(min(0.02 * self.alpha, most / 50), most, _TILTS)[None, :]
        best = θ[0, np.argmin(of(θ), axis=1)][:, None]
        near = np.minimum(best * (θ[0, 1] / θ[0, 0]) ** _NEAR, most)
        return np.take_along_axis(near, np.argmin(of(near), axis=1)[:, None], axis=1)

    def _parts(self, θ: Floats, p: Span, q: Span) -> tuple[Floats, Floats]:
        one = self._noises(θ, p, self.alpha) + self._noises(θ, q, 0.0)
        return one, self._noises(θ, p, 0.0) + self._noises(θ, q, -self.alpha)

    def _both_noises(self, θ: Floats, p: Span, q: Span) -> Floats:
        """Return a bound of log E exp(θ·noise) of the difference of two counts.

        One group contributes a part t of α and the other 1 - t. The size of each enters with its
        part of α, so the noise is linear in t and at most the larger of its values A (t = 1) and B
        (t = 0): E exp(max(A, B)) <= E exp(A) + E exp(B) - exp(E min(A, B)), E min = -E|A - B|/2.
        """
        if self.estimator.exact:
            return np.asarray(2 * noise.log_mgf(θ, self.estimator.rate))
        one, two = self._parts(θ, p, q)
        least = -θ * self.alpha / 2 * math.sqrt(2 * self._size_variance())
        with np.errstate(over="ignore"):
            return np.asarray(np.log(np.exp(one) + np.exp(two) - np.exp(least)))

    def _size_variance(self) -> float:
        terms = self.estimator.size_terms(self.estimator.bins)
        return sum(n * noise.variance(rate) * (w / PARTS) ** 2 for n, rate, w in terms)

    def _alone(self, people: int, p: Span, sign: int) -> Floats:
        """Return P(±V - αE > αn) for one group alone, by Chernoff's bound."""

        def chernoff(θ: Floats) -> Floats:
            growth = people * (largest_growth(sign * θ, p) - θ * self.alpha)
            return np.where(growth > 0, np.inf, growth + self._noises(θ, p, sign * self.alpha))

        found = chernoff(self._best_tilt(chernoff))[:, 0]
        return np.asarray(np.exp(np.minimum(found, 0.0)))

    def _noises(self, θ: Floats, p: Span, shift: float) -> Floats:
        """Return a bound of log E exp(θ(Z - (p + shift)E)) over the shares of the span."""
        rate, own = self.estimator.rate, self.estimator.own / PARTS
        low, high = p[0][:, None] + shift, p[1][:, None] + shift
        most, rest = np.maximum(abs(low), abs(high)), self.estimator.size_rate
        cell = noise.log_mgf(θ * np.maximum(abs(1 - low * own), abs(1 - high * own)), rate)
        others = (self.estimator.bins - 1) * noise.log_mgf(θ * most * own, rate)
        bought = noise.log_mgf(θ * most * (1 - own), rest) if own < 1 else 0.0
        return np.asarray(cell + others + bought)

    def _single_count(self, people: int, θ: Floats, p: Span, q: Span) -> Floats:
        """Return the gain from the fact that X_a - X_b (and Z_a - Z_b) is a whole number."""
        turn, weights = nodes(math.sqrt(people / 2))
        logs = people * (log_size_of_people(θ, p, turn) + log_size_of_people(-θ, q, turn))
        if self.estimator.exact:
            logs = logs + 2 * noise.distribution(self.estimator.rate).log_tilted_wave(θ, turn)
        return log_single(logs, weights, θ, np.ones(1))

    def _single_size(self, θ: Floats, part: Floats) -> Floats:
        """Return the gain from the fact that a size's main noise is a whole number of steps."""
        own, bins = self.estimator.own / PARTS, self.estimator.bins - 1
        rate, size_rate = self.estimator.rate, self.estimator.size_rate
        many, step = bins * noise.variance(rate) * own**2, part * own
        if many < noise.variance(size_rate) * (1 - own) ** 2:
            bins, rate, step = 1, size_rate, part * (1 - own)
        turn, weights = nodes(math.sqrt(bins * noise.variance(rate)))
        logs = bins * noise.distribution(rate).log_tilted_wave(θ * step, turn)
        return log_single(logs, weights, θ, step)
