"""`auditor plan`: how many people an audit needs, before anything is paid."""

from typing import Annotated

import typer

from auditor_client.cli.options import DEFAULT_PROFILE, AsJson, ProfileName
from auditor_client.cli.reports import Alpha, Delta
from auditor_client.cli.showing import show_row


def plan(
    alpha: Alpha = 0.2,
    delta: Delta = 0.05,
    groups: Annotated[int, typer.Option(help="How many groups are compared.", min=2)] = 2,
    bins: Annotated[int, typer.Option(help="How many bins of scores.", min=1)] = 100,
    epsilon: Annotated[float, typer.Option(help="The noise on each bin is 1/epsilon.")] = 1.0,
    power: Annotated[float, typer.Option(help="Of calling fair a fair platform.")] = 0.8,
    profile: ProfileName = DEFAULT_PROFILE,  # noqa: ARG001  (every command takes it)
    as_json: AsJson = False,
) -> None:
    """How many people per group, by several promises. Needs no network and no profile."""
    from auditor_client.plan import sample_size, verdict_size  # SciPy takes seconds to import

    question = {"alpha": alpha, "delta": delta, "groups": groups, "bins": bins, "epsilon": epsilon}
    sizes = {
        "people_per_group_for_a_verdict": verdict_size(power=power, **question),
        "people_per_group_exact": sample_size(method="exact", **question),
        "people_per_group_theorem_1": sample_size(method="theorem-1", **question),
    }
    show_row({**question, "power": power, **sizes}, as_json=as_json)
