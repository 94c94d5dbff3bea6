"""The kinds of audit this SDK reads, by name."""

from auditor_client.balance_histogram import BalanceHistogram
from auditor_client.bias_size import BiasSize
from auditor_client.envy_audit import EnvyFreeness
from auditor_client.finished import FinishedAudit
from auditor_client.log_cdf import LogCdf
from auditor_client.match_count import MatchCount
from auditor_client.most_skewed import MostSkewed
from auditor_client.outcome_test import OutcomeTest
from auditor_client.reo_audit import Reo
from auditor_client.score_cdf import ScoreCdf
from auditor_client.two_party_audit import TwoParty
from openapi.models import AuditKind

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
