"""Contract of `envy-freeness`: its request and its release."""

from decimal import Decimal
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from openapi.kinds.contract import KindContract
from openapi.kinds.inputs import Input
from openapi.kinds.released import Released
from openapi.kinds.request_fields import CountEpsilon, ExtraEpsilon, RequestFields
from openapi.wire_model import example

MAX_STEPS = 1_000_000
MAX_ARMS_PER_PERSON = 100
# Exact, because prices follow from it.
Share = Annotated[Decimal, Field(gt=0, le=1, decimal_places=6, allow_inf_nan=False)]


class EnvyFreenessRequest(RequestFields):
    """Whether people prefer their own recommendations to other people's (paper 2), by exploration.

    Each of at most `targets` people is shown the recommendations of `arms` others, for at most
    `steps` steps. This ends when the platform knows that some of these suit the person better than
    their own, or that none does by more than `tolerance` (the paper's epsilon). People keep a share
    1 - `alpha` of the reward of their own recommendations. The loss, at most alpha · steps for each
    target, is debited from the mandate.

    One person takes part in the audits of at most `arms_per_person` targets, as the target of at
    most one and as an arm of the others. The noise covers everybody in all of these roles, so it
    grows in proportion. A request must have `arms_per_person` and the `probabilistic` criterion,
    with `gamma` and `lam`. Only audits of earlier versions lack it, or have the criterion `exact`.
    `epsilon` is that of the counts. `duration_epsilon` and `cost_epsilon` (default: a quarter of
    `epsilon`; 0 for none) buy the sum of all steps and the reward that people lost.
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
    criterion: Annotated[
        Literal["probabilistic", "exact"],
        Field(title="Criterion", description="Audits of earlier versions may have `exact`."),
        Input("set"),
    ] = "probabilistic"
    bounds: Annotated[
        Literal["tight", "printed"],
        Field(
            title="Bounds",
            description=(
                "The shorter audit (tight), or that of the paper (printed), with the same "
                "guarantee."
            ),
        ),
    ] = "tight"
    alpha: Annotated[
        Share,
        Field(
            title="Share of reward that people may lose",
            description="The limit holds at every step of the audit.",
        ),
        Input(default="0.2"),
    ]
    tolerance: Annotated[
        Share,
        Field(
            title="Tolerated envy",
            description="Largest tolerated advantage of other people's recommendations, as reward.",
        ),
        Input(default="0.05"),
    ]
    delta: Annotated[
        Decimal,
        Field(
            title="Error probability δ",
            description="Probability of a wrong certificate, from all sources of error together.",
            gt=0,
            lt=0.5,
            decimal_places=6,
            allow_inf_nan=False,
        ),
        Input("error", default="0.05"),
    ]
    gamma: Annotated[
        Annotated[Share, Field(lt=1)] | None,
        Field(
            title="Share of others that is ignored γ",
            description="Envy of a smaller share of others is ignored.",
        ),
        Input(default="0.1", main=True),
    ] = None
    lam: Annotated[
        Annotated[Share, Field(lt=1)] | None,
        Field(
            title="Share of people who may envy λ",
            description="The largest share of envious people that the certificate allows.",
        ),
        Input(default="0.1", main=True),
    ] = None
    targets: Annotated[
        int,
        Field(
            title="People who are audited",
            description="Number of targets (default: what the noise and the audience require).",
            ge=1,
            le=10_000,
        ),
        Input(default=None),
    ]
    arms: Annotated[
        int,
        Field(
            title="Others shown to each",
            description="Number of others whose recommendations each target is shown (default: the"
            " fewest for γ).",
            ge=1,
            le=10_000,
        ),
        Input(default=None),
    ]
    steps: Annotated[
        int,
        Field(
            title="Steps of each target",
            description="Largest number of steps of one target; the audit lasts this number of "
            "steps. `auditor envy-plan` proposes it.",
            ge=1,
            le=MAX_STEPS,
        ),
    ]
    arms_per_person: Annotated[
        Annotated[int, Field(ge=1, le=MAX_ARMS_PER_PERSON)] | None,
        Field(
            title="Audits that one person takes part in",
            description=(
                "Largest number, all covered by the noise (default: the smallest that fills "
                "the audits)."
            ),
        ),
        Input(main=True),
    ] = None
    epsilon: CountEpsilon
    duration_epsilon: Annotated[
        ExtraEpsilon | None,
        Field(
            title="ε for the sum of steps",
            description="Buys the sum of all steps (default: a quarter of ε; 0 for none).",
        ),
    ] = None
    cost_epsilon: Annotated[
        ExtraEpsilon | None,
        Field(
            title="ε for the reward lost",
            description="Buys the reward that people lost (default: a quarter of ε; 0 for none).",
        ),
    ] = None

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
    """Numbers of targets who envy somebody (`envious`), and of those who envy nobody by more than
    `tolerance`.

    All numbers have noise. The other `targets` were undecided at the ceiling of `steps`, withdrew,
    or did not match anybody. `duration` is the sum of everybody's steps. `cost` is the reward that
    they lost by exploring, measured by rewards, each within -steps and steps, where `unit` units
    are 1. Each verdict is right with probability 1 - `level`. Releases of earlier versions may lack
    `arms_per_person`, or have the criterion `exact`: their `rules` state that people are not
    covered as arms.
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
    verdict=True,
)
