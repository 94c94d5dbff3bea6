"""Contract of `two-party`: the auditor's groups stay encrypted, the values at the platform."""

from typing import Annotated, Literal

from pydantic import Field

from openapi.kinds.contract import KindContract
from openapi.kinds.inputs import Input
from openapi.kinds.released import Released
from openapi.kinds.request_fields import (
    MAX_BINS,
    MAX_ROWS,
    ContentId,
    Context,
    CountEpsilon,
    Edges,
    LogRows,
    Name,
    Range,
    RequestFields,
    Score,
)
from openapi.wire_model import Digest, Identifier, Instant, Wire, example

Cap = Annotated[int, Field(ge=1, le=MAX_ROWS)]
FindingCode = Literal[
    "transcript-altered",
    "wrong-proof",
    "key-not-of-run",
    "weight-out-of-bounds",
    "total-out-of-bounds",
    "padding-not-zero",
    "noise-out-of-bounds",
]


class SoftHistogram(Wire):
    """In which bin people's scores are: paper 1's histogram with soft groups."""

    name: Literal["score-histogram"]
    content_id: ContentId
    bins: Edges
    context: Context = {}


class SoftFalsePositives(LogRows):
    """People flagged (`predicted` above one half) although nothing was `actual`: paper 5's ERO."""

    name: Literal["false-positives"]
    predicted: Name
    actual: Name


class SoftOutcomes(LogRows):
    """The average of an outcome; with `squares` also its spread."""

    name: Literal["outcomes"]
    outcome: Name = "outcome"
    outcome_range: Range
    squares: bool = False


class SoftAuc(LogRows):
    """Scores of those with and without an outcome (`actual` above one half), by bin of the score.

    From these sums follows the area under the ROC curve of each group, ties within a bin one half.
    """

    name: Literal["auc"]
    score: Name = "score"
    actual: Name
    edges: Annotated[list[Score], Field(min_length=1, max_length=MAX_BINS)]


class RankedRows(Wire):
    """Rows of a log of ranked lists, and how often a person counts in each of two roles.

    Of a person's lists `per_viewer` count, and of their places in lists `per_candidate`, chosen by
    lot whatever came of them. Which sides are people is in the catalogue (`ranking` of the log): a
    cap is needed for either that are, and None for one that is not.
    """

    log: Name
    per_viewer: Cap | None = None
    per_candidate: Cap | None = None


class SoftNdcg(RankedRows):
    """Quality of the lists of viewers: NDCG of their first `length` places (paper 5's MQOS).

    `relevance` is a column of numbers, at least 0. A list without anything relevant has none.
    """

    name: Literal["ndcg"]
    per_viewer: Cap
    relevance: Name = "outcome"
    length: Annotated[int, Field(ge=1, le=100)] = 10


class SoftLot(RankedRows):
    """Extra value of people over their neighbour in a list, by rank: a side of paper 5's LOT.

    Of each list one pair of neighbours counts, at one of the first `ranks`, drawn by lot, and for
    the one on the `side`: above, or below.
    """

    name: Literal["lot"]
    per_candidate: Cap
    relevance: Name = "outcome"
    relevance_range: Range
    ranks: Annotated[int, Field(ge=2, le=100)] = 10
    side: Literal["above", "below"] = "above"


class SoftPot(RankedRows):
    """Outcomes near reference `points` of the score, by a Gaussian kernel of this `bandwidth`.

    Every place of a list counts by itself, `per_viewer` of them for a viewer.
    """

    name: Literal["pot"]
    per_candidate: Cap
    score: Name = "score"
    outcome: Name = "outcome"
    outcome_range: Range
    points: Annotated[list[Score], Field(min_length=1, max_length=100)]
    bandwidth: Annotated[float, Field(gt=0, allow_inf_nan=False)]


SoftMetric = Annotated[
    SoftHistogram | SoftFalsePositives | SoftOutcomes | SoftAuc | SoftNdcg | SoftLot | SoftPot,
    Field(discriminator="name"),
]


class TwoPartyRequest(RequestFields):
    """A metric by groups that only the auditor knows, hard or soft, without showing them (paper 5).

    The audience is one group of identifiers whose order is kept (`ordered`), or one that is itself
    hidden. The auditor sends, encrypted, a weight of each row for each of `hidden_groups`, from 0
    to `weight_scale`, a row's weights together at most `weight_scale`; the platform adds up weights
    times values, with noise of scale reach / epsilon, and cannot see whether the weights are as
    declared: the price `assumes` it, a mandate must name this kind, and a regulator opens runs.
    """

    model_config = example(
        kind="two-party",
        audience_id="audience_0193c2a5f0d1000000000000000002",
        metric={
            "name": "score-histogram",
            "content_id": "content_0193c2a5f0d1000000000000000001",
            "bins": {"edges": [0, 0.25, 0.5, 0.75, 1]},
        },
        hidden_groups=2,
        epsilon="1",
    )

    kind: Literal["two-party"]
    metric: Annotated[
        SoftMetric,
        Field(title="Metric", description="What is summed for each hidden group."),
        Input("set"),
    ]
    hidden_groups: Annotated[
        int,
        Field(title="Hidden groups", description="Number of hidden groups.", ge=1, le=100),
        Input("set"),
    ]
    weight_scale: Annotated[
        int,
        Field(
            title="Scale of weights",
            description="Weights are rounded to parts of it.",
            ge=1,
            le=1_000_000,
        ),
    ] = 1_000
    epsilon: CountEpsilon

    @property
    def content_ids(self) -> tuple[str, ...]:
        return (self.metric.content_id,) if isinstance(self.metric, SoftHistogram) else ()


class TwoPartyRelease(Released):
    """Result of the parties, and the hash of all their messages. It has the encrypted sums.

    Sums are of `hidden_groups` by `cells`, over `rows` rows of the upload that found somebody.
    """

    kind: Literal["two-party"]
    metric: SoftMetric
    hidden_groups: int
    weight_scale: int
    rows: int
    cells: list[str]
    transcript: Digest


class TwoPartyRun(Wire):
    """Progress of a two-party audit, in public numbers alone.

    `terms` are what both parties compute by, in the bytes that messages are bound to. The auditor
    seals the key of each run to the regulator's key: compare it with the one you trust. Messages
    are counted in both directions; how many there are follows from the terms. Once `answered`, the
    sums of this charge exist and no others ever will; they are delivered when nothing is `awaited`:
    the regulator's opening, of a run that is drawn for it.
    """

    audit_id: Identifier
    terms: str
    regulator_id: Identifier
    regulator_jwk: dict[str, str]
    opened_share: str
    messages: int
    messages_expected: int
    answered: bool
    awaited: Literal["opening"] | None = None
    transcript: Digest | None = None


class StoredRun(Wire):
    """A run as a regulator opens it. Its messages are at `/messages`, each after its length.

    Its key had to be sealed to `sealed_to`, the public key (`x` of the JWK) that this regulator had
    when the run began: nobody else can open it, and nobody else may state what is in it.
    """

    audit_id: Identifier
    auditor_id: Identifier
    regulator_id: Identifier
    sealed_to: str
    terms: str
    transcript: Digest
    messages: int
    answered_at: Instant
    awaited: Literal["opening"] | None = None


class OpeningDraft(Wire):
    """Findings of a regulator in the run of this transcript: none, if the auditor was honest."""

    model_config = example(
        audit_id="audit_0193c2a5f0d1000000000000000005",
        transcript="sha256:" + 64 * "0",
        findings=[],
    )

    audit_id: Identifier
    transcript: Digest
    findings: Annotated[list[FindingCode], Field(max_length=10)]


KIND = KindContract(
    "two-party",
    TwoPartyRequest,
    TwoPartyRelease,
    title="Two-party",
    reads="hidden groups",
    verdict=True,
)
