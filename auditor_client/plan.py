"""How many people per group an audit needs, by several promises.

    lemma-5.1   non-private                    n >= 2/α² · ln(2|A||Y|/δ)       [IKH23, eq. 7]
    theorem-1   noise Lap(1/ε), ε > α/2        n >= 8/α² · ln(3|A||Y|/δ)       [IKH23, eqs. 6, 8]
    exact       discrete Laplace, any ε        exact tails, certified          `promise`

What these promise is |EFG - FG| <= α with probability 1 - δ. Appendix A of the paper reads them as
FG <= α whenever EFG <= α, but sets t = α/2 where it needs t <= (α - EFG)/2: as printed, an EFG of
α leaves FG <= 2α. `verdict_size` answers the question a study has instead: how many people until a
fair platform is called fair, and one with a gap of 2α unfair.

[IKH23] Imana, Korolova, Heidemann, CSCW 2023, §5.2 and Appendix A.
"""

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Literal

from auditor_client.envelope import Envelope
from auditor_client.estimates import Estimator
from auditor_client.noise import Epsilon, as_rate
from auditor_client.power import Design, SizeKind, reaches
from auditor_client.promise import promise_holds

Method = Literal["lemma-5.1", "theorem-1", "exact"]

_MOST_PEOPLE = 10_000_000
# Sizes up to this many are certified one by one, as far as so many below the envelope.
_FEW = 320
_MOST_SINGLE = 64


def sample_size(
    alpha: float,
    delta: float,
    groups: int,
    bins: int,
    epsilon: Epsilon | None,
    method: Method,
    sizes: SizeKind = "known",
    match_rate: float = 1.0,
) -> int:
    """People per group so that |EFG - FG| <= alpha with probability at least 1 - delta.

    With `match_rate` below one the answer is the number to upload. The two printed bounds know
    nothing of noisy sizes: `sizes` matters to "exact" only.
    """
    _check(alpha, delta, groups, bins, match_rate)
    if method == "lemma-5.1":
        # min n >= 2/α² · ln(2|A||Y|/δ)   [IKH23, eq. 7]
        people = 2 / alpha**2 * math.log(2 * groups * bins / delta)
    elif method == "theorem-1":
        _check_theorem(alpha, as_rate(epsilon))
        # min n >= 8/α² · ln(3|A||Y|/δ)   [IKH23, eq. 8]
        people = 8 / alpha**2 * math.log(3 * groups * bins / delta)
    elif method == "exact":
        people = _exact(alpha, delta, groups, _estimator(bins, as_rate(epsilon), sizes))
    else:
        raise ValueError(f'method must be "lemma-5.1", "theorem-1" or "exact", not {method!r}')
    return math.ceil(math.ceil(people) / match_rate)


def verdict_size(
    alpha: float,
    delta: float = 0.05,
    groups: int = 2,
    bins: int = 20,
    epsilon: Epsilon | None = 1.0,
    power: float = 0.8,
    true_gap: float = 0.0,
    sizes: SizeKind = "known",
    match_rate: float = 1.0,
    *,
    size_epsilon: Epsilon | None = None,
) -> int:
    """People per group (to upload, if not all match) until verdicts come with the given power.

    A platform with `true_gap` is called fair within alpha, and one with a gap of 2·alpha unfair,
    each in a share `power` of audits. By seeded simulation (`auditor_client.power` says of what)
    with 100 audits per size, so the power reached is known to about four points. `size_epsilon` is
    a quarter of epsilon unless told.
    """
    _check(alpha, delta, groups, bins, match_rate)
    if not (0 < power < 1 and 0 <= true_gap < alpha):
        raise ValueError("power must lie between 0 and 1 and true_gap below alpha")
    rate = as_rate(epsilon)
    size_rate = rate / 4 if size_epsilon is None else as_rate(size_epsilon, "size_epsilon")
    design = Design(alpha, delta, groups, bins, rate, sizes, size_rate)

    def enough(people: int) -> bool:
        fair = reaches(design, people, true_gap, "fair", power)
        return fair and reaches(design, people, min(2 * alpha, 1.0), "unfair", power)

    return math.ceil(_least(enough, _guess(design, true_gap)) / match_rate)


@lru_cache(maxsize=256)
def _exact(alpha: float, delta: float, groups: int, estimator: Estimator) -> int:
    """The least number found such that it and every larger one is certified.

    `Envelope` proves all numbers from some number on; below it `promise` proves them one by one.
    """
    envelope, pairs = Envelope(alpha, estimator), groups * (groups - 1) // 2

    def level(people: int) -> float:
        return (delta - groups * envelope.unsized(people)) / pairs

    def likely(people: int) -> bool:
        return level(people) > 0 and envelope.room(people, level(people)) >= 1

    people = _least(likely, math.ceil(3 / alpha**2 + 2 / (alpha * min(estimator.rate, 10.0))), 1)
    while not envelope.holds(people, level(people)):
        people += math.ceil(people / 200)
    fewest = people - _MOST_SINGLE if people <= _FEW else people
    while people > max(fewest, 1) and promise_holds(
        alpha, delta, estimator, [people - 1] * groups
    ):
        people -= 1
    return people


def _estimator(bins: int, rate: float, sizes: SizeKind) -> Estimator:
    return Estimator(bins, rate, sizes, rate / 4)


def _guess(design: Design, true_gap: float) -> int:
    # Two normal deviations of about 1.65 and 1.96 within alpha - true_gap, at share 1/2
    room = (design.alpha - true_gap) / 3.6
    spread = 4.0 / min(design.rate, 10.0) ** 2
    return math.ceil((0.25 + math.sqrt(0.0625 + spread * room**2)) / room**2) + 5


def _least(enough: Callable[[int], bool], guess: int, apart: int = 0) -> int:
    """The least number of people found, to within `apart`, or to about two in a hundred."""
    low, high = guess, guess
    while not enough(high):
        low, high = high, math.ceil(high * 1.3)
        if high > _MOST_PEOPLE:
            raise ValueError(f"more than {_MOST_PEOPLE:,} people per group would be needed")
    while low == high or (low > 1 and enough(low)):
        high, low = low, math.floor(low / 1.3)
    while high - low > (apart or max(0.02 * high, 1)):
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _check_theorem(alpha: float, rate: float) -> None:
    if rate <= alpha / 2:
        raise ValueError(
            f"Theorem 1 assumes epsilon > alpha/2 = {alpha / 2:g} (the noise must be smaller than "
            f"the gap looked for), and epsilon is {rate:g}: use more epsilon or a larger alpha"
        )


def _check(alpha: float, delta: float, groups: int, bins: int, match_rate: float) -> None:
    if not (0 < alpha <= 1 and 0 < delta < 1):
        raise ValueError(f"alpha and delta must lie between 0 and 1, not {alpha} and {delta}")
    if groups < 2 or bins < 1:
        raise ValueError(f"at least two groups and one bin are needed, not {groups} and {bins}")
    if not 0 < match_rate <= 1:
        raise ValueError(f"match_rate must lie between 0 and 1, not {match_rate}")
