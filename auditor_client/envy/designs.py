"""Designs: the number of targets and of audits per person, for given people or power.

If one person may take part more often, fewer people fill more lots, but the noise grows at the same
rate. For a given epsilon, more than a few audits per person gain little. A design prefers fewer
targets, because each of them may lose reward.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

from auditor_client.envy.decision_rule import SampleRule
from auditor_client.envy.lots import noise_rate, people_needed, unfilled_probability
from auditor_client.envy.sample_size import sample_needed, sample_rule, targets_least
from auditor_client.errors import InputError

PER_PERSON = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 25, 32, 40, 50, 64, 80, 100)
# Shares of lots that may lack people: a smaller share needs more people, a larger one more lots.
_SHARES = (0.0001, 0.001, 0.003, 0.01, 0.02)
# Limits that a service sets.
_MOST_TARGETS, _MOST_PAIRS = 10_000, 500_000
# A larger r must save enough people to justify its targets.
_WORTH_IT = 1.1


@dataclass(frozen=True)
class CertificateGoal:
    """Claim that a certificate should support, with its price and its probability."""

    epsilon: float = 1.0
    sampled: bool = False
    delta: float = 0.05
    gamma: float = 0.1
    lam: float = 0.1
    power: float = 0.9
    uncertified: float = 0.0

    def __post_init__(self) -> None:
        if not self.epsilon > 0:
            raise InputError(f"epsilon must be greater than 0, not {self.epsilon:g}.")

    def rule(self, targets: int, each: int) -> SampleRule:
        """Return the rule for these targets, with the noise for their lots."""
        rate = noise_rate(self.epsilon, each, sampled=self.sampled)
        return sample_rule(targets, delta=self.delta, gamma=self.gamma, lam=self.lam, noise=rate)

    def needed(self, each: int, share: float) -> SampleRule:
        """Return the rule that has enough power if this share of lots lacks people."""
        return sample_needed(
            delta=self.delta,
            gamma=self.gamma,
            lam=self.lam,
            noise=noise_rate(self.epsilon, each, sampled=self.sampled),
            power=self.power,
            uncertified=self.uncertified + share,
        )

    @property
    def shares(self) -> tuple[float, ...]:
        return tuple(share for share in _SHARES if self.uncertified + share < self.lam)


@dataclass(frozen=True)
class EnvyDesign:
    """Targets and arms (`rule`), the audits per person, and the number of people."""

    rule: SampleRule
    arms_per_person: int
    people: int
    uncertified: float = 0.0

    @property
    def unfilled(self) -> float:
        """The probability that a lot lacks people and does not run."""
        return unfilled_probability(
            self.people, self.rule.targets, self.rule.arms, self.arms_per_person
        )

    @property
    def chance(self) -> float:
        """The probability of the certificate for a platform that deserves it."""
        return self.rule.chance(min(self.uncertified + self.unfilled, 1.0))


def design(
    wanted: CertificateGoal, *, people: int | None = None, arms_per_person: int | None = None
) -> EnvyDesign:
    """Return the design for this number of people (default: a design that needs few)."""
    choices = PER_PERSON if arms_per_person is None else (arms_per_person,)
    if people is None:
        return _with_few_people(wanted, choices)
    return _with_these_people(wanted, people, choices)


def _with_few_people(wanted: CertificateGoal, choices: tuple[int, ...]) -> EnvyDesign:
    """Return the design of the smallest r that needs hardly more people than the best r."""
    found: list[EnvyDesign] = []
    for each in choices:
        best = min(_powerful(wanted, each), key=lambda one: one.people, default=None)
        if best is None:
            break
        found.append(best)
        # If two larger values did not help, none will: targets grow at the same rate as filled
        # lots.
        if len(found) > 2 and best.people > 0.98 * found[-3].people:
            break
    if not found:
        raise InputError(
            "No number of targets gives this power. Allow a larger lam, or more epsilon."
        )
    fewest = min(one.people for one in found)
    return next(one for one in found if one.people <= _WORTH_IT * fewest)


def _powerful(wanted: CertificateGoal, each: int) -> Iterator[EnvyDesign]:
    for share in wanted.shares:
        try:
            rule = wanted.needed(each, share)
        except InputError:
            continue
        if each <= rule.targets and _allowed(rule):
            people = people_needed(rule.targets, rule.arms, each, share)
            yield EnvyDesign(rule, each, people, wanted.uncertified)


def _with_these_people(
    wanted: CertificateGoal, people: int, choices: tuple[int, ...]
) -> EnvyDesign:
    """Return the fewest targets with enough power, or the most powerful design."""
    tried = product(choices, wanted.shares)
    found = [one for each, share in tried for one in _filled(wanted, people, each, share)]
    if not found:
        least = _fewest_at_all(wanted, choices)
        raise InputError(
            f"{people} people are too few: at least {least} must take part, and more for "
            "a likely certificate. Larger gamma and lam need fewer people.",
            case="few-people",
        )
    enough = [one for one in found if one.chance >= wanted.power]
    if enough:
        return min(enough, key=lambda one: (one.rule.targets, one.arms_per_person))
    return max(found, key=lambda one: one.chance)


def _filled(wanted: CertificateGoal, people: int, each: int, share: float) -> Iterator[EnvyDesign]:
    """Return the largest design that these people fill, or the smallest with enough power."""
    low, high = max(targets_least(wanted.delta, wanted.lam), each), _MOST_TARGETS + 1
    if not _fits(wanted, people, low, each, share):
        return
    while high - low > 1:
        middle = (low + high) // 2
        fits = _fits(wanted, people, middle, each, share)
        low, high = (middle, high) if fits else (low, middle)
    largest = EnvyDesign(wanted.rule(low, each), each, people, wanted.uncertified)
    if largest.chance >= wanted.power:
        try:
            rule = wanted.needed(each, share)
        except InputError:
            rule = largest.rule
        if each <= rule.targets <= low:
            largest = replace(largest, rule=rule)
    yield largest


def _fits(wanted: CertificateGoal, people: int, targets: int, each: int, share: float) -> bool:
    rule = wanted.rule(targets, each)
    return _allowed(rule) and unfilled_probability(people, targets, rule.arms, each) <= share


def _fewest_at_all(wanted: CertificateGoal, choices: tuple[int, ...]) -> int:
    targets = targets_least(wanted.delta, wanted.lam)
    each = min(max(choices), targets)
    return people_needed(targets, wanted.rule(targets, each).arms, each, max(wanted.shares))


def _allowed(rule: SampleRule) -> bool:
    return rule.targets <= _MOST_TARGETS and rule.targets * rule.arms <= _MOST_PAIRS
