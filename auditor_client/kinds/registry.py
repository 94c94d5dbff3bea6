"""The kinds of audit this SDK reads, by name."""

from auditor_client.kinds.balance_histogram.result import BalanceHistogram
from auditor_client.kinds.bias_size.result import BiasSize
from auditor_client.kinds.envy_freeness.result import EnvyFreeness
from auditor_client.kinds.log_cdf.result import LogCdf
from auditor_client.kinds.match_count.result import MatchCount
from auditor_client.kinds.most_skewed.result import MostSkewed
from auditor_client.kinds.outcome_test.result import OutcomeTest
from auditor_client.kinds.reo.result import Reo
from auditor_client.kinds.score_cdf.result import ScoreCdf
from auditor_client.kinds.score_histogram.result import FinishedAudit
from auditor_client.kinds.two_party.result import TwoParty
from openapi.resources import AuditKind

OtherResult = (
    ScoreCdf
    | MatchCount
    | MostSkewed
    | BalanceHistogram
    | OutcomeTest
    | LogCdf
    | BiasSize
    | Reo
    | EnvyFreeness
    | TwoParty
)
AnyResult = FinishedAudit | OtherResult
KINDS: dict[AuditKind, type[AnyResult]] = {
    "score-histogram": FinishedAudit,
    "score-cdf": ScoreCdf,
    "match-count": MatchCount,
    "most-skewed": MostSkewed,
    "balance-histogram": BalanceHistogram,
    "outcome-test": OutcomeTest,
    "log-cdf": LogCdf,
    "bias-size": BiasSize,
    "reo": Reo,
    "envy-freeness": EnvyFreeness,
    "two-party": TwoParty,
}
