"""Plans of the built-in kinds of audit, by name.

The ledger's verifier knows no other plans. For a kind that a package adds, it accepts the bounds as
stated.
"""

from collections.abc import Mapping

from privacy.plans import (
    balance_histogram,
    bias_size,
    envy_freeness,
    log_cdf,
    match_count,
    most_skewed,
    outcome_test,
    reo,
    score_cdf,
    score_histogram,
    two_party,
)
from privacy.plans.kind_plan import KindPlan

_MODULES = (
    score_histogram,
    score_cdf,
    match_count,
    most_skewed,
    balance_histogram,
    outcome_test,
    log_cdf,
    bias_size,
    reo,
    envy_freeness,
    two_party,
)
PLANS: Mapping[str, KindPlan] = {module.PLAN.kind: module.PLAN for module in _MODULES}
