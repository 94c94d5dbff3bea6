"""Checks of `Policies`. Rewards are requested only with permission: people are shown something."""

import numpy as np

from api.kernel.checks import Checks, NotApplicableError
from api.platforms.conformance.subject import Subject
from api.platforms.http.public_facts import DIGEST
from api.platforms.interfaces import Persons, Policies

POLICIES = Checks[Subject]()
_COURSE = "conformance"
_PEOPLE = 50


@POLICIES.check("digest the model and everybody's recommendations; state the length of a step")
def policies_are_described(subject: Subject) -> str | None:
    policies = _policies(subject)
    if not DIGEST.fullmatch(policies.policies_digest):
        return "policies_digest is not `sha256:` and 64 hex digits"
    return None if policies.step_seconds > 0 else "step_seconds is not above 0"


@POLICIES.check("return true or false for each person, and nothing for an empty batch")
def consenting_answers_everybody(subject: Subject) -> str | None:
    for persons in (subject.people(_PEOPLE), np.empty(0, np.int64)):
        found = np.asarray(_policies(subject).consenting(persons))
        if found.shape != persons.shape or found.dtype != np.bool_:
            return f"{len(persons)} people got {found.shape} of {found.dtype}"
    return None


@POLICIES.check("return rewards from 0 to 1; others are clipped", warns=True)
def rewards_are_within_0_and_1(subject: Subject) -> str | None:
    found = _rewards(subject, 0)
    inside = (found >= 0) & (found <= 1)
    return None if inside.all() else f"{np.count_nonzero(~inside)} of {len(found)} are not"


@POLICIES.check("store the answer to a numbered step, and show nobody anything twice")
def rewards_are_the_same_again(subject: Subject) -> str | None:
    first, second = _rewards(subject, 1), _rewards(subject, 1)
    return None if np.array_equal(first, second) else "repeated steps got other rewards"


def _policies(subject: Subject) -> Policies:
    if subject.platform.policies is None:
        raise NotApplicableError("there are no policies")
    return subject.platform.policies


def _rewards(subject: Subject, step: int) -> Persons:
    policies = _policies(subject)
    if not subject.explore:
        raise NotApplicableError(
            "people would be shown other recommendations: permit it with --explore"
        )
    persons = subject.people(_PEOPLE)
    persons = persons[policies.consenting(persons)]
    steps = np.full(len(persons), step)
    return np.asarray(policies.rewards(_COURSE, persons, persons[::-1].copy(), steps))
