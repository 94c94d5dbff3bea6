"""Contracts of the built-in kinds of audit, by name, in the order of the documents."""

from collections.abc import Mapping

from openapi.kinds import (
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
from openapi.kinds.contract import KindContract

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
# The kind of a request that names none.
DEFAULT_KIND = score_histogram.KIND.name
CONTRACTS: Mapping[str, KindContract] = {module.KIND.name: module.KIND for module in _MODULES}
