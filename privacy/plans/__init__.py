"""Release plans: the parts that a request comes to, from the request and public facts alone.

Each kind of audit has one pure function here. The platform prices and draws by it, and the verifier
of the ledger applies its own copy to the signed request: a charge must state exactly these parts.

A plan never changes for a request that may have been charged. A kind that needs other bounds adds a
field to its request, and plans by it.
"""

from collections.abc import Callable, Mapping

from privacy.plans.assumptions import assumptions, assumptions_before
from privacy.plans.envy import envy_freeness
from privacy.plans.logs import bias_size, log_cdf, outcome_test, reo
from privacy.plans.part import PlannedTable, PublicAudience, Request, has_fixed_slots
from privacy.plans.people import balance_histogram, match_count
from privacy.plans.scores import most_skewed, score_cdf, score_histogram
from privacy.plans.two_party import two_party

__all__ = [
    "HIDDEN_KINDS",
    "PLANS",
    "Plan",
    "PlannedTable",
    "PublicAudience",
    "Request",
    "assumptions",
    "assumptions_before",
    "has_fixed_slots",
]

Plan = Callable[[Request, PublicAudience], tuple[PlannedTable, ...]]

PLANS: Mapping[str, Plan] = {
    "score-histogram": score_histogram,
    "score-cdf": score_cdf,
    "match-count": match_count,
    "most-skewed": most_skewed,
    "balance-histogram": balance_histogram,
    "outcome-test": outcome_test,
    "log-cdf": log_cdf,
    "bias-size": bias_size,
    "reo": reo,
    "envy-freeness": envy_freeness,
    "two-party": two_party,
}
# Kinds that may be charged on a hidden audience, whose people are debited later.
HIDDEN_KINDS = frozenset({"two-party"})
