"""Certificates of envy-freeness (paper 2): how many targets envy somebody, and how many nobody.

Unit: one target, with all that they got from anybody's recommendations. Model and policies are
fixed public input. Every target runs to their own verdict or to the ceiling of T steps, and nobody
else's rewards move them; so a target, added or removed, moves one of the two counts by one, the sum
of steps by at most T, and the cost, which is cut, by at most T. Changed, twice that.

People as arms are not covered, unless everybody takes part in one lot alone (`taking_part`): then
whoever comes, goes or changes, as a target or as an arm, moves the outcome of one lot from anything
to anything, which is two in the counts, T in steps and 2T in cost; of two lots in a sample of exact
size, where one person displaces another. docs/envy.md has the proof.

[DCAU22] Do, Corbett-Davies, Atif, Usunier, AAAI 2022, §4.2 (cost), §4.5 (criteria).
"""

import math
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from api.audits.envy import Outcomes, Terms, TermsError, audit_size
from api.audits.envy.criteria import arms_needed
from api.audits.envy.least import require_enough_steps
from api.audits.exploring import explore
from api.audits.kind import AudienceFacts
from api.audits.taking_part import Drawn, draw_lots, draw_shared, spare_arms
from api.errors import NoConsentError, UnsupportedAuditError
from api.platform import Persons, Platform, Policies
from openapi.models import EnvyFreenessRequest
from privacy.membership import Membership
from privacy.table import Bounds, Cells, Reach, Table
from privacy.waist import DiscreteLaplace, Question

COUNTS, DURATION, COST = "counts", "duration", "cost"
# Of cost: so many units are 1 of reward.
UNIT = 1_000
# What is known about an arm of a target, under the bounds that need more of it.
ARM_BYTES = 2_048
# Targets times arms, which is what memory holds.
MAX_PAIRS = 500_000
MAX_DAYS = 366
RULES = (
    "The groups of the audience do not matter: all people count together, each once.",
    "Only people take part of whom the auditor declared consent and who consent on the platform;"
    " whoever withdraws takes no further step, is in neither count, and is shown to nobody.",
    "A target counts as without envy only if no more of their arms withdrew than the sample of arms"
    " has to spare.",
    "The model and everybody's recommendations are fixed public input: `model_digest` is theirs.",
    "Rewards outside of 0 and 1 are cut; one that is not a number counts as 0.",
    "The audit lasts as long as all of its steps, whatever it finds.",
)
AS_ARMS = (
    "Covered is what a target got from anybody's recommendations. People whose recommendations are"
    " shown to others, the arms, are not covered in that role, and so it is not covered whether"
    " somebody takes part at all, or withdraws."
)
IN_LOTS = (
    "Everybody takes part in the audit of one target at most, as the target or as an arm, and is"
    " covered in both roles."
)


class EnvyFreeness:
    def offered_by(self, platform: Platform) -> bool:
        return platform.policies is not None

    def check(
        self, request: EnvyFreenessRequest, audience: AudienceFacts, platform: Platform
    ) -> None:
        policies = policies_of(platform)
        if not audience.consented:
            raise NoConsentError(
                "people are shown other recommendations than their own: make the audience with"
                " `consented`, once all of its members agreed. Nothing was charged."
            )
        _check_size(request, audience.members)
        _check_steps(request, policies.step_seconds)

    def question(self, request: EnvyFreenessRequest, audience: AudienceFacts) -> Question:
        steps = request.steps
        bounds = {
            COUNTS: (_counts(request, audience), Fraction(request.epsilon)),
            DURATION: (_sums(request, audience, 0, steps), _share(request, "duration_epsilon")),
            COST: (
                _sums(request, audience, -UNIT * steps, UNIT * steps),
                _share(request, "cost_epsilon"),
            ),
        }
        return {
            name: DiscreteLaplace(table, epsilon)
            for name, (table, epsilon) in bounds.items()
            if epsilon > 0
        }

    def reduce(
        self,
        request: EnvyFreenessRequest,
        question: Question,
        contents: Sequence[Mapping[str, Any]],
        membership: Membership,
        platform: Platform,
    ) -> Mapping[str, Table]:
        if platform.journal is None:
            raise RuntimeError("an audit of envy needs a journal")
        outcomes = explore(
            policies_of(platform),
            platform.journal,
            terms_of(request),
            np.sort(membership.everyone()),
            lambda people, secret: drawn_from(people, request, secret),
            secrets.randbits(63),
        )
        cells = tallied(outcomes, request.steps)
        return {name: Table(each.bounds, cells[name]) for name, each in question.items()}

    def held_bytes(self, request: EnvyFreenessRequest, audience: AudienceFacts) -> int:
        """Of every target what is known about each of its arms."""
        return ARM_BYTES * request.targets * (request.arms + 1)

    def present(
        self,
        request: EnvyFreenessRequest,
        audience: AudienceFacts,
        digests: Sequence[str],
        released: Mapping[str, Cells],
    ) -> dict[str, Any]:
        left_out = {"kind", "audience_id", "mandate_id", "epsilon"}
        asked = request.model_dump(exclude=left_out | {"duration_epsilon", "cost_epsilon"})
        envious, no_envy = (int(count) for count in released[COUNTS])
        sums = {
            name: int(released[name][0]) if name in released else None for name in (DURATION, COST)
        }
        counts = {"envious": envious, "no_envy": no_envy}
        return {**asked, "level": level_of(request), **counts, **sums, "unit": UNIT}

    def rules(self, request: EnvyFreenessRequest, platform: Platform) -> tuple[str, ...]:
        return (*RULES, IN_LOTS if request.arms_per_person else AS_ARMS)

    def model_digest(self, request: EnvyFreenessRequest, platform: Platform) -> str | None:
        return policies_of(platform).policies_digest


def policies_of(platform: Platform) -> Policies:
    if platform.policies is None:
        raise _refused("this platform does not offer it: see `kinds` in the catalogue")
    return platform.policies


def terms_of(request: EnvyFreenessRequest) -> Terms:
    """What each target is promised."""
    return Terms(
        delta=level_of(request),
        epsilon=float(request.tolerance),
        alpha=float(request.alpha),
        bounds=request.bounds,
        ceiling=request.steps,
    )


def level_of(request: EnvyFreenessRequest) -> float:
    """The share of delta of one target."""
    # δ/M by the exact criterion, δ/(3M̃) by the probabilistic one   [DCAU22, §4.5]
    parts = request.targets * (1 if request.criterion == "exact" else 3)
    return float(request.delta) / parts


def drawn_from(people: Persons, request: EnvyFreenessRequest, secret: int) -> Drawn:
    """Targets and arms from those who agree, and how many of their arms may withdraw."""
    how = draw_lots if request.arms_per_person else draw_shared
    drawn = how(people, request.targets, request.arms, secret)
    return replace(drawn, spare=_spare(request, drawn.arms, len(people) - 1))


def _spare(request: EnvyFreenessRequest, arms: int, others: int) -> int:
    if request.gamma is None:
        return arms  # everybody is compared with all others who stay
    gamma = float(request.gamma)
    if arms == others:
        return math.floor(gamma * others)  # more than so many are envied, and all are arms
    return spare_arms(arms, gamma, level_of(request))


def tallied(outcomes: Outcomes, steps: int) -> dict[str, Cells]:
    """Each table's cells: whoever withdrew is in no count, but bore the steps that they took."""
    cost = np.clip(np.rint(UNIT * outcomes.cost), -UNIT * steps, UNIT * steps)
    counts = [outcomes.are("envy").sum(), outcomes.are("no-envy").sum()]
    return {
        COUNTS: np.array(counts, np.int64),
        DURATION: np.array([np.clip(outcomes.steps, 0, steps).sum()], np.int64),
        COST: np.array([cost.sum()], np.int64),
    }


def _counts(request: EnvyFreenessRequest, audience: AudienceFacts) -> Bounds:
    if request.arms_per_person is None:
        return Bounds.counts((2,), 1)
    # Each of so many lots leaves one count and enters the other.
    lots = _lots(audience)
    return _doubled((2,), Reach(2 * lots, 2 * lots**2, lots))


def _sums(request: EnvyFreenessRequest, audience: AudienceFacts, low: int, high: int) -> Bounds:
    if request.arms_per_person is None:
        return Bounds.sums((1,), low, high, 1)
    span = _lots(audience) * (high - low)
    return _doubled((1,), Reach(span, span**2, span))


def _lots(audience: AudienceFacts) -> int:
    """In how many lots one person can change something."""
    return 2 if audience.fixed_slots else 1


def _doubled(shape: tuple[int, ...], added: Reach) -> Bounds:
    """To change is to go and come: so every kind is priced."""
    return Bounds(shape, added, Reach(2 * added.l1, 4 * added.l2_squared, 2 * added.linf))


def _share(request: EnvyFreenessRequest, name: str) -> Fraction:
    """What was told, or a quarter of epsilon in whole millionths, and at least one."""
    told = getattr(request, name)
    if told is not None:
        return Fraction(told)
    return Fraction(max(1, int(request.epsilon * 1_000_000) // 4), 1_000_000)


def _check_size(request: EnvyFreenessRequest, members: int) -> None:
    """By what was uploaded alone."""
    if members < 2:
        raise _refused("envy needs at least 2 people: upload more")
    targets, arms = _needed(request, members)
    if not targets <= request.targets <= members:
        raise _refused(f"targets must be from {targets} to {members}")
    if not arms <= request.arms <= members - 1:
        raise _refused(f"arms must be from {arms} to {members - 1}")
    if request.targets * request.arms > MAX_PAIRS:
        raise _refused(f"targets times arms may be {MAX_PAIRS}: take the probabilistic criterion")
    together = request.targets * (request.arms + 1)
    if request.arms_per_person and together > members:
        raise _refused(
            f"if nobody takes part twice, {together} people are needed, and some more: upload them,"
            " or leave out arms_per_person"
        )


def _check_steps(request: EnvyFreenessRequest, step_seconds: float) -> None:
    """Neither too few to decide nor more than anybody would wait for."""
    days = request.steps * step_seconds / 86_400
    if days > MAX_DAYS:
        raise _refused(f"so many steps last {days:.0f} days, and {MAX_DAYS} are allowed")
    try:
        require_enough_steps(terms_of(request), request.arms)
    except TermsError as error:
        raise _refused(str(error)) from error


def _needed(request: EnvyFreenessRequest, members: int) -> tuple[int, int]:
    """The fewest targets and arms for the criterion."""
    if request.gamma is None or request.lam is None:
        return members, members - 1
    delta, gamma = float(request.delta), float(request.gamma)
    targets, _ = audit_size(delta, gamma, float(request.lam))
    arms = arms_needed(request.targets, delta, gamma)
    return min(targets, members), min(arms, members - 1)


def _refused(why: str) -> UnsupportedAuditError:
    return UnsupportedAuditError(f"{why}. Nothing was charged.")
