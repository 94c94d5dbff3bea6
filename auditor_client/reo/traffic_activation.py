"""Random traffic that a platform must run, and its cost in relevance.

[DJHL25] Dong, Jin, Hu, Liu, Measuring fairness in large-scale recommendation systems with missing
         labels, Appendix I.2.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from auditor_client.errors import InputError
from auditor_client.reo.counts import AnyDistribution, PositiveCounts
from auditor_client.reo.penalty_estimate import check_delta
from auditor_client.reo.planning import Shares, error_of, least_rows, shares_of


@dataclass(frozen=True)
class RandomTraffic:
    """Random traffic that a platform must run, and its cost.

    `activation` is the share of requests that show random items. `lost` is the decrease of the
    share of relevant rows, relative to default traffic alone.
    """

    rows: int
    activation: float
    lost: float


def random_traffic(
    recommended: Shares,
    random: Shares,
    epsilon: float,
    *,
    n_recommended: int,
    requests: float,
    shown: int,
    delta: float = 0.05,
    noise: AnyDistribution | None = None,
    rows_per_viewer: int = 1,
) -> RandomTraffic:
    """Return the number of `requests`, each with `shown` items, that must show random ones.

    `n_recommended` rows of default traffic exist in any case.
    """
    one, other = shares_of(recommended, random)
    check_delta(delta)
    most = _most(n_recommended, requests, shown)

    def error(rows: float) -> float:
        return error_of(one, other, n_recommended, rows, delta, noise, rows_per_viewer)

    rows = least_rows(error, epsilon)
    if rows is None:
        raise InputError(
            f"{n_recommended} rows of default traffic leave a larger error than {epsilon:g},"
            " whatever the random traffic: log more of them.",
            case="few-rows-of-default-traffic",
        )
    if rows > most:
        raise InputError(
            f"{rows} rows of random traffic are more than all requests show. Use more "
            "requests or a larger error.",
            case="few-requests",
        )
    return RandomTraffic(rows, rows / most, rows / most * _loss(one, other))


def tradeoff(
    recommended: Shares,
    random: Shares,
    activations: Sequence[float],
    *,
    n_recommended: int,
    requests: float,
    shown: int,
    delta: float = 0.05,
    noise: AnyDistribution | None = None,
    rows_per_viewer: int = 1,
) -> list[tuple[RandomTraffic, float]]:
    """Return, for each activation probability, the cost in relevance and the error of the
    penalty.
    """
    one, other = shares_of(recommended, random)
    check_delta(delta)
    most = _most(n_recommended, requests, shown)
    found = []
    for activation in activations:
        if not 0 <= activation <= 1:
            raise InputError(
                f"An activation is a probability, and {activation:g} is none.",
                case="not-a-probability",
            )
        rows = math.floor(activation * most)
        error = math.inf
        if rows:
            error = error_of(one, other, n_recommended, rows, delta, noise, rows_per_viewer)
        found.append((RandomTraffic(rows, activation, activation * _loss(one, other)), error))
    return found


def _most(n_recommended: int, requests: float, shown: int) -> float:
    """Return the number of rows of all requests."""
    if not (n_recommended > 0 and requests > 0 and shown > 0):
        raise InputError(
            "Rows of default traffic, requests, and items per request must all be positive.",
            case="not-positive",
        )
    return requests * shown


def _loss(recommended: PositiveCounts, random: PositiveCounts) -> float:
    """Return the loss per random row: U_rel falls from Σq to Σp   [DJHL25, I.2]."""
    return 1 - float(random.positives.sum() / recommended.positives.sum())
