"""What can be asked of the planner: ranges whose answers take seconds, for anybody may ask."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field


class Question(BaseModel):
    """A study: which gap is tolerated, at which risk, of how many cells, with how much noise."""

    model_config = ConfigDict(frozen=True)

    alpha: Annotated[float, Field(ge=0.1, le=0.5)] = 0.2
    delta: Annotated[float, Field(ge=0.01, le=0.2)] = 0.05
    epsilon: Annotated[float, Field(ge=0.5, le=4)] = 1.0
    groups: Annotated[int, Field(ge=2, le=4)] = 2
    bins: Annotated[int, Field(ge=2, le=50)] = 20
