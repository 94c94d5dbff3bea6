"""What a study needs, by the SDK's own planning. Computed once per question and one at a time.

Anybody may ask, so questions are within ranges whose answer takes seconds.
"""

import threading
from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeVar

from pydantic import BaseModel

from api.console.questions import Question
from api.errors import UnavailableError
from auditor_client.plan import sample_size, verdict_size
from auditor_client.planning_charts import power_curve

Answer = TypeVar("Answer")

POWER = 0.8
_PATIENCE = 20.0
_SHARES = (0.25, 0.5, 0.75, 1.0, 1.4)
_one_at_a_time = threading.Semaphore(1)


class Needed(BaseModel):
    """People per group."""

    theorem: int
    exact: int
    verdict: int


def needed(question: Question) -> Needed:
    """By the paper's theorem, by exact tails, and until a verdict is likely."""
    return _alone(_needed, question)


def curve(question: Question) -> dict[str, Any]:
    """How likely each verdict is as people are added: the SDK's chart."""
    return _alone(_curve, question)


def _alone(answer: Callable[[Question], Answer], question: Question) -> Answer:
    if not _one_at_a_time.acquire(timeout=_PATIENCE):
        raise UnavailableError("others are planning too; try again in a minute")
    try:
        return answer(question)
    finally:
        _one_at_a_time.release()


@lru_cache(maxsize=512)
def _needed(question: Question) -> Needed:
    alpha, delta, epsilon = question.alpha, question.delta, question.epsilon
    cells = question.groups, question.bins
    verdict = verdict_size(alpha, delta, *cells, epsilon, sizes="noisy", power=POWER)
    return Needed(
        theorem=sample_size(alpha, delta, *cells, epsilon, "theorem-1"),
        exact=sample_size(alpha, delta, *cells, epsilon, "exact"),
        verdict=verdict,
    )


@lru_cache(maxsize=128)
def _curve(question: Question) -> dict[str, Any]:
    most = _needed(question).verdict
    people = sorted({max(2, round(most * share)) for share in _SHARES})
    chart = power_curve(people, **question.model_dump(), sizes="noisy", power=POWER)
    spec: dict[str, Any] = chart.to_dict()
    return spec
