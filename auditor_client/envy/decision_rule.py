"""Decision rules: noisy counts that certify envy-freeness or envy, each wrong with probability at
most delta.

Every target ends in `envy`, in `no-envy`, or in neither. A target that is not certified `no-envy`
counts as uncertified, whatever the reason. The rules read a noisy number of uncertified targets and
one of envious targets. The part of delta that the bandits leave is spent on the noise and on the
draw of targets. Proofs are in docs/explanation/envy.md.

[DCAU22] Do, Corbett-Davies, Atif, Usunier, AAAI 2022, Definitions 3.1 and 3.2, §4.5, Theorem 2.
[H56] Hoeffding, On the distribution of the number of successes in independent trials, Ann. Math.
    Statist. 27(3), 1956 (lower tails of sums of unequal coins are below the binomial ones).
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from scipy import special

from auditor_client.errors import InputError
from auditor_client.stats.noise_distributions import AnyNoise, Floats, distribution
from auditor_client.stats.noise_sums import sum_quantile

_HALVINGS = 50


@dataclass(frozen=True)
class DecisionRule(ABC):
    """Rule for `targets` with `arms` each, audited at `level`, with noise on the two counts.

    `uncertified_noise` and `envy_noise` are distributions, or rates of discrete Laplace noise.
    """

    targets: int
    arms: int
    level: float
    delta: float
    uncertified_noise: AnyNoise = math.inf
    envy_noise: AnyNoise = math.inf

    def __post_init__(self) -> None:
        require_between(self.delta, "delta", 0.5)
        if self.targets < 1 or self.arms < 1:
            raise InputError(
                "Envy needs at least one target and one arm in addition to the target's own.",
                case="few-targets-or-arms",
            )
        if not self.left > 0:
            raise InputError(
                f"{self.targets} targets with {self.arms} arms at level {self.level:.3g} leave"
                f" nothing of delta {self.delta:g} for noise: lower the level, or take more arms.",
                case="nothing-left-of-delta",
            )

    @property
    @abstractmethod
    def left(self) -> float:
        """Return the part of delta left for the draw of targets and the noise of a certificate."""

    @abstractmethod
    def wrong_up_to(self, count: int) -> float:
        """Return the probability of at most `count` noisy uncertified targets if the claim is
        false.
        """

    @property
    def certify_up_to(self) -> int:
        """Largest noisy number of uncertified targets for the certificate; it may be below 0."""
        # Noise alone: P(Z <= -q) <= the remaining delta; and no more than all targets are
        # uncertified.
        low = -sum_quantile(((1, self.uncertified_noise, 1),), self.left)
        high = self.targets + 1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.wrong_up_to(middle) <= self.left else (low, middle)
        return low

    @property
    def envy_from(self) -> int:
        """Smallest noisy number of envious targets that shows that somebody envies."""
        return sum_quantile(((1, self.envy_noise, 1),), self._left_for_envy)

    def envious_at_least(self, count: int) -> int:
        """Return a lower limit of the number of envious targets, given their noisy count."""
        return min(max(count - self.envy_from + 1, 0), self.targets)

    def chance(self, uncertified: float = 0.0) -> float:
        """Return the certificate's probability if each target stays uncertified with probability
        `uncertified`.
        """
        masses = _binomial(self.targets, uncertified)
        beyond = self.certify_up_to + 1 - np.arange(self.targets + 1)
        return float(1 - masses @ distribution(self.uncertified_noise).tail(beyond))

    @property
    def _left_for_envy(self) -> float:
        # If nobody envies, the probability that any target ends in envy is at most Σ level
        # [DCAU22, §4.5]
        return self.delta - self.targets * self.level


@dataclass(frozen=True)
class SampleRule(DecisionRule):
    """(ε, γ, λ)-envy-freeness: at most a share `lam` of people has more than a share `gamma` of
    others whose recommendations suit them better by more than ε.
    """

    gamma: float = 0.1
    lam: float = 0.1

    def __post_init__(self) -> None:
        require_between(self.gamma, "gamma", 1)
        require_between(self.lam, "lam", 1)
        super().__post_init__()

    @property
    def left(self) -> float:
        # An (ε, γ)-envious target is certified if no arm shows it, or the bandit errs.
        return self._left_for_envy - self.targets * self._unshown

    @property
    def _unshown(self) -> float:
        """Return the probability that withdrawals may remove all arms that cause a target's envy.

        It is (1-γ)^K where no arm may withdraw, and below the level of a target in any case that a
        service allows.
        """
        up_to = np.cumsum(_binomial(self.arms, self.gamma))
        return float(max(up_to[0], *up_to[up_to <= self.level], 0.0))

    def wrong_up_to(self, count: int) -> float:
        return self._wrong(count, self.lam)

    def share_at_most(self, uncertified: int) -> float:
        """Return an upper limit, at 1 - delta, of the share of people who are (ε, γ)-envious."""
        low, high = 0.0, 1.0
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            refuted = self._wrong(uncertified, middle) <= self.left
            low, high = (low, middle) if refuted else (middle, high)
        return high

    def _wrong(self, count: int, lam: float) -> float:
        """Return an upper bound of P(A + Z <= count), where A of the drawn targets are envious, if
        more than a share `lam` of all people is.
        """
        # P(A <= k) is at most the binomial one up to k = mλ - 1, and 1 beyond   [H56]
        most = math.floor(self.targets * lam)
        masses = _binomial(self.targets, lam)
        masses = np.append(masses[:most], masses[most:].sum())
        return float(
            masses @ distribution(self.uncertified_noise).tail(np.arange(most + 1) - count)
        )


@dataclass(frozen=True)
class EverybodyRule(DecisionRule):
    """ε-envy-freeness: all people are targets, all others their arms, and nobody envies."""

    @property
    def left(self) -> float:
        return self._left_for_envy

    def wrong_up_to(self, count: int) -> float:
        # If anybody envies, at least one is uncertified: P(1 + Z <= count)
        return float(distribution(self.uncertified_noise).tail(np.array([1 - count]))[0])

    def people_at_most(self, uncertified: int) -> int:
        """Return the upper limit, at 1 - delta, of the people who envy somebody by more than ε."""
        beyond = sum_quantile(((1, self.uncertified_noise, 1),), self.left)
        return min(max(uncertified + beyond - 1, 0), self.targets)


def require_between(value: float, name: str, high: float) -> None:
    """Refuse what is not above 0 and below `high`."""
    if not 0 < value < high:
        raise InputError(f"{name} must be above 0 and below {high:g}, not {value!r}.")


def _binomial(n: int, p: float) -> Floats:
    """Return the masses of a binomial number at 0 … n."""
    k = np.arange(n + 1)
    logs = special.gammaln(n + 1) - special.gammaln(k + 1) - special.gammaln(n - k + 1)
    return np.asarray(np.exp(logs + special.xlogy(k, p) + special.xlog1py(n - k, -p)))
