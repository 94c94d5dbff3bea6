"""Checks of `Scores`: a score is a function of content, person and context, and of nothing else.

Scores are compared to the last bit. Suppose that a score near the edge of a bin changed with its
batch. Then one person could change how another is counted, which no price covers.
"""

import time
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from api.kernel.checks import Checks, NotApplicableError
from api.platforms.conformance.subject import TRIAL, Subject
from api.platforms.http.public_facts import DIGEST
from api.platforms.interfaces import Persons, Scores

SCORES = Checks[Subject]()
_GONE = np.array([2**40 + 7, 2**40 + 8])
_ODD: Mapping[str, Mapping[str, Any]] = {
    "an unknown kind": {**TRIAL, "kind": "conformance"},
    "no text": {**TRIAL, "title": "", "text": ""},
    "other scripts": {**TRIAL, "title": "Инженер 技術者 🛠", "text": "\u202eabc"},
    "unknown attributes": {**TRIAL, "attributes": {"conformance": "yes"}},
    "an image": {**TRIAL, "image": bytes(range(256))},
}


@SCORES.check("return one number per person, in an array as long as the request")
def score_answers_numbers(subject: Subject) -> str | None:
    persons = subject.people()
    found = np.asarray(_scores(subject).score(TRIAL, persons, subject.context))
    if found.shape != persons.shape or found.dtype.kind not in "fiu":
        return f"{len(persons)} people got {found.shape} of {found.dtype}"
    return None


@SCORES.check("return scores within `score_range`; others are counted in no bin", warns=True)
def score_is_within_the_range(subject: Subject) -> str | None:
    low, high = _scores(subject).score_range
    scores = _score(subject, subject.people())
    outside = np.count_nonzero(~((scores >= low) & (scores <= high)))
    if outside:
        return f"{outside} of {len(scores)} scores are not numbers, or are outside {low} to {high}"
    return None


@SCORES.check("state a range of two numbers, the smaller one first")
def score_range_is_one(subject: Subject) -> str | None:
    low, high = _scores(subject).score_range
    return None if np.isfinite([low, high]).all() and low < high else f"it is {low} to {high}"


@SCORES.check("answer in the order of the people that were sent")
def score_keeps_the_order(subject: Subject) -> str | None:
    persons = subject.people()
    backwards = _score(subject, persons[::-1].copy())[::-1]
    return _same(backwards, _score(subject, persons), "sent backwards")


@SCORES.check("score each row alone: no sums over the batch, and fixed shapes for matrices")
def score_does_not_depend_on_the_batch(subject: Subject) -> str | None:
    persons = subject.people()
    together = _score(subject, persons)
    alone = np.array([_score(subject, persons[i : i + 1])[0] for i in range(min(20, len(persons)))])
    halves = [_score(subject, half) for half in np.array_split(persons, 3)]
    return _same(alone, together[: len(alone)], "sent one by one") or _same(
        np.concatenate(halves), together, "sent in three batches"
    )


@SCORES.check("freeze time, randomness and exploration: the same request has the same answer")
def score_is_the_same_again(subject: Subject) -> str | None:
    first, second = (_score(subject, subject.people()) for _ in range(2))
    return _same(second, first, "sent again")


@SCORES.check("return two scores for a person who is sent twice")
def score_answers_duplicates(subject: Subject) -> str | None:
    persons = subject.people()
    return _same(
        _score(subject, np.tile(persons, 2)), np.tile(_score(subject, persons), 2), "sent twice"
    )


@SCORES.check("answer an empty batch with an empty one: the service uses it as a health check")
def score_answers_an_empty_batch(subject: Subject) -> str | None:
    found = _score(subject, np.empty(0, np.int64))
    return f"an empty batch got {len(found)} scores" if len(found) else None


@SCORES.check("return null or NaN for deleted people, not an error", warns=True)
def score_answers_people_who_are_gone(subject: Subject) -> str | None:
    found = _score(subject, _GONE)
    return "unknown people have scores" if np.isfinite(found).any() else None


@SCORES.check("refuse content for everybody or for nobody, in the empty batch too")
def score_takes_odd_content(subject: Subject) -> str | None:
    for what, content in _ODD.items():
        nobody, somebody = (
            _fails(subject, content, persons)
            for persons in (np.empty(0, np.int64), subject.people())
        )
        if somebody and not nobody:
            return f"content with {what} fails for people, but not for the empty batch"
    return None


@SCORES.check("accept every value of the context that you list, and only those")
def score_takes_every_context(subject: Subject) -> str | None:
    scores, persons = _scores(subject), subject.people()[:5]
    for name, values in scores.context.items():
        if not values:
            return f"{name} has no values"
        for value in values:
            found = scores.score(TRIAL, persons, {**subject.context, name: value})
            if len(found) != len(persons):
                return f"{name} = {value} is not scored"
    return None


@SCORES.check(
    "digest everything that decides a score, as `sha256:` and 64 hex digits; keep it stable"
)
def model_digest_is_stable(subject: Subject) -> str | None:
    scores = _scores(subject)
    before = scores.model_digest
    if not DIGEST.fullmatch(before):
        return "it is not `sha256:` and 64 hex digits"
    scores.score(TRIAL, subject.people(), subject.context)
    return None if scores.model_digest == before else "it changed while people were scored"


@SCORES.check("be faster, or raise call_seconds and person_seconds in platform_options")
def score_is_in_time(subject: Subject) -> str | None:
    persons = subject.people()
    allowed = (subject.call_seconds + len(persons) * subject.person_seconds) / 2
    started = time.perf_counter()
    _score(subject, persons)
    taken = time.perf_counter() - started
    if taken > allowed:
        return f"{len(persons)} people took {taken:.1f} s; half of the time-out is {allowed:.1f} s"
    return None


def _scores(subject: Subject) -> Scores:
    if subject.platform.scores is None:
        raise NotApplicableError("there are no scores")
    return subject.platform.scores


def _score(subject: Subject, persons: Persons) -> NDArray[np.float64]:
    return np.asarray(_scores(subject).score(TRIAL, persons, subject.context), np.float64)


def _same(found: NDArray[Any], expected: NDArray[Any], how: str) -> str | None:
    if np.array_equal(found, expected, equal_nan=True):
        return None
    if found.shape == expected.shape and np.allclose(found, expected, equal_nan=True):
        return f"people {how} got scores that differ in their last bits"
    return f"people {how} got other scores"


def _fails(subject: Subject, content: Mapping[str, Any], persons: Persons) -> bool:
    try:
        _scores(subject).score(content, persons, subject.context)
    except Exception:
        return True
    return False
