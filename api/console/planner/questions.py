"""Questions to the planner, and their answers.

Anybody may ask, so the ranges are limited to questions whose answers take seconds.
"""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

# Probability of each verdict on a platform that deserves it.
POWER = 0.8


class Question(BaseModel):
    """A study: tolerated gap, risk of a wrong verdict, privacy, groups and bins."""

    model_config = ConfigDict(frozen=True)

    alpha: Annotated[float, Field(ge=0.01, le=0.5)] = 0.2
    delta: Annotated[float, Field(ge=0.001, le=0.2)] = 0.05
    epsilon: Annotated[float, Field(ge=0.01, le=10)] = 1.0
    groups: Annotated[int, Field(ge=2, le=8)] = 2
    bins: Annotated[int, Field(ge=1, le=500)] = 20


class Needed(BaseModel):
    """People per group; None where Theorem 1 does not hold, and for a verdict with one bin.

    Theorem 1 assumes epsilon > alpha/2. With one bin all people are in it, whatever their group.
    """

    model_config = ConfigDict(frozen=True)

    theorem: int | None
    exact: int
    verdict: int | None


class Calculation(BaseModel):
    """One calculation of a planner process: the people needed or, with `verdict`, the curve."""

    model_config = ConfigDict(frozen=True)

    question: Question
    verdict: int | None = None


def ranges() -> dict[str, tuple[float, float]]:
    """Return the minimum and the maximum of each number in a question."""
    return {
        name: (_limit(field.metadata, "ge"), _limit(field.metadata, "le"))
        for name, field in Question.model_fields.items()
    }


def _limit(metadata: list[Any], end: str) -> float:
    found: float = next(getattr(each, end) for each in metadata if hasattr(each, end))
    return found
