"""Contract of `envy-freeness`: its request and its release."""

from decimal import Decimal
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from openapi.kinds.contract import KindContract
from openapi.kinds.released import Released
from openapi.kinds.request_fields import RequestFields
from openapi.wire_model import MAX_EPSILON, Epsilon, example

MAX_STEPS = 1_000_000
MAX_ARMS_PER_PERSON = 100
# Exact, since prices follow from it.
Share = Annotated[Decimal, Field(gt=0, le=1, decimal_places=6, allow_inf_nan=False)]
OwnEpsilon = Annotated[Decimal, Field(ge=0, le=MAX_EPSILON, decimal_places=6, allow_inf_nan=False)]


class EnvyFreenessRequest(RequestFields):
    """Whether people prefer their own recommendations to other people's (paper 2), by exploration.

    Each of at most `targets` people is shown the recommendations of `arms` others, for at most
    `steps` steps, until it is known whether some of these suit them better than their own, or none
    by more than `tolerance` (the paper's epsilon). They keep a share 1 - `alpha` of what they would
    have had: the loss, at most alpha · steps for each target, is charged to the mandate.

    One person takes part in the audits of at most `arms_per_person` targets, as the target of one
    at most and as an arm of the others. Everybody is covered in all of these roles, so noise grows
    in proportion. A request must have it, and must ask for the `probabilistic` criterion, with
    `gamma` and `lam`. Only audits of earlier versions lack it, or have the criterion `exact`.
    `epsilon` is that of the counts. `duration_epsilon` and `cost_epsilon` (default: a quarter of
    it; 0 for none) buy the sum of all steps and the reward that people lost.
    """

    model_config = example(
        kind="envy-freeness",
        audience_id="audience_0193c2a5f0d1000000000000000002",
        alpha="0.2",
        tolerance="0.05",
        delta="0.05",
        gamma="0.2",
        lam="0.2",
        targets=21,
        arms=32,
        steps=5000,
        arms_per_person=1,
        epsilon="1",
    )

    kind: Literal["envy-freeness"]
    criterion: Literal["probabilistic", "exact"] = "probabilistic"
    bounds: Literal["tight", "printed"] = "tight"
    alpha: Share
    tolerance: Share
    delta: Annotated[Decimal, Field(gt=0, lt=0.5, decimal_places=6, allow_inf_nan=False)]
    gamma: Annotated[Share, Field(lt=1)] | None = None
    lam: Annotated[Share, Field(lt=1)] | None = None
    targets: Annotated[int, Field(ge=1, le=10_000)]
    arms: Annotated[int, Field(ge=1, le=10_000)]
    steps: Annotated[int, Field(ge=1, le=MAX_STEPS)]
    arms_per_person: Annotated[int, Field(ge=1, le=MAX_ARMS_PER_PERSON)] | None = None
    epsilon: Epsilon
    duration_epsilon: OwnEpsilon | None = None
    cost_epsilon: OwnEpsilon | None = None

    @property
    def exploration_loss(self) -> Decimal:
        return self.alpha * self.steps * self.targets

    @model_validator(mode="after")
    def _of_one_criterion(self) -> Self:
        if self.criterion == "probabilistic" and (self.gamma is None or self.lam is None):
            raise ValueError("the probabilistic criterion needs gamma and lam")
        if self.criterion == "exact" and (self.gamma is not None or self.lam is not None):
            raise ValueError("the exact criterion takes neither gamma nor lam")
        if self.criterion == "exact" and self.arms_per_person is not None:
            raise ValueError("by the exact criterion everybody is an arm of everybody else")
        return self


class EnvyFreenessRelease(Released):
    """How many targets envy somebody (`envious`), and how many nobody by more than `tolerance`.

    All numbers have noise. What is left of `targets` was undecided at the ceiling of `steps`,
    withdrew, or was nobody: not everybody matches. `duration` is the sum of everybody's steps;
    `cost` the reward that they lost by exploring, as far as rewards tell, each within -steps and
    steps, where `unit` units are 1. Each verdict is right with probability 1 - `level`. Releases of
    earlier versions may lack `arms_per_person`, or have the criterion `exact`: their `rules` say
    that people are not covered as arms.
    """

    kind: Literal["envy-freeness"]
    criterion: Literal["probabilistic", "exact"]
    bounds: Literal["tight", "printed"]
    alpha: Share
    tolerance: Share
    delta: Share
    gamma: Share | None
    lam: Share | None
    targets: int
    arms: int
    steps: int
    arms_per_person: int | None
    level: float
    envious: int
    no_envy: int
    duration: int | None
    cost: int | None
    unit: Annotated[int, Field(gt=0)]


KIND = KindContract(
    "envy-freeness",
    EnvyFreenessRequest,
    EnvyFreenessRelease,
    title="Envy-freeness",
    reads="policies",
    counted_in="people",
)
