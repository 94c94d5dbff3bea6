"""Planner: calculations that anybody may request, in processes of their own.

A calculation takes up to half a minute of one core. It therefore runs outside the server, which
keeps its threads and its interpreter lock for the API. Numbers and curves have one process each, so
that numbers never wait for a curve. Both start with the first question and end with the server.

Limits: `questions` in progress or waiting in total, `per_caller` of one researcher or one network
of visitors, `listeners` that wait for an answer. Above them a question is refused at once. Equal
questions share one calculation, and answers are cached.
"""

import asyncio
import logging
from collections import Counter
from dataclasses import dataclass

from api.console.planner.answer_cache import AnswerCache
from api.console.planner.calculator import Calculator, CalculatorError
from api.console.planner.questions import Calculation, Needed, Question
from api.kernel.errors import NotFoundError, OverloadedError, UnavailableError

_CACHED = 1_024
# Seconds after which a refused caller may retry: when busy, and after a failure.
_BUSY_SECONDS, _FAILED_SECONDS = 2, 30

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class PlannerLimits:
    """Limits of the planner, as counts and seconds."""

    questions: int = 8
    per_caller: int = 2
    listeners: int = 16
    # Per question: until the caller is asked to retry, and until the calculation is ended.
    waiting_seconds: float = 25.0
    calculation_seconds: int = 60


class Planner:
    """Planner on one event loop; nothing here is called from another thread."""

    def __init__(self, limits: PlannerLimits | None = None) -> None:
        self._limits = limits or PlannerLimits()
        self._numbers = Calculator(self._limits.calculation_seconds)
        self._curves = Calculator(self._limits.calculation_seconds)
        self._answers = AnswerCache(_CACHED)
        self._running: dict[Calculation, asyncio.Task[bytes]] = {}
        self._asked: Counter[str] = Counter()
        self._listeners = 0

    def cached(self, question: Question) -> Needed | None:
        """Return the answer if it is cached."""
        found = self._answers.get(Calculation(question=question))
        return None if found is None else Needed.model_validate_json(found)

    async def needed(self, question: Question, who: str) -> Needed:
        """Return the people per group that a study needs."""
        answer = await self._answer(Calculation(question=question), who)
        return Needed.model_validate_json(answer)

    async def curve(self, question: Question, who: str) -> bytes:
        """Return the power curve as a Vega-Lite specification in JSON."""
        verdict = (await self.needed(question, who)).verdict
        if verdict is None:
            raise NotFoundError(
                "With one bin there is no verdict, so there is no curve. Use two bins or more."
            )
        return await self._answer(Calculation(question=question, verdict=verdict), who)

    async def close(self) -> None:
        """End the calculations in progress, and the processes."""
        running = list(self._running.values())
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        await asyncio.gather(self._numbers.end(), self._curves.end())

    async def _answer(self, asked: Calculation, who: str) -> bytes:
        found = self._answers.get(asked)
        if found is not None:
            return found
        if self._listeners >= self._limits.listeners:
            raise _busy()
        task = self._running.get(asked) or self._begin(asked, who)
        self._listeners += 1
        try:
            async with asyncio.timeout(self._limits.waiting_seconds):
                return await asyncio.shield(task)
        except TimeoutError:
            raise _busy() from None
        except CalculatorError as error:
            raise UnavailableError(
                f"The planner could not answer: {error}. Try again, or use fewer groups or bins.",
                headers={"Retry-After": str(_FAILED_SECONDS)},
            ) from error
        finally:
            self._listeners -= 1

    def _begin(self, asked: Calculation, who: str) -> "asyncio.Task[bytes]":
        limits = self._limits
        if len(self._running) >= limits.questions or self._asked[who] >= limits.per_caller:
            raise _busy()
        self._asked[who] += 1
        task = asyncio.create_task(self._calculate(asked))
        self._running[asked] = task
        task.add_done_callback(lambda done: self._finished(done, asked, who))
        return task

    async def _calculate(self, asked: Calculation) -> bytes:
        calculator = self._numbers if asked.verdict is None else self._curves
        return await calculator.calculate(asked)

    def _finished(self, task: "asyncio.Task[bytes]", asked: Calculation, who: str) -> None:
        del self._running[asked]
        self._asked -= Counter({who: 1})  # which drops counts of zero
        if task.cancelled():
            return
        error = task.exception()
        if error is None:
            self._answers.put(asked, task.result())
        else:
            log.error("planner.failed", extra={"error": str(error)})


def _busy() -> OverloadedError:
    return OverloadedError(
        f"The planner is busy. Try again in {_BUSY_SECONDS} s.",
        headers={"Retry-After": str(_BUSY_SECONDS)},
    )
