"""Lots: the number of people who fill them, and the noise that covers everybody in them.

Each target has a lot, and one person takes part in at most r = `arms_per_person` lots, one of which
is their home. A lot runs if somebody is at home in it and it has one person more than arms. Then
one person can change r lots, twice as many in a sample that the platform draws
(docs/explanation/envy.md).
"""

from scipy import special

from auditor_client.errors import InputError

# Largest number of audits in which a service lets one person take part.
MOST_PER_PERSON = 100
# Default share of lots that may lack people.
FEW_UNFILLED = 0.01


def noise_rate(epsilon: float, arms_per_person: int, *, sampled: bool = False) -> float:
    """Return the rate of the counts' Laplace noise: 1 over its scale."""
    # Two counts change by one in each lot: L1 = 2r, or 4r if one person displaces another.
    return epsilon / (2 * arms_per_person * (2 if sampled else 1))


def unfilled_probability(people: int, targets: int, arms: int, arms_per_person: int) -> float:
    """Return the probability that a lot does not run, with this number of people taking part."""
    share, rest = arms_per_person / targets, (arms_per_person - 1) / max(targets - 1, 1)
    if people <= arms:
        return 1.0
    too_few = 1.0 - _more(people, arms, share)
    # Nobody at home, (1 - 1/M)^n; all others are then in it with probability (r-1)/(M-1).
    nobody_home = (1 - 1 / targets) ** people * _more(people, arms, rest)
    return float(min(too_few + nobody_home, 1.0))


def people_needed(targets: int, arms: int, arms_per_person: int, share: float = 0.001) -> int:
    """Return the smallest number of people such that a lot lacks people with at most this
    probability.
    """
    low, high = arms, arms + 1
    while unfilled_probability(high, targets, arms, arms_per_person) > share:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        lacking = unfilled_probability(middle, targets, arms, arms_per_person) > share
        low, high = (middle, high) if lacking else (low, middle)
    return high


def arms_per_person_for(people: int, targets: int, arms: int, share: float = FEW_UNFILLED) -> int:
    """Return the smallest r with which `people` fill the lots of these targets and arms."""
    for each in range(1, min(targets, MOST_PER_PERSON) + 1):
        if unfilled_probability(people, targets, arms, each) <= share:
            return each
    raise InputError(
        f"{people} people cannot fill the lots of {targets} targets with {arms} arms "
        "each, however often one person takes part. Use more people, or larger gamma and "
        "lam.",
        case="few-people-for-the-lots",
    )


def _more(people: int, arms: int, share: float) -> float:
    """Return P(B > arms) for B binomial (people, share)."""
    return 1.0 if share >= 1 else float(special.bdtrc(arms, people, share))
