"""The kinds of audit this service knows, by name."""

from collections.abc import Mapping

from api.kinds.balance_histogram import BalanceHistogram
from api.kinds.bias_size import BiasSize
from api.kinds.envy_freeness import EnvyFreeness
from api.kinds.log_cdf import LogCdf
from api.kinds.match_count import MatchCount
from api.kinds.most_skewed import MostSkewed
from api.kinds.outcome_test import OutcomeTest
from api.kinds.protocol import AudienceFacts, Kind
from api.kinds.reo import Reo
from api.kinds.score_cdf import ScoreCdf
from api.kinds.score_histogram import ScoreHistogram
from api.kinds.two_party import TwoParty
from api.platforms.interfaces import Platform

KINDS: Mapping[str, Kind] = {
    "score-histogram": ScoreHistogram(),
    "score-cdf": ScoreCdf(),
    "match-count": MatchCount(),
    "most-skewed": MostSkewed(),
    "balance-histogram": BalanceHistogram(),
    "outcome-test": OutcomeTest(),
    "log-cdf": LogCdf(),
    "bias-size": BiasSize(),
    "reo": Reo(),
    "envy-freeness": EnvyFreeness(),
    "two-party": TwoParty(),
}

__all__ = ["KINDS", "AudienceFacts", "Kind", "offered"]


def offered(platform: Platform) -> list[str]:
    """The kinds that this platform's capabilities carry."""
    return [name for name, kind in KINDS.items() if kind.offered_by(platform)]
