"""The kinds of audit this service knows, by name."""

from collections.abc import Mapping

from api.audits.kind import AudienceFacts, Kind
from api.audits.score_histogram import ScoreHistogram
from api.platform import Platform

KINDS: Mapping[str, Kind] = {"score-histogram": ScoreHistogram()}

__all__ = ["KINDS", "AudienceFacts", "Kind", "offered"]


def offered(platform: Platform) -> list[str]:
    """The kinds that this platform's capabilities carry."""
    return ["score-histogram"] if platform.scores is not None else []
