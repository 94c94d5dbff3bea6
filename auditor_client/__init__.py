"""Audit a platform's relevance estimators under differential privacy.

    from auditor_client import Auditor

    auditor = Auditor.from_profile("demo")

See `Auditor` for what a researcher can do, `Regulator` for what a regulator can, and
`auditor_client.errors` for the tree of errors. Planning needs neither: `verdict_size`, `power_at`
and their neighbours (docs/planning.md).
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from auditor_client.audiences.client import NamedAudience
from auditor_client.audiences.weighted import WeightedAudience
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
from auditor_client.kinds.balance_histogram.result import BalanceHistogram
from auditor_client.kinds.envy_freeness.result import EnvyFreeness
from auditor_client.kinds.log_cdf.result import LogCdf
from auditor_client.kinds.match_count.result import MatchCount
from auditor_client.kinds.most_skewed.result import MostSkewed
from auditor_client.kinds.outcome_test.result import OutcomeTest
from auditor_client.kinds.reo.result import Reo
from auditor_client.kinds.score_cdf.result import ScoreCdf
from auditor_client.kinds.score_histogram.result import FinishedAudit
from auditor_client.kinds.two_party.result import TwoParty
from auditor_client.local.keys import new_key
from auditor_client.local.profiles import save_profile
from auditor_client.regulator import Regulator

if TYPE_CHECKING:
    from auditor_client.consistency.canary import field_check
    from auditor_client.consistency.canary_power import canary_power
    from auditor_client.envy.planning import envy_plan
    from auditor_client.fairness.gap import FairnessGap, fairness_gap
    from auditor_client.planning.charts import power_curve
    from auditor_client.planning.inverse import (
        after_pilot,
        epsilon_needed,
        power_at,
        resolvable_alpha,
        rho_needed,
        split_budget,
    )
    from auditor_client.planning.sample_size import promise_holds, sample_size, verdict_size
    from auditor_client.planning.sequential import pooled_gap, sequential_plan

__all__ = [
    "AuditFailedError",
    "Auditor",
    "AuditorError",
    "BalanceHistogram",
    "BudgetExhaustedError",
    "CommitmentError",
    "ConnectionBrokenError",
    "EnvyFreeness",
    "FairnessGap",
    "FinishedAudit",
    "InputError",
    "LogCdf",
    "MatchCount",
    "MostSkewed",
    "NamedAudience",
    "OutcomeTest",
    "ProblemError",
    "ReceiptError",
    "Regulator",
    "Reo",
    "ScoreCdf",
    "TwoParty",
    "WeightedAudience",
    "after_pilot",
    "canary_power",
    "envy_plan",
    "epsilon_needed",
    "fairness_gap",
    "field_check",
    "new_key",
    "pooled_gap",
    "power_at",
    "power_curve",
    "promise_holds",
    "resolvable_alpha",
    "rho_needed",
    "sample_size",
    "save_profile",
    "sequential_plan",
    "split_budget",
    "verdict_size",
]

# Where these live: SciPy takes a second to import, so they are when first asked for.
_STATISTICS = {
    "FairnessGap": "gap",
    "after_pilot": "inverse",
    "canary_power": "canary_power",
    "envy_plan": "envy.planning",
    "epsilon_needed": "inverse",
    "fairness_gap": "gap",
    "field_check": "canary",
    "pooled_gap": "sequential",
    "power_at": "inverse",
    "power_curve": "planning_charts",
    "promise_holds": "plan",
    "resolvable_alpha": "inverse",
    "rho_needed": "inverse",
    "sample_size": "plan",
    "sequential_plan": "sequential",
    "split_budget": "inverse",
    "verdict_size": "plan",
}

# Packages that stand for themselves, imported when first asked for too.
_PACKAGES = ("demographics", "outcome", "reo", "two_party")


def __getattr__(name: str) -> Any:
    if name in _PACKAGES:
        return import_module(f"{__name__}.{name}")
    if name not in _STATISTICS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_STATISTICS[name]}"), name)
