"""Numbers of targets and arms that a certificate with noisy counts needs, and the cost of noise.

[DCAU22] Do, Corbett-Davies, Atif, Usunier, AAAI 2022, Algorithm 2 (a third of delta for each way to
    err; here the bandits and the arms get a third each, targets and noise together the last).
"""

import math

from auditor_client.envy.decision_rule import SampleRule, require_between
from auditor_client.errors import InputError
from auditor_client.stats.noise_distributions import AnyNoise

_MOST = 1 << 17
_SHARE = 1 / 3


def targets_least(delta: float, lam: float) -> int:
    """Return the fewest targets that a service accepts."""
    require_between(delta, "delta", 0.5)
    require_between(lam, "lam", 1)
    # M̃ = ⌈ln(3/δ)/λ⌉   [DCAU22, Algorithm 2, line 1]
    return math.ceil(math.log(1 / (_SHARE * delta)) / lam)


def sample_rule(
    targets: int,
    *,
    delta: float = 0.05,
    gamma: float = 0.1,
    lam: float = 0.1,
    noise: AnyNoise = math.inf,
) -> SampleRule:
    """Return the rule for these targets, with arms and level as in Algorithm 2."""
    for value, name, high in ((delta, "delta", 0.5), (gamma, "gamma", 1), (lam, "lam", 1)):
        require_between(value, name, high)
    # K = ⌈ln(3M̃/δ)/ln(1/(1-γ))⌉, OCEF(δ/(3M̃), α, ε)   [DCAU22, Algorithm 2, lines 3 and 4]
    arms = math.ceil(math.log(targets / (_SHARE * delta)) / -math.log1p(-gamma))
    return SampleRule(
        targets, arms, _SHARE * delta / targets, delta, noise, noise, gamma=gamma, lam=lam
    )


def sample_needed(
    *,
    delta: float = 0.05,
    gamma: float = 0.1,
    lam: float = 0.1,
    noise: AnyNoise = math.inf,
    power: float = 0.9,
    uncertified: float = 0.0,
) -> SampleRule:
    """Return the rule whose targets get a deserved certificate with probability `power`.

    Each target then stays uncertified (undecided at its ceiling, withdrawn, or in envy by less than
    counts) with the probability `uncertified`. The number is sufficient; because counts are
    integers, a slightly smaller number may be too. It is never below that of Algorithm 2, which a
    service requires.
    """
    least = targets_least(delta, lam)
    _require(power, uncertified, lam)

    def enough(targets: int) -> bool:
        rule = sample_rule(targets, delta=delta, gamma=gamma, lam=lam, noise=noise)
        return rule.chance(uncertified) >= power

    low, high = least - 1, least
    while not enough(high):
        low, high = high, 2 * high
        if high > _MOST:
            raise InputError(
                "No number of targets gives this power. Allow a larger lam, or more epsilon.",
                case="never-enough-targets",
            )
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return sample_rule(high, delta=delta, gamma=gamma, lam=lam, noise=noise)


def _require(power: float, uncertified: float, lam: float) -> None:
    require_between(power, "power", 1)
    if not 0 <= uncertified < lam:
        raise InputError(
            f"The share of targets that may stay uncertified must be below lam = {lam:g}, "
            f"not {uncertified!r}.",
            case="share-above-lam",
        )
