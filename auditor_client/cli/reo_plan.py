"""`auditor reo-plan`: plans of the rows for a penalty and of the cost of random traffic,
offline.
"""

import math
from typing import Annotated, Any

import typer

from auditor_client.cli.options import AsJson, numbers, pairs
from auditor_client.cli.output import show_row
from auditor_client.errors import InputError

Shares = Annotated[
    str, typer.Option(help="Positive rows of each group, as shares of all rows: a=0.1,b=0.25.")
]


def plan(
    default: Shares,
    random: Shares,
    error: Annotated[float, typer.Option(help="Largest error of the penalty.")] = 0.02,
    delta: Annotated[
        float, typer.Option(help="The probability that an interval misses the true value.")
    ] = 0.05,
    epsilon: Annotated[
        float | None, typer.Option(help="Epsilon of a platform's noise (default: no noise).")
    ] = None,
    rows_per_viewer: Annotated[
        int, typer.Option(help="Largest number of rows per viewer.", min=1)
    ] = 1,
    requests: Annotated[
        float | None,
        typer.Option(help="Requests in the period, which give the share that must be random."),
    ] = None,
    shown: Annotated[int, typer.Option(help="Number of items that each request shows.", min=1)] = 1,
    logged: Annotated[
        int | None, typer.Option(help="Rows of default traffic (default: those of all requests).")
    ] = None,
    activation: Annotated[
        str | None, typer.Option(help="Also price these shares of requests: 0.0001,0.001.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Plan the rows for a penalty of this accuracy, and the cost of random traffic to a
    platform.
    """
    from auditor_client.reo import rows_needed, share_rows, utility_rows
    from auditor_client.stats.noise_distributions import Laplace

    q, p = _shares(default), _shares(random)
    if epsilon is not None and not epsilon > 0:
        raise InputError(f"epsilon must be greater than 0; it is {epsilon:g} is not.")
    noise = None if epsilon is None else Laplace(epsilon / rows_per_viewer)
    clustered: dict[str, Any] = {"delta": delta, "rows_per_viewer": rows_per_viewer}
    printed = {
        "theorem_e2": utility_rows(q, p, error, delta, "theorem-e2"),
        "theorem_e3": rows_needed(q, p, error, delta, "theorem-e3"),
        "theorem_e4": rows_needed(q, p, error, delta, "theorem-e4"),
    }
    first = [max(share_rows(share, error, delta) for share in one.values()) for one in (q, p)]
    row: dict[str, Any] = {
        "error": error,
        "delta": delta,
        "rows_each": rows_needed(q, p, error, noise=noise, **clustered).recommended,
        "rows_each_without_noise": rows_needed(q, p, error, **clustered).recommended,
        "theorem_e1": {"default": first[0], "random": first[1]},
        **{
            name: {"default": rows.recommended, "random": rows.random}
            for name, rows in printed.items()
        },
    }
    if requests is None and (logged is not None or activation is not None):
        raise InputError("Give the number of requests with --requests.")
    if requests is not None:
        default_rows = int(requests * shown) if logged is None else logged
        asked = {"n_recommended": default_rows, "requests": requests, "shown": shown, **clustered}
        row |= _traffic(q, p, error, noise, asked, numbers(activation) or [])
    show_row(row, as_json=as_json)


def _traffic(
    q: dict[str, float],
    p: dict[str, float],
    error: float,
    noise: Any,
    asked: dict[str, Any],
    activations: list[float],
) -> dict[str, Any]:
    """Return the random traffic that a platform must run, with and without noise, and its cost."""
    from auditor_client.reo import random_traffic, tradeoff

    found: dict[str, Any] = {
        "random_traffic": vars(random_traffic(q, p, error, noise=noise, **asked)),
        "random_traffic_without_noise": vars(random_traffic(q, p, error, **asked)),
    }
    if activations:
        priced = tradeoff(q, p, activations, noise=noise, **asked)
        found["tradeoff"] = [
            {**vars(one), "error": off if math.isfinite(off) else None} for one, off in priced
        ]
    return found


def _shares(text: str) -> dict[str, float]:
    try:
        return {name: float(value) for name, value in pairs(text.split(",")).items()}
    except ValueError as error:
        raise InputError(f"{text!r} is not of the form a=0.1,b=0.25.") from error
