"""Results of an audit or a study as one document, `results.json`, the source of all tables.

The format has a version; docs/how-to/researchers/run-a-study-file.md describes it. Infinite
numbers, such as an impact ratio, are null. Limits hold with probability 1 - delta within each
family: all pairs, all drivers, and all pairs of one metric.
"""

import math
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from auditor_client.errors import InputError
from auditor_client.fairness.metric_selection import Metric
from openapi.resources import AuditKind, Currency

Format = Literal["platform-auditor/results/v1"]
FORMAT: Format = "platform-auditor/results/v1"


class ResultsPart(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Gap(ResultsPart):
    """Fairness gap: `low` and `high` hold together, `at_least` and `at_most` each alone."""

    more: str
    less: str
    scores: str
    value: float
    low: float
    high: float
    at_least: float
    at_most: float


class ThresholdFound(ResultsPart):
    """The largest gap of shares above one edge; null `scores_from`: that of scores in no bin."""

    more: str
    less: str
    scores_from: float | None
    value: float
    low: float
    high: float
    at_least: float
    at_most: float


class ImpactFound(ResultsPart):
    """The worst impact ratio, above edges that `least_share` of a group may reach.

    `scores_from` is null where there is no such edge.
    """

    worse: str
    better: str
    scores_from: float | None
    least_share: float
    value: float
    low: float
    high: float
    at_least: float
    at_most: float
    four_fifths: Literal["passes", "fails", "inconclusive"]


class DriverFound(ResultsPart):
    """Share of the first group minus that of the second, among people with these scores."""

    first: str
    second: str
    scores: str
    value: float
    low: float
    high: float


class MetricFound(ResultsPart):
    """One metric of one pair of groups, the first compared with the second; `fair` is equality.

    Positions of scores within their bins may change it by up to `rounding` in either direction.
    """

    metric: Metric
    at: float | None
    first: str
    second: str
    value: float | None
    low: float | None
    high: float | None
    fair: float
    rounding: float
    four_fifths: Literal["passes", "fails", "inconclusive"] | None
    words: str


class AssumptionFound(ResultsPart):
    """One assumption: whether it holds; null if no release can tell."""

    name: str
    holds: bool | None
    words: str


class GroupPeople(ResultsPart):
    """Number of scored people of a group, and its source."""

    group: str
    people: int
    known: Literal["known", "noisy", "estimated"]


class ContentFound(ResultsPart):
    title: str | None
    digest: str


class AuditFound(ResultsPart):
    """One audit. `gap`, `threshold`, `impact`, `pairs`, `drivers` and `assumptions` are of score
    histograms.

    `sentence` is the answer, with the verdict first if the kind has one. `entry` is the number of
    its release in the ledger, from its receipt's proof; `checked` states whether this machine
    verified the proof. `numbers` are the released numbers of other kinds.
    """

    name: str
    audit: str
    kind: AuditKind
    released_at: datetime
    service: str | None
    contents: tuple[ContentFound, ...]
    audience: str
    model: str | None
    entry: int | None
    checked: bool
    debit: str
    currency: Currency
    alpha: float
    delta: float
    verdict: Literal["fair", "unfair", "inconclusive"] | None = None
    sentence: str = ""
    words: str = ""
    gap: Gap | None = None
    threshold: ThresholdFound | None = None
    impact: ImpactFound | None = None
    people: tuple[GroupPeople, ...] = ()
    pairs: tuple[Gap, ...] = ()
    drivers: tuple[DriverFound, ...] = ()
    metrics: tuple[MetricFound, ...] = ()
    assumptions: tuple[AssumptionFound, ...] = ()
    numbers: dict[str, Any] = {}


class ConsistencyFound(ResultsPart):
    """Result of a test whether releases can come from one model, with its false-alarm
    probability.
    """

    audits: tuple[str, ...]
    relation: Literal["repeat", "same-people", "edited", "halves"]
    verdict: Literal["consistent", "irreconcilable", "too alike"]
    p_value: float
    false_alarm: float
    words: str


class CanariesFound(ResultsPart):
    """One check by canaries: whether they were scored, or the deliveries that they saw."""

    audit: str
    check: Literal["presence", "field"]
    groups: tuple[str, ...]
    verdict: Literal["consistent", "irreconcilable", "inconclusive"]
    p_value: float
    false_alarm: float
    words: str


class Registered(ResultsPart):
    """Entry that names the study; `first`: whether nothing was released before it."""

    entry: int
    at: datetime
    by: str
    first: bool | None


class StudyFound(ResultsPart):
    """A study; its verdicts share `delta`, so each audit has its own part of it."""

    title: str
    question: str
    digest: str
    alpha: float
    delta: float
    registration: Registered | None = None


class Results(ResultsPart):
    """The whole results document."""

    format: Format = FORMAT
    study: StudyFound | None = None
    audits: tuple[AuditFound, ...]
    consistency: ConsistencyFound | None = None
    canaries: tuple[CanariesFound, ...] = ()

    def to_json(self) -> str:
        return self.model_dump_json(indent=1) + "\n"

    def to_latex(self) -> str:
        """Return a table of the gaps and metrics, in plain LaTeX."""
        from auditor_client.reporting.latex import table

        return table(self)

    def save(self, path: str | Path) -> Path:
        Path(path).write_text(self.to_json(), encoding="utf-8")
        return Path(path)

    @classmethod
    def load(cls, path: str | Path) -> "Results":
        try:
            return cls.model_validate_json(Path(path).read_bytes())
        except OSError as error:
            raise InputError(f"{path} cannot be read: {error.strerror}.") from error
        except ValidationError as error:
            raise InputError(
                f"{path} is not a file of results, format {FORMAT}.", case="not-a-results-file"
            ) from error


def finite(number: float) -> float | None:
    """Return the number, or None if it is infinite: JSON has no infinity."""
    return number if math.isfinite(number) else None
