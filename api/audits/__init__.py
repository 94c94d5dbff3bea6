"""The kinds of audit this service knows, by name."""

from collections.abc import Mapping

from api.audits.balance_histogram import BalanceHistogram
from api.audits.bias_size import BiasSize
from api.audits.envy_freeness import EnvyFreeness
from api.audits.kind import AudienceFacts, Kind
from api.audits.log_cdf import LogCdf
from api.audits.match_count import MatchCount
from api.audits.most_skewed import MostSkewed
from api.audits.outcome_test import OutcomeTest
from api.audits.reo import Reo
from api.audits.score_cdf import ScoreCdf
from api.audits.score_histogram import ScoreHistogram
from api.audits.two_party import TwoParty
from api.platform import Platform

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
