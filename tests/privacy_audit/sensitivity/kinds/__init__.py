"""The options of every kind of audit, by its name. A kind without any makes the search fail."""

from collections.abc import Callable, Mapping

from api.operations.sensitivity.families import Size
from tests.privacy_audit.sensitivity.kinds import (
    balances,
    bias_size,
    envy,
    exchanged,
    feed,
    lists,
    log_cdf,
    matches,
    outcomes,
    scores,
    skew,
)
from tests.privacy_audit.sensitivity.options import Option

GENERATORS: Mapping[str, Callable[[Size], list[Option]]] = {
    "score-histogram": scores.histograms,
    "score-cdf": scores.cdfs,
    "match-count": matches.options,
    "most-skewed": skew.options,
    "balance-histogram": balances.options,
    "outcome-test": outcomes.options,
    "log-cdf": log_cdf.options,
    "bias-size": bias_size.options,
    "reo": feed.options,
    "envy-freeness": envy.options,
    "two-party": lambda size: [*exchanged.options(size), *lists.options(size)],
}
