"""Audit a platform's relevance estimators under differential privacy.

    from auditor_client import Auditor

    auditor = Auditor.from_profile("demo")

See `Auditor` for what a researcher can do, `Regulator` for what a regulator can, and
`auditor_client.errors` for the tree of errors.
"""

from auditor_client.audiences import NamedAudience
from auditor_client.auditor import Auditor
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
from auditor_client.profiles import save_profile
from auditor_client.regulator import Regulator

__all__ = [
    "AuditFailedError",
    "Auditor",
    "AuditorError",
    "BudgetExhaustedError",
    "CommitmentError",
    "ConnectionBrokenError",
    "FinishedAudit",
    "InputError",
    "NamedAudience",
    "ProblemError",
    "ReceiptError",
    "Regulator",
    "new_key",
    "save_profile",
]
