"""Certificates of envy-freeness ([DCAU22]): noisy numbers of targets with envy, and without.

Unit: one person, in every role: as a target, as an arm, and by whether they take part, match,
consent or withdraw. Model and policies are fixed public input.

Sensitivity. A person is in r = `arms_per_person` lots, and changes L = r of them (L = 2r in a
sample of exact size). A lot adds at most one to one of two counts, at most T steps, and a cost
clipped to [-T, T]. So counts move by 2L in L1, steps by L·T and the cost by 2L·T; twice that if a
person changes. docs/explanation/envy.md has the proof, and a test attains these bounds.

[DCAU22] Do, Corbett-Davies, Atif, Usunier, AAAI 2022, §4.2 (cost), §4.5 (criteria).
"""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from api.kernel.errors import NoConsentError, UnsupportedAuditError
from api.kinds.context import AuditContext
from api.kinds.envy_freeness.algorithms import BatchOutcomes, Terms, TermsError, audit_size
from api.kinds.envy_freeness.algorithms.criteria import arms_needed
from api.kinds.envy_freeness.algorithms.minimum_steps import require_enough_steps
from api.kinds.envy_freeness.exploration import explore
from api.kinds.envy_freeness.participants import DrawnLots, draw_lots, spare_arms
from api.kinds.protocol import KNOWN_AT_CHARGE, AudienceFacts, PlatformKind, plan_release
from api.platforms.interfaces import Persons, Platform, Policies
from openapi.kinds import envy_freeness as contract
from openapi.resources import EnvyFreenessRequest
from privacy.plans.envy_freeness import COST_UNIT
from privacy.tables.bounded_table import Cells, Table
from privacy.tables.membership import Membership
from privacy.waist import ReleasePlan

COUNTS, DURATION, COST = "counts", "duration", "cost"
# Bytes per arm of a target, under the bounds that need more of them.
ARM_BYTES = 2_048
# Bytes per person and lot, while lots are drawn.
BYTES_PER_LOT = 128
# Limit on targets times arms, which memory has to hold.
MAX_PAIRS = 500_000
MAX_DAYS = 366
RULES = (
    "The groups of the audience do not matter: all people count together, each once.",
    "Only people take part whose consent the auditor declared and who consent on the platform."
    " Who withdraws takes no further step, is in neither count, and is shown to nobody.",
    "A target counts as without envy only if no more of their arms withdrew than the sample of arms"
    " has to spare.",
    "The model and everybody's recommendations are fixed public input: `model_digest` is theirs.",
    "Rewards outside of 0 and 1 are clipped; one that is not a number counts as 0.",
    "The audit lasts as long as all of its steps, whatever it finds.",
)
COVERED = (
    "Everybody is covered in every role. One person takes part in the audits of at most {r}"
    " target(s), as the target of at most one and as an arm of the others. The noise hides all of"
    " these together, and also whether the person takes part or withdraws."
)


class EnvyFreeness:
    sources = KNOWN_AT_CHARGE

    def offered_by(self, platform: Platform) -> bool:
        return platform.policies is not None

    def check(
        self, request: EnvyFreenessRequest, audience: AudienceFacts, platform: Platform
    ) -> None:
        policies = policies_of(platform)
        _check_criterion(request)
        if not audience.consented:
            raise NoConsentError(
                "This audit shows people recommendations of others. Create the audience with"
                " `consented`, once all of its members have agreed. Nothing was charged."
            )
        _check_size(request, audience.members)
        _check_steps(request, policies.step_seconds)

    def plan(self, request: EnvyFreenessRequest, audience: AudienceFacts) -> ReleasePlan:
        arms_per_person_of(request)
        return plan_release(request, audience)

    def reduce(
        self,
        request: EnvyFreenessRequest,
        plan: ReleasePlan,
        contents: Sequence[Mapping[str, Any]],
        membership: Membership,
        context: AuditContext,
    ) -> Mapping[str, Table]:
        if context.journal is None:
            raise RuntimeError("An audit of envy-freeness needs a journal.")
        outcomes = explore(
            policies_of(context.platform),
            context.journal,
            terms_of(request),
            np.sort(membership.everyone()),
            lambda people, secret: drawn_from(people, request, secret),
            secrets.randbits(63),
        )
        cells = tallied(outcomes, request.steps)
        return {name: Table(each.bounds, cells[name]) for name, each in plan.items()}

    def held_bytes(self, request: EnvyFreenessRequest, audience: AudienceFacts) -> int:
        """Return the memory for the state of all arms, and for the draw of all lots."""
        draw = BYTES_PER_LOT * audience.members * arms_per_person_of(request)
        return draw + ARM_BYTES * request.targets * (request.arms + 1)

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
        return {**asked, "level": level_of(request), **counts, **sums, "unit": COST_UNIT}

    def rules(self, request: EnvyFreenessRequest, platform: Platform) -> tuple[str, ...]:
        return (*RULES, COVERED.format(r=arms_per_person_of(request)))

    def model_digest(self, request: EnvyFreenessRequest, platform: Platform) -> str | None:
        return policies_of(platform).policies_digest


def policies_of(platform: Platform) -> Policies:
    if platform.policies is None:
        raise _refused("This platform does not offer it: see `kinds` in the catalogue")
    return platform.policies


def terms_of(request: EnvyFreenessRequest) -> Terms:
    """Return the terms of each target's certificate."""
    return Terms(
        delta=level_of(request),
        epsilon=float(request.tolerance),
        alpha=float(request.alpha),
        bounds=request.bounds,
        ceiling=request.steps,
    )


def level_of(request: EnvyFreenessRequest) -> float:
    """Return each target's share of delta."""
    # OCEF(δ/(3M̃), α, ε)   [DCAU22, Algorithm 2, line 4]
    return float(request.delta) / (3 * request.targets)


def arms_per_person_of(request: EnvyFreenessRequest) -> int:
    """Return r, or raise for a request of an earlier version that does not cover its arms."""
    if request.criterion == "exact" or request.arms_per_person is None:
        raise _refused("An audit of envy-freeness that does not cover people as arms cannot run")
    return request.arms_per_person


def drawn_from(people: Persons, request: EnvyFreenessRequest, secret: int) -> DrawnLots:
    """Draw targets and arms from the people who agree; state how many arms may withdraw."""
    each = arms_per_person_of(request)
    drawn = draw_lots(people, request.targets, request.arms, each, secret)
    # Computed from the request alone: a number that depended on people would change every lot.
    spare = spare_arms(request.arms, float(request.gamma or 0), level_of(request))
    return replace(drawn, spare=spare)


def tallied(outcomes: BatchOutcomes, steps: int) -> dict[str, Cells]:
    """Return each table's cells; a withdrawn target adds steps and cost, and counts in no count."""
    cost = np.clip(np.rint(COST_UNIT * outcomes.cost), -COST_UNIT * steps, COST_UNIT * steps)
    counts = [outcomes.are("envy").sum(), outcomes.are("no-envy").sum()]
    return {
        COUNTS: np.array(counts, np.int64),
        DURATION: np.array([np.clip(outcomes.steps, 0, steps).sum()], np.int64),
        COST: np.array([cost.sum()], np.int64),
    }


def _check_criterion(request: EnvyFreenessRequest) -> None:
    if request.criterion == "exact":
        raise _refused(
            "By the exact criterion everybody is an arm of everybody else. So one person can change"
            " all outcomes, and noise that hides one person hides everything. Request the"
            " probabilistic criterion, with gamma and lam",
            case="exact-criterion",
        )
    if request.arms_per_person is None:
        raise _refused(
            "arms_per_person is missing: state in how many targets' audits one person may take part"
            " (`auditor envy-plan` proposes a number)",
            case="no-arms-per-person",
        )


def _check_size(request: EnvyFreenessRequest, members: int) -> None:
    """Refuse sizes by the upload and the request alone."""
    if members < 2:
        raise _refused(
            "An audit of envy-freeness needs at least 2 people: upload more", case="few-people"
        )
    targets, arms = _needed(request)
    if not targets <= request.targets <= members:
        raise _refused(f"targets must be from {targets} to {members}", case="targets")
    if not arms <= request.arms <= members - 1:
        raise _refused(f"arms must be from {arms} to {members - 1}", case="arms")
    if request.targets * request.arms > MAX_PAIRS:
        raise _refused(
            f"targets times arms may be at most {MAX_PAIRS}: request fewer", case="too-many-pairs"
        )
    _check_lots(request, members)


def _check_lots(request: EnvyFreenessRequest, members: int) -> None:
    """Refuse more lots than the people can fill, and more lots per person than there are."""
    each, needed = arms_per_person_of(request), request.targets * (request.arms + 1)
    if each > request.targets:
        raise _refused(
            f"arms_per_person is {each}; the limit is {request.targets}, the number of targets",
            case="arms-per-person",
        )
    if needed > each * members:
        fewest = -(-needed // each)
        raise _refused(
            f"{request.targets} targets with {request.arms} arms need at least {fewest} people at"
            f" {each} lot(s) per person; {members} identifiers were uploaded. Upload more, or raise"
            " arms_per_person, at the price of more noise",
            case="few-people-for-the-lots",
        )


def _check_steps(request: EnvyFreenessRequest, step_seconds: float) -> None:
    """Refuse too few steps to decide, and more steps than the allowed days."""
    days = request.steps * step_seconds / 86_400
    if days > MAX_DAYS:
        raise _refused(
            f"{request.steps} steps last {days:.0f} days, and at most {MAX_DAYS} are allowed",
            case="too-many-days",
        )
    try:
        require_enough_steps(terms_of(request), request.arms)
    except TermsError as error:
        raise _refused(str(error), case="too-few-steps") from error


def _needed(request: EnvyFreenessRequest) -> tuple[int, int]:
    """Return the minimum numbers of targets and arms for the criterion."""
    delta, gamma = float(request.delta), float(request.gamma or 0)
    targets, _ = audit_size(delta, gamma, float(request.lam or 0))
    return targets, arms_needed(request.targets, delta, gamma)


def _refused(why: str, *, case: str | None = None) -> UnsupportedAuditError:
    return UnsupportedAuditError(f"{why}. Nothing was charged.", case=case)


KIND = PlatformKind(contract.KIND, EnvyFreeness())
