"""`auditor operator`: the platform's part in vetting."""

from typing import Annotated, Any, cast

import typer

from auditor_client.cli.applications import ApplicationId, show_application, show_applications
from auditor_client.cli.options import DEFAULT_PROFILE, AsJson, ProfileName
from auditor_client.cli.output import show_row
from auditor_client.vetting.client import Operator

app = typer.Typer(help="For the platform's operators.", no_args_is_help=True)


@app.command("applications")
def applications(profile: ProfileName = DEFAULT_PROFILE, as_json: AsJson = False) -> None:
    """List approved applications, with the deadline for requesting an amendment."""
    with Operator.from_profile(profile) as operator:
        show_applications(operator.applications(), as_json)


@app.command("amendment")
def amendment(
    application: ApplicationId,
    ground: Annotated[str, typer.Option(help="no-access or vulnerability.")],
    reasons: Annotated[
        str, typer.Option(help="The reason why the platform cannot give this access.")
    ],
    proposal: Annotated[str, typer.Option(help="Other data or means for the same research.")],
    profile: ProfileName = DEFAULT_PROFILE,
    as_json: AsJson = False,
) -> None:
    """Ask the regulator to amend an approved application."""
    with Operator.from_profile(profile) as operator:
        made = operator.ask_amendment(application, cast("Any", ground), reasons, proposal)
    show_application(made, as_json)


@app.command("mediation")
def mediation(
    application: ApplicationId,
    outcome: Annotated[str, typer.Argument(help="requested or failed.")],
    text: Annotated[
        str, typer.Option(help="The objection, or the reason for the end of the mediation.")
    ],
    profile: ProfileName = DEFAULT_PROFILE,
    as_json: AsJson = False,
) -> None:
    """Request mediation on the decision about an amendment, or end it."""
    with Operator.from_profile(profile) as operator:
        made = operator.mediate(application, cast("Any", outcome), text)
    show_application(made, as_json)


@app.command("stop")
def stop(
    audit: Annotated[str, typer.Argument(metavar="AUDIT")],
    reason: Annotated[
        str,
        typer.Option(
            help="Reason. It can be erased later; the ledger holds only a commitment to it."
        ),
    ],
    profile: ProfileName = DEFAULT_PROFILE,
    as_json: AsJson = False,
) -> None:
    """Stop an audit of envy: nobody is shown anything more, and nothing is released or refunded."""
    with Operator.from_profile(profile) as operator:
        show_row(operator.stop(audit, reason).model_dump(), as_json=as_json)
