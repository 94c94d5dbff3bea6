"""Model of a study file: all audits, their audiences, and their analysis."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Literal

from pydantic import Field, field_validator, model_validator

from auditor_client.consistency.comparability import Relation
from auditor_client.fairness.metric_selection import Metric, MetricSelection
from auditor_client.studies.audiences import Audience
from auditor_client.studies.audit_models import AnyStudyAudit
from auditor_client.studies.file_schema import (
    Edge,
    Name,
    PinnedFile,
    Share,
    StudyPart,
    Words,
    unknown,
)
from openapi.kinds.score_histogram import KIND as SCORE_HISTOGRAM
from openapi.resources import ContentKind
from privacy.receipts import canonical, digest


class StudyContent(StudyPart):
    """A trial content."""

    kind: ContentKind
    title: Words
    text: Annotated[str, Field(max_length=10_000)] = ""
    attributes: dict[Words, Words] = {}
    image: PinnedFile | None = None


class Metrics(StudyPart):
    """Metrics to report (default: all possible ones)."""

    only: list[Metric] = []
    thresholds: list[Edge] = []
    quantiles: list[Share] = [0.5]
    qualified: Words | None = None

    @model_validator(mode="after")
    def _can_be_selected(self) -> "Metrics":
        self.selection()
        return self

    def selection(self) -> MetricSelection:
        thresholds, quantiles = tuple(self.thresholds), tuple(self.quantiles)
        return MetricSelection(tuple(self.only), thresholds, quantiles, self.qualified)


class Planning(StudyPart):
    """Wanted power of the study; `auditor study check` checks that it has enough people."""

    power: Share = 0.8
    true_gap: Annotated[float, Field(ge=0, lt=1)] = 0.0
    match_rate: Annotated[float, Field(gt=0, le=1)] = 1.0


_NEEDS: dict[Relation, str] = {
    "repeat": "the same content and the same audience",
    "same-people": "the same content and the same people in different audiences",
    "edited": "different contents and the same audience",
    "halves": "the same content and different audiences",
}


def _different(things: Sequence[object]) -> int:
    return len(set(map(repr, things)))


class ConsistencyTest(StudyPart):
    """Audits whose releases are tested for consistency with one model."""

    audits: Annotated[list[Name], Field(min_length=2)]
    relation: Relation
    false_alarm: Share = 0.001

    def unfit(self, asked: Sequence[AnyStudyAudit]) -> Iterator[str]:
        """Return the reason why these audits cannot be tested, before they are paid."""
        if any(one.kind != SCORE_HISTOGRAM.name for one in asked):
            yield "consistency: only score histograms can be tested"
            return
        said = [one.model_dump() for one in asked]
        contents = _different([one["content"] for one in said])
        audiences = _different([one["audience"] for one in said])
        bins = _different([(one["bins"], one["levels"]) for one in said])
        if self.relation in ("halves", "same-people") and None in [one["bins"] for one in said]:
            yield f"consistency: {self.relation} needs bins in the file: other people, other bins"
            return
        many = len(said)
        wanted = {"repeat": (1, 1), "edited": (many, 1)}.get(self.relation, (1, many))
        if (contents, audiences, bins) != (*wanted, 1) or _different(self.audits) < many:
            yield (
                f"consistency: {self.relation} needs different audits with the same bins, "
                + _NEEDS[self.relation]
            )


class CanaryChecks(StudyPart):
    """Audit that canaries check: those in its groups, and those who watch the deliveries.

    `present` is the number of canaries in a group who certainly have an account. `shown` is a CSV
    file next to the study with columns group, shown and canaries. It is read if it exists: canaries
    report after the audit, so it is not part of the registration.
    """

    audit: Name
    present: dict[Words, Annotated[int, Field(ge=1)]] = {}
    shown: Words | None = None
    false_alarm: Share = 0.01

    @model_validator(mode="after")
    def _checks_something(self) -> "CanaryChecks":
        if not self.present and self.shown is None:
            raise ValueError("give `present` or `shown`: without them there is nothing to check")
        return self

    def unfit(self, audits: Mapping[str, AnyStudyAudit]) -> Iterator[str]:
        """Return the reason why this audit cannot be checked, before it is paid."""
        if self.audit not in audits:
            yield f"canaries: {unknown('audit', self.audit, audits)}"
        elif audits[self.audit].kind != SCORE_HISTOGRAM.name:
            yield (
                f"canaries: only score histograms can be checked, and {self.audit} is of "
                "another kind"
            )


class Study(StudyPart):
    """The whole study file. `delta` is the probability that any verdict is wrong; audits share
    it.
    """

    version: Literal[1]
    title: Words
    question: Annotated[str, Field(max_length=2_000)] = ""
    platform: Annotated[str, Field(pattern=r"^https?://\S+$", max_length=500)]
    preregister: bool = False
    alpha: Share = 0.2
    delta: Share = 0.05
    contents: dict[Name, StudyContent] = {}
    audiences: Annotated[dict[Name, Audience], Field(min_length=1)]
    audits: Annotated[dict[Name, AnyStudyAudit], Field(min_length=1, max_length=100)]
    metrics: Metrics = Metrics()
    consistency: ConsistencyTest | None = None
    canaries: CanaryChecks | None = None
    plan: Planning | None = None

    @field_validator("platform")
    @classmethod
    def _without_slash(cls, url: str) -> str:
        return url.rstrip("/")

    @model_validator(mode="after")
    def _names_are_there(self) -> "Study":
        unfit = self.canaries.unfit(self.audits) if self.canaries else ()
        if wrong := [*self._lost_names(), *unfit]:
            raise ValueError("; ".join(wrong))
        return self

    @property
    def digest(self) -> str:
        """Return the digest that registers the study: all fields with defaults, as canonical
        JSON.
        """
        whole = self.model_dump(mode="json")
        if self.canaries is None:  # studies without canaries keep their earlier digest
            del whole["canaries"]
        return digest(canonical(whole))

    @property
    def delta_each(self) -> float:
        """Return the share of delta of each audit that ends in a verdict."""
        judged = sum(asked.half.contract.verdict for asked in self.audits.values())
        return self.delta / max(judged, 1)

    def files(self) -> list[PinnedFile]:
        """Return all files that the study uses."""
        images = [content.image for content in self.contents.values() if content.image]
        return [*images, *(file for one in self.audiences.values() for file in one.files)]

    def key(self, name: str) -> str:
        """Return the idempotency key of one audit, for which the study pays once, however often it
        runs.
        """
        named = canonical({"study": self.digest, "audit": name})
        return f"study-{digest(named).removeprefix('sha256:')}"

    def _without_consent(self, audience: str) -> bool:
        return audience in self.audiences and not self.audiences[audience].consented

    def _lost_names(self) -> Iterator[str]:
        for name, asked in self.audits.items():
            if asked.audience not in self.audiences:
                yield f"audits.{name}: {unknown('audience', asked.audience, self.audiences)}"
            for content in asked.content_names:
                if content not in self.contents:
                    yield f"audits.{name}: {unknown('content', content, self.contents)}"
            explores = asked.half.contract.reads == "policies"
            if explores and self._without_consent(asked.audience):
                yield (
                    f"audits.{name}: it shows people other recommendations than their "
                    "own. If all of them agreed, write `consented: true` in "
                    f"{asked.audience}"
                )
            names = list(self.audits)
            before = {one: self.audits[one] for one in names[: names.index(name)]}
            if why := asked.unfit(before):
                yield f"audits.{name}: {why}"
        if self.consistency:
            lost = [name for name in self.consistency.audits if name not in self.audits]
            yield from (f"consistency: {unknown('audit', name, self.audits)}" for name in lost)
            if not lost:
                tested = [self.audits[name] for name in self.consistency.audits]
                yield from self.consistency.unfit(tested)
