"""`auditor plan`: how many people an audit needs, before anything is paid."""

from typing import Annotated, Literal

import typer

from auditor_client.cli.options import DEFAULT_PROFILE, AsJson, ProfileName
from auditor_client.cli.reports import Alpha, Delta
from auditor_client.cli.showing import show_row
from auditor_client.errors import InputError
from auditor_client.progress import bar

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
    from auditor_client.plan import sample_size, verdict_size  # SciPy takes seconds to import

    question = {"alpha": alpha, "delta": delta, "groups": groups, "bins": bins, "epsilon": epsilon}
    with bar("Simulating audits", show=not as_json):
        try:
            needed = verdict_size(
                alpha, delta, power=power, groups=groups, bins=bins, epsilon=epsilon, sizes=sizes
            )
        except ValueError as error:
            raise InputError(f"{error}.") from error
    try:
        printed = sample_size(alpha, delta, groups, bins, epsilon, "theorem-1")
    except ValueError:
        printed = None  # the theorem does not hold for so small an epsilon
    people = {"people_per_group_for_a_verdict": needed, "people_per_group_by_theorem_1": printed}
    show_row({**question, "sizes": sizes, "power": power, **people}, as_json=as_json)
