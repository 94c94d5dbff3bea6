"""Number of people per group that an audit needs, by several guarantees.

    lemma-5.1   non-private                    n >= 2/α² · ln(2|A||Y|/δ)       [IKH23, eq. 7]
    theorem-1   noise Lap(1/ε), ε > α/2        n >= 8/α² · ln(3|A||Y|/δ)       [IKH23, eqs. 6, 8]
    exact       discrete Laplace or Gaussian   exact tails, certified
                                               (`certified_error`, `monotone_tail_bound`)

These guarantee |EFG - FG| <= α with probability 1 - δ. Appendix A of the paper interprets them as
FG <= α whenever EFG <= α, but sets t = α/2 although it needs t <= (α - EFG)/2: as printed, an EFG
of α allows FG <= 2α. `verdict_size` answers the question of a study: the number of people at which
a fair platform is called fair, and one with a gap of 2α unfair. `inverse` has the inverse
functions.

Noise is discrete Laplace noise of scale 1/`epsilon` (None: no noise at all), or, with
`mechanism="discrete-gaussian"`, discrete Gaussian noise of variance 1/(2·`rho`); epsilon is then
ignored.

[IKH23] Imana, Korolova, Heidemann, CSCW 2023, §5.2 and Appendix A.
"""

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal

from auditor_client.fairness.gap import Criterion, check_criterion
from auditor_client.fairness.worst_impact import FOUR_FIFTHS, LEAST_SHARE
from auditor_client.planning import certified_error
from auditor_client.planning.audiences import AudienceSource, planned_audit
from auditor_client.planning.fast_power import estimate_power
from auditor_client.planning.monotone_tail_bound import Envelope
from auditor_client.planning.noise import Mechanism, Planned
from auditor_client.planning.power_simulation import AuditDesign, SizeKind, reaches_power
from auditor_client.planning.root_finding import find_least_whole, find_people
from auditor_client.stats.noise import Epsilon, variance
from auditor_client.stats.share_distribution import Estimator

Method = Literal["lemma-5.1", "theorem-1", "exact"]

# Sizes up to _FEW are certified one by one, down to _MOST_SINGLE below the envelope's size.
_FEW = 320
_MOST_SINGLE = 64


def sample_size(
    alpha: float,
    delta: float,
    groups: int,
    bins: int,
    epsilon: Epsilon | None = 1.0,
    method: Method = "exact",
    sizes: SizeKind = "known",
    match_rate: float = 1.0,
    *,
    mechanism: Mechanism = "discrete-laplace",
    rho: Epsilon | None = None,
    audience: AudienceSource | None = None,
) -> int:
    """Return the people per group for |EFG - FG| <= alpha with probability at least 1 - delta.

    "exact" is proved for the returned number and every larger one, for equally large groups; for
    other groups use `promise_holds`. `audience` is the origin of the people, which determines sizes
    and noise as in the service's prices (`audiences`); it replaces `sizes`. A sample drawn by the
    platform has twice the scale of noise. With `match_rate` below one, the answer is the number to
    upload. The two printed bounds do not cover noisy sizes: only "exact" uses `sizes`.
    """
    check_question(alpha, delta, groups, bins, match_rate)
    sizes, noise = planned_audit(audience, sizes, mechanism, epsilon, rho)
    if method == "lemma-5.1":
        # min n >= 2/α² · ln(2|A||Y|/δ)   [IKH23, eq. 7]
        people = 2 / alpha**2 * math.log(2 * groups * bins / delta)
    elif method == "theorem-1":
        _check_theorem(alpha, mechanism, _rate_of(noise))
        # min n >= 8/α² · ln(3|A||Y|/δ)   [IKH23, eq. 8]
        people = 8 / alpha**2 * math.log(3 * groups * bins / delta)
    elif method == "exact":
        people = _exact(alpha, delta, groups, _estimator(bins, noise, sizes))
    else:
        raise ValueError(f'method must be "lemma-5.1", "theorem-1" or "exact", not {method!r}')
    return math.ceil(math.ceil(people) / match_rate)


def promise_holds(
    alpha: float,
    delta: float,
    people: Sequence[int],
    bins: int,
    epsilon: Epsilon | None = 1.0,
    sizes: SizeKind = "known",
    *,
    mechanism: Mechanism = "discrete-laplace",
    rho: Epsilon | None = None,
    audience: AudienceSource | None = None,
) -> bool:
    """Tell whether |EFG - FG| <= alpha is certified, up to delta, for groups of exactly these
    sizes.

    False means that there is no proof, not that the bound fails. Use it for hundreds of people: the
    time grows with the number.
    """
    check_question(alpha, delta, len(people), bins, 1.0)
    if min(people) < 1:
        raise ValueError(f"every group needs people, not {list(people)}")
    sizes, noise = planned_audit(audience, sizes, mechanism, epsilon, rho)
    return certified_error.is_certified(alpha, delta, _estimator(bins, noise, sizes), people)


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
    shape: Sequence[float] | None = None,
    method: Literal["rehearsed", "simulated"] = "rehearsed",
    mechanism: Mechanism = "discrete-laplace",
    rho: Epsilon | None = None,
    size_rho: Epsilon | None = None,
    audience: AudienceSource | None = None,
    criterion: Criterion = "distribution",
    ratios: Sequence[float] | None = None,
) -> int:
    """Return the people per group (to upload, if not all match) for verdicts at the given power.

    `criterion` defines what the verdict covers (default: every bin and every threshold). `audience`
    is the origin of the people; it replaces `sizes`. A platform with `true_gap` is called fair
    within alpha, and one with a gap of 2·alpha unfair, each in a share `power` of audits. That is a
    forecast, not a proof. It simulates 600 seeded audits of a platform whose scores are spread
    evenly (for single bins in three of them, which is harder), and approximates each interval
    (`fast_power`). "simulated" computes the intervals of 100 audits and takes seconds. `shape`, the
    shares of the bins for all people together, may replace the even spread: scores tied at few
    values need more people. `size_epsilon` is by default a quarter of epsilon, `size_rho` a
    sixteenth of rho. `ratios` are the sizes of unequal groups relative to each other, such as
    (1, 5); the answer is the size of the smallest. Four-fifths does not depend on alpha: its unfair
    platform has a ratio of .64 above one edge.
    """
    check_question(alpha, delta, groups, bins, match_rate)
    check_power(power)
    if not 0 <= true_gap < alpha:
        raise ValueError(
            f"true_gap must lie between 0 and alpha, not {true_gap}: no power is enough"
        )
    check_criterion(criterion)
    sizes, noise = planned_audit(audience, sizes, mechanism, epsilon, rho, size_epsilon, size_rho)
    design = make_design(alpha, delta, groups, bins, noise, sizes, shape, criterion, ratios)
    find = _simulated_size if method == "simulated" else fast_size
    return math.ceil(find(design, power, true_gap) / match_rate)


def make_design(
    alpha: float,
    delta: float,
    groups: int,
    bins: int,
    noise: Planned,
    sizes: SizeKind,
    shape: Sequence[float] | None = None,
    criterion: Criterion = "distribution",
    ratios: Sequence[float] | None = None,
    least_share: float = LEAST_SHARE,
) -> AuditDesign:
    """Return the design of the simulated audits."""
    check_question(alpha, delta, groups, bins)
    check_criterion(criterion)
    if ratios is not None and (len(ratios) != groups or min(ratios) <= 0):
        raise ValueError(f"ratios must hold {groups} positive sizes, not {list(ratios)}")
    if criterion == "four-fifths" and bins < 2:
        raise ValueError("four-fifths needs an edge: use at least two bins")
    relative: tuple[float, ...] = ()
    if ratios is not None and len(set(ratios)) > 1:
        relative = tuple(float(ratio) / min(ratios) for ratio in ratios)
    known = None if shape is None else tuple(float(share) for share in shape)
    if known and (len(known) != bins or min(known) < 0 or abs(sum(known) - 1) > 1e-6):
        raise ValueError(f"shape must hold {bins} shares that add up to one")
    return AuditDesign(
        alpha, delta, groups, bins, noise.bins, sizes, noise.size, 1, known, criterion,
        relative, least_share,
    )  # fmt: skip


def fast_size(design: AuditDesign, power: float, true_gap: float) -> int:
    """Return the smallest number with this power for both verdicts."""
    people = find_people(
        lambda n: estimate_power(design, n, true_gap, "fair"), power, _guess(design, true_gap)
    )
    if estimate_power(design, people, unfair_gap(design), "unfair") >= power:
        return people
    found = find_people(
        lambda n: estimate_power(design, n, unfair_gap(design), "unfair"), power, people
    )
    return max(found, people)


def unfair_gap(design: AuditDesign) -> float:
    """Return the gap that the verdict must call unfair: twice the tolerated gap.

    By four-fifths it is a ratio as far below 4/5 as 1 is above it, in logarithms.
    """
    return unfair_gap_of(design.alpha, design.criterion)


def unfair_gap_of(alpha: float, criterion: Criterion) -> float:
    """Return the same for a tolerated gap and a criterion."""
    return 1 - FOUR_FIFTHS**2 if criterion == "four-fifths" else min(2 * alpha, 1.0)


def _simulated_size(design: AuditDesign, power: float, true_gap: float) -> int:
    def share(people: int) -> float:
        fair = reaches_power(design, people, true_gap, "fair", power)
        return (
            1.0
            if fair and reaches_power(design, people, unfair_gap(design), "unfair", power)
            else 0.0
        )

    low = fast_size(design, power, true_gap)
    while share(low):
        low = math.floor(low / 1.04)
    while not share(low):
        low = math.ceil(low * 1.02)
    return low


@lru_cache(maxsize=256)
def _exact(alpha: float, delta: float, groups: int, estimator: Estimator) -> int:
    """Return the smallest found number such that it and every larger one are certified.

    `Envelope` proves all numbers from some number on; below it, `certified_error` proves them one
    by one.
    """
    envelope, pairs = Envelope(alpha, estimator), groups * (groups - 1) // 2

    def level(people: int) -> float:
        return (delta - groups * envelope.unsized(people)) / pairs

    def spare(people: int) -> float:
        room = envelope.room(people, level(people)) if level(people) > 0 else 0.0
        return math.log(room) if room > 0 else -math.inf

    # Chernoff's bound for three equal bins
    guess = math.ceil(0.9 * math.log(6 * pairs / delta) / alpha**2)
    least = people = find_least_whole(spare, guess)
    if least <= _FEW:
        # With much slack, few boxes are enough, and exact tails recover the rest.
        people += math.ceil(least / 100)
    while not envelope.holds(people, level(people)):
        people += math.ceil(people / 200)
    fewest = max(people - _MOST_SINGLE, 1) if least <= _FEW else people
    return certified_error.least_certified(alpha, delta, estimator, groups, range(fewest, people))


def _estimator(bins: int, noise: Planned, sizes: SizeKind) -> Estimator:
    return Estimator(bins, noise.bins, sizes, noise.size)


def _guess(design: AuditDesign, true_gap: float) -> int:
    # Two normal deviations of about 1.65 and 1.96 within alpha - true_gap, at share 1/2
    if design.criterion == "four-fifths":
        return 500
    room = (design.alpha - true_gap) / 3.6
    spread = 2 * variance(design.rate)
    return math.ceil((0.25 + math.sqrt(0.0625 + spread * room**2)) / room**2) + 5


def _check_theorem(alpha: float, mechanism: Mechanism, rate: float) -> None:
    if mechanism != "discrete-laplace":
        raise ValueError('Theorem 1 is about Laplace noise: ask for method="exact"')
    if rate <= alpha / 2:
        raise ValueError(
            f"Theorem 1 assumes epsilon > alpha/2 = {alpha / 2:g} (the noise must be "
            f"smaller than the gap to find), but epsilon is {rate:g}: use more epsilon or "
            "a larger alpha"
        )


def _rate_of(noise: Planned) -> float:
    return noise.bins if isinstance(noise.bins, float) else math.inf


def check_power(power: float) -> None:
    """Refuse a power outside (0, 1)."""
    if not 0 < power < 1:
        raise ValueError(f"power must lie between 0 and 1, not {power}")


def check_question(
    alpha: float, delta: float, groups: int, bins: int, match_rate: float = 1.0
) -> None:
    """Refuse parameters for which there is no answer."""
    if not (0 < alpha <= 1 and 0 < delta < 1):
        raise ValueError(f"alpha and delta must lie between 0 and 1, not {alpha} and {delta}")
    if groups < 2 or bins < 1:
        raise ValueError(f"at least two groups and one bin are needed, not {groups} and {bins}")
    if not 0 < match_rate <= 1:
        raise ValueError(f"match_rate must lie between 0 and 1, not {match_rate}")
