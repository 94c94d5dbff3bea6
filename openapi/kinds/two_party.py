"""Contract of `two-party`: the auditor's groups stay encrypted, and the values stay at the
platform.
"""

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
    """Histogram of people's scores with soft groups (paper 1's histogram)."""

    name: Literal["score-histogram"]
    content_id: ContentId
    bins: Edges
    context: Context = {}


class SoftFalsePositives(LogRows):
    """People flagged (`predicted` above one half) although `actual` was not above one half: paper
    5's ERO.
    """

    name: Literal["false-positives"]
    predicted: Name
    actual: Name


class SoftOutcomes(LogRows):
    """Average of an outcome; with `squares` also its spread."""

    name: Literal["outcomes"]
    outcome: Name = "outcome"
    outcome_range: Range
    squares: bool = False


class SoftAuc(LogRows):
    """Scores of people with and without an outcome (`actual` above one half), by bin of the score.

    These sums give the area under the ROC curve of each group, with ties within a bin at one
    half.
    """

    name: Literal["auc"]
    score: Name = "score"
    actual: Name
    edges: Annotated[list[Score], Field(min_length=1, max_length=MAX_BINS)]


class RankedRows(Wire):
    """Rows of a log of ranked lists, and the largest counts of a person in each of two roles.

    At most `per_viewer` of a person's lists count, and at most `per_candidate` of their positions
    in lists. They are drawn at random, independently of outcomes. The catalogue (`ranking` of the
    log) states which sides are people: each such side needs a cap, and the other has None.
    """

    log: Name
    per_viewer: Cap | None = None
    per_candidate: Cap | None = None


class SoftNdcg(RankedRows):
    """Quality of the lists of viewers: NDCG of their first `length` positions (paper 5's MQOS).

    `relevance` is a numeric column of values from 0 up. A list without relevant content has no
    NDCG.
    """

    name: Literal["ndcg"]
    per_viewer: Cap
    relevance: Name = "outcome"
    length: Annotated[int, Field(ge=1, le=100)] = 10


class SoftLot(RankedRows):
    """Excess value of people over their neighbour in a list, by rank: one side of paper 5's LOT.

    One pair of neighbours of each list counts, at one of the first `ranks`, drawn at random. It
    counts for the person on the `side`: above, or below.
    """

    name: Literal["lot"]
    per_candidate: Cap
    relevance: Name = "outcome"
    relevance_range: Range
    ranks: Annotated[int, Field(ge=2, le=100)] = 10
    side: Literal["above", "below"] = "above"


class SoftPot(RankedRows):
    """Outcomes near reference `points` of the score, by a Gaussian kernel of this `bandwidth`.

    Every position of a list counts separately, at most `per_viewer` of them for a viewer.
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
    """A metric for hard or soft groups that only the auditor knows (paper 5).

    The audience is one group of identifiers whose order is kept (`ordered`), or a hidden audience.
    The auditor sends an encrypted weight of each row for each of `hidden_groups`, from 0 to
    `weight_scale`, with a sum per row of at most `weight_scale`. The platform adds up weights times
    values, with noise of scale reach / epsilon. It cannot see whether the weights are as declared.
    So the price `assumes` this, a mandate must name this kind, and a regulator opens runs.
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
        Field(title="Metric", description="The metric that is computed for each hidden group."),
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
            description="Weights are rounded to multiples of 1 / scale.",
            ge=1,
            le=1_000_000,
        ),
    ] = 1_000
    epsilon: CountEpsilon

    @property
    def content_ids(self) -> tuple[str, ...]:
        return (self.metric.content_id,) if isinstance(self.metric, SoftHistogram) else ()


class TwoPartyRelease(Released):
    """Result of the parties, and the hash of all their messages, which include the encrypted sums.

    Sums are for `hidden_groups` by `cells`, over `rows` rows of the upload that matched
    somebody.
    """

    kind: Literal["two-party"]
    metric: SoftMetric
    hidden_groups: int
    weight_scale: int
    rows: int
    cells: list[str]
    transcript: Digest


class TwoPartyRun(Wire):
    """Progress of a two-party audit, in public numbers only.

    `terms` are the terms of the computation, in the bytes to which messages are bound. The auditor
    seals the key of each run to the regulator's key: compare it with the one that you trust.
    Messages are counted in both directions; the terms determine their number. After the run is
    `answered`, the sums of this charge exist, and no others ever will. They are delivered when
    nothing is `awaited`. The regulator's opening is awaited if the run is drawn for it.
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
    """Stored run, for a regulator to open. Its messages are at `/messages`, each after its length.

    Its key had to be sealed to `sealed_to`, the public key (`x` of the JWK) that this regulator had
    when the run began. Nobody else can open it, and nobody else may state its findings.
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
    """Findings of a regulator in the run of this transcript: empty if the auditor was honest."""

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
