"""What a study needs, by the SDK's own planning. Computed once per question and one at a time.

Anybody may ask, so questions are within ranges whose answer takes seconds.
"""

import threading
from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeVar

from pydantic import BaseModel

from api.console.questions import POWER, Question
from api.errors import NotFoundError, UnavailableError
from auditor_client.plan import sample_size, verdict_size
from auditor_client.planning_charts import power_curve

Answer = TypeVar("Answer")

_PATIENCE = 20.0
# Where the curve is computed, as shares of the people that a verdict needs; fewer of many cells.
_SHARES, _FEW_SHARES = (0.25, 0.5, 0.75, 1.0, 1.4), (0.4, 1.0, 1.4)
_MANY_CELLS = 500
# Numbers need not wait for somebody's curve.
_numbers, _curves = threading.Semaphore(1), threading.Semaphore(1)


class Needed(BaseModel):
    """People per group; none by the theorem where it does not hold, none for a verdict of one bin.

    Theorem 1 assumes epsilon > alpha/2. With one bin all people are in it, whatever their group.
    """

    theorem: int | None
    exact: int
    verdict: int | None


def needed(question: Question) -> Needed:
    """By the paper's theorem, by exact tails, and until a verdict is likely."""
    return _alone(_numbers, _needed, question)


def curve(question: Question) -> dict[str, Any]:
    """How likely each verdict is as people are added: the SDK's chart."""
    if needed(question).verdict is None:
        raise NotFoundError("with one bin there is no verdict to wait for")
    return _alone(_curves, _curve, question)


def _alone(
    turn: threading.Semaphore, answer: Callable[[Question], Answer], question: Question
) -> Answer:
    if not turn.acquire(timeout=_PATIENCE):
        raise UnavailableError("others are planning too; try again in a minute")
    try:
        return answer(question)
    finally:
        turn.release()


@lru_cache(maxsize=512)
def _needed(question: Question) -> Needed:
    alpha, delta, epsilon = question.alpha, question.delta, question.epsilon
    cells = question.groups, question.bins
    known = (alpha, delta, *cells, epsilon)
    return Needed(
        # [IKH23, Appendix A]: the noise must be smaller than the gap looked for.
        theorem=sample_size(*known, "theorem-1") if epsilon > alpha / 2 else None,
        exact=sample_size(*known, "exact"),
        verdict=verdict_size(*known, sizes="noisy", power=POWER) if question.bins > 1 else None,
    )


@lru_cache(maxsize=128)
def _curve(question: Question) -> dict[str, Any]:
    most = _needed(question).verdict or 0
    shares = _FEW_SHARES if question.groups * question.bins > _MANY_CELLS else _SHARES
    people = sorted({max(2, round(most * share)) for share in shares})
    chart = power_curve(people, **question.model_dump(), sizes="noisy", power=POWER)
    spec: dict[str, Any] = chart.to_dict()
    return spec
