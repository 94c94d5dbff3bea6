"""Audit a platform's relevance estimators under differential privacy.

    from auditor_client import Auditor

    auditor = Auditor.from_profile("demo")

See `Auditor` for what a researcher can do, `Regulator` for what a regulator can, and
`auditor_client.errors` for the tree of errors. Planning needs neither: `verdict_size`, `power_at`
and related functions (docs/explanation/planning.md).
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from auditor_client.audiences.client import NamedAudience
    from auditor_client.audiences.weighted import WeightedAudience
    from auditor_client.auditor import Auditor
    from auditor_client.consistency.canary import field_check
    from auditor_client.consistency.canary_power import canary_power
    from auditor_client.envy.planning import envy_plan
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
    from auditor_client.fairness.gap import FairnessGap, fairness_gap
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
    from auditor_client.local.keys import new_key
    from auditor_client.local.profiles import save_profile
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
    from auditor_client.regulator import Regulator

    BalanceHistogram = BalanceHistogramResult
    EnvyFreeness = EnvyFreenessResult
    FinishedAudit = ScoreHistogramResult
    LogCdf = LogCdfResult
    MatchCount = MatchCountResult
    MostSkewed = MostSkewedResult
    OutcomeTest = OutcomeTestResult
    Reo = ReoResult
    ScoreCdf = ScoreCdfResult
    TwoParty = TwoPartyResult

__all__ = [
    "AuditFailedError",
    "Auditor",
    "AuditorError",
    "BalanceHistogram",
    "BalanceHistogramResult",
    "BiasSizeResult",
    "BudgetExhaustedError",
    "CommitmentError",
    "ConnectionBrokenError",
    "EnvyFreeness",
    "EnvyFreenessResult",
    "FairnessGap",
    "FinishedAudit",
    "InputError",
    "LogCdf",
    "LogCdfResult",
    "MatchCount",
    "MatchCountResult",
    "MostSkewed",
    "MostSkewedResult",
    "NamedAudience",
    "OutcomeTest",
    "OutcomeTestResult",
    "ProblemError",
    "ReceiptError",
    "Regulator",
    "Reo",
    "ReoResult",
    "ScoreCdf",
    "ScoreCdfResult",
    "ScoreHistogramResult",
    "TwoParty",
    "TwoPartyResult",
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

# Modules of these names, imported when a name is first used. All of them take a second or more,
# and the `auditor` command handles Ctrl-C meanwhile.
_MODULES = {
    "AuditFailedError": "errors",
    "Auditor": "auditor",
    "AuditorError": "errors",
    "BalanceHistogramResult": "kinds.balance_histogram.result",
    "BiasSizeResult": "kinds.bias_size.result",
    "BudgetExhaustedError": "errors",
    "CommitmentError": "errors",
    "ConnectionBrokenError": "errors",
    "EnvyFreenessResult": "kinds.envy_freeness.result",
    "FairnessGap": "fairness.gap",
    "InputError": "errors",
    "LogCdfResult": "kinds.log_cdf.result",
    "MatchCountResult": "kinds.match_count.result",
    "MostSkewedResult": "kinds.most_skewed.result",
    "NamedAudience": "audiences.client",
    "OutcomeTestResult": "kinds.outcome_test.result",
    "ProblemError": "errors",
    "ReceiptError": "errors",
    "Regulator": "regulator",
    "ReoResult": "kinds.reo.result",
    "ScoreCdfResult": "kinds.score_cdf.result",
    "ScoreHistogramResult": "kinds.score_histogram.result",
    "TwoPartyResult": "kinds.two_party.result",
    "WeightedAudience": "audiences.weighted",
    "after_pilot": "planning.inverse",
    "canary_power": "consistency.canary_power",
    "envy_plan": "envy.planning",
    "epsilon_needed": "planning.inverse",
    "fairness_gap": "fairness.gap",
    "field_check": "consistency.canary",
    "new_key": "local.keys",
    "pooled_gap": "planning.sequential",
    "power_at": "planning.inverse",
    "power_curve": "planning.charts",
    "promise_holds": "planning.sample_size",
    "resolvable_alpha": "planning.inverse",
    "rho_needed": "planning.inverse",
    "sample_size": "planning.sample_size",
    "save_profile": "local.profiles",
    "sequential_plan": "planning.sequential",
    "split_budget": "planning.inverse",
    "verdict_size": "planning.sample_size",
}

# Earlier names of the result classes, kept for scripts that use them.
_EARLIER = {
    "BalanceHistogram": "BalanceHistogramResult",
    "EnvyFreeness": "EnvyFreenessResult",
    "FinishedAudit": "ScoreHistogramResult",
    "LogCdf": "LogCdfResult",
    "MatchCount": "MatchCountResult",
    "MostSkewed": "MostSkewedResult",
    "OutcomeTest": "OutcomeTestResult",
    "Reo": "ReoResult",
    "ScoreCdf": "ScoreCdfResult",
    "TwoParty": "TwoPartyResult",
}

# Packages and modules that stand for themselves, imported when first used too.
_PACKAGES = ("demographics", "errors", "outcome", "reo", "two_party")


def __getattr__(name: str) -> Any:
    if name in _PACKAGES:
        return import_module(f"{__name__}.{name}")
    known = _EARLIER.get(name, name)
    if known not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[known]}"), known)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_PACKAGES})
