"""`auditor plan`: how many people an audit needs, before anything is paid."""

from typing import Annotated, Literal

import typer

from auditor_client.cli.options import DEFAULT_PROFILE, AsJson, ProfileName
from auditor_client.cli.reports import Alpha, Delta
from auditor_client.cli.showing import show_row
from auditor_client.errors import InputError

Sizes = Literal["known", "noisy"]


def plan(
    alpha: Alpha = 0.2,
    delta: Delta = 0.05,
    groups: Annotated[int, typer.Option(help="How many groups are compared.", min=2)] = 2,
    bins: Annotated[int, typer.Option(help="How many bins of scores.", min=1)] = 100,
    epsilon: Annotated[float, typer.Option(help="The noise on each bin is 1/epsilon.")] = 1.0,
    sizes: Annotated[
        Sizes, typer.Option(help="Are the numbers of scored people known (a sample) or noisy?")
    ] = "noisy",
    power: Annotated[float, typer.Option(help="Of calling fair a fair platform.")] = 0.8,
    profile: ProfileName = DEFAULT_PROFILE,  # noqa: ARG001  (every command takes it)
    as_json: AsJson = False,
) -> None:
    """How many people per group, by several promises. Needs no network and no profile."""
    try:
        needed = people_needed(alpha, delta, groups, bins, epsilon, sizes, power)
    except ValueError as error:
        raise InputError(str(error)) from error
    question = {"alpha": alpha, "delta": delta, "groups": groups, "bins": bins, "epsilon": epsilon}
    show_row({**question, "sizes": sizes, "power": power, **needed}, as_json=as_json)


def people_needed(
    alpha: float, delta: float, groups: int, bins: int, epsilon: float, sizes: Sizes, power: float
) -> dict[str, int]:
    """People per group: for a verdict, and for the paper's promise, exact and as printed."""
    from auditor_client.plan import sample_size, verdict_size  # SciPy takes seconds to import

    shape = {"groups": groups, "bins": bins, "epsilon": epsilon}
    return {
        "for_a_verdict": verdict_size(alpha, delta, power=power, sizes=sizes, **shape),
        "for_the_promise_exact": sample_size(alpha, delta, method="exact", sizes=sizes, **shape),
        "for_the_promise_theorem_1": sample_size(alpha, delta, method="theorem-1", **shape),
    }
