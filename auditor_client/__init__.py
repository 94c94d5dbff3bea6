"""Audit a platform's relevance estimators under differential privacy.

    from auditor_client import Auditor

    auditor = Auditor.from_profile("demo")

See `Auditor` for what a researcher can do, `Regulator` for what a regulator can, and
`auditor_client.errors` for the tree of errors.
"""

from auditor_client.audiences import NamedAudience
from auditor_client.auditor import Auditor
from auditor_client.balance_histogram import BalanceHistogram
from auditor_client.errors import (
    AuditFailedError,
    AuditorError,
    BudgetExhaustedError,
    CommitmentError,
    ConnectionBrokenError,
    InputError,
    ProblemError,
    ReceiptError,
)
from auditor_client.finished import FinishedAudit
from auditor_client.keys import new_key
from auditor_client.match_count import MatchCount
from auditor_client.most_skewed import MostSkewed
from auditor_client.profiles import save_profile
from auditor_client.regulator import Regulator
from auditor_client.score_cdf import ScoreCdf

__all__ = [
    "AuditFailedError",
    "Auditor",
    "AuditorError",
    "BalanceHistogram",
    "BudgetExhaustedError",
    "CommitmentError",
    "ConnectionBrokenError",
    "FinishedAudit",
    "InputError",
    "MatchCount",
    "MostSkewed",
    "NamedAudience",
    "ProblemError",
    "ReceiptError",
    "Regulator",
    "ScoreCdf",
    "new_key",
    "save_profile",
]
