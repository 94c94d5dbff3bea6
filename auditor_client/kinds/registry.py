"""The kinds of audit this SDK reads, by name."""

from auditor_client.kinds.balance_histogram.result import BalanceHistogramResult
from auditor_client.kinds.bias_size.result import BiasSizeResult
from auditor_client.kinds.envy_freeness.result import EnvyFreenessResult
from auditor_client.kinds.log_cdf.result import LogCdfResult
from auditor_client.kinds.match_count.result import MatchCountResult
from auditor_client.kinds.most_skewed.result import MostSkewedResult
from auditor_client.kinds.outcome_test.result import OutcomeTestResult
from auditor_client.kinds.reo.result import ReoResult
from auditor_client.kinds.score_cdf.result import ScoreCdfResult
from auditor_client.kinds.score_histogram.result import ScoreHistogramResult
from auditor_client.kinds.two_party.result import TwoPartyResult
from openapi.resources import AuditKind

OtherResult = (
    ScoreCdfResult
    | MatchCountResult
    | MostSkewedResult
    | BalanceHistogramResult
    | OutcomeTestResult
    | LogCdfResult
    | BiasSizeResult
    | ReoResult
    | EnvyFreenessResult
    | TwoPartyResult
)
AnyResult = ScoreHistogramResult | OtherResult
KINDS: dict[AuditKind, type[AnyResult]] = {
    "score-histogram": ScoreHistogramResult,
    "score-cdf": ScoreCdfResult,
    "match-count": MatchCountResult,
    "most-skewed": MostSkewedResult,
    "balance-histogram": BalanceHistogramResult,
    "outcome-test": OutcomeTestResult,
    "log-cdf": LogCdfResult,
    "bias-size": BiasSizeResult,
    "reo": ReoResult,
    "envy-freeness": EnvyFreenessResult,
    "two-party": TwoPartyResult,
}
