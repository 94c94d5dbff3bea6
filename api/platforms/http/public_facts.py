"""Public facts of a platform, as its adapter states them: one JSON document."""

import re
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat

from api.platforms.http.messages import PROTOCOL
from api.platforms.interfaces import Log, Platform, Ranking, Traffic

DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
Digest = Annotated[str, Field(pattern=rf"^{DIGEST.pattern}$")]
Range = tuple[FiniteFloat, FiniteFloat]
Count = Annotated[int, Field(ge=0)]


class _Facts(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ScoresFacts(_Facts):
    model_digest: Digest
    score_range: Range
    context: dict[str, Annotated[tuple[str | FiniteFloat, ...], Field(min_length=1)]] = {}


class TrafficFacts(_Facts):
    strategy: str
    random: str | None = None
    signals: tuple[str, ...] = ()
    creators: tuple[str, ...] = ()
    day: str | None = None


class RankingFacts(_Facts):
    query: str
    place: str
    candidate: str | None = None


class LogFacts(_Facts):
    person: str
    numbers: dict[str, Range] = {}
    words: dict[str, tuple[str, ...]] = {}
    model_digest: Digest | None = None
    traffic: TrafficFacts | None = None
    ranking: RankingFacts | None = None

    def log(self) -> Log:
        return Log(
            person=self.person,
            numbers=self.numbers,
            words=self.words,
            model_digest=self.model_digest,
            traffic=Traffic(**dict(self.traffic)) if self.traffic else None,
            ranking=Ranking(**dict(self.ranking)) if self.ranking else None,
        )


class PoliciesFacts(_Facts):
    policies_digest: Digest
    step_seconds: Annotated[FiniteFloat, Field(gt=0)]


class Facts(_Facts):
    """Facts of a platform; a capability that it does not have is left out."""

    protocol: Literal[1] = PROTOCOL
    name: Annotated[str, Field(min_length=1, max_length=200)]
    offers: dict[str, dict[str, Count]] = {}
    scores: ScoresFacts | None = None
    logs: dict[str, LogFacts] | None = None
    policies: PoliciesFacts | None = None
    directory: bool = False


def state_facts(platform: Platform) -> Facts:
    """Return the facts that a platform in this process would state."""
    scores, logs, policies = platform.scores, platform.logs, platform.policies
    return Facts(
        name=platform.name,
        offers={name: dict(values) for name, values in platform.people.offers().items()},
        scores=scores
        and ScoresFacts(
            model_digest=scores.model_digest,
            score_range=scores.score_range,
            context={name: tuple(values) for name, values in scores.context.items()},
        ),
        logs=logs and {name: _log_facts(log) for name, log in logs.logs().items()},
        policies=policies
        and PoliciesFacts(
            policies_digest=policies.policies_digest, step_seconds=policies.step_seconds
        ),
        directory=platform.directory is not None,
    )


def _log_facts(log: Log) -> LogFacts:
    return LogFacts(
        person=log.person,
        numbers=dict(log.numbers),
        words=dict(log.words),
        model_digest=log.model_digest,
        traffic=log.traffic and TrafficFacts(**vars(log.traffic)),
        ranking=log.ranking and RankingFacts(**vars(log.ranking)),
    )
