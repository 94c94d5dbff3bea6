"""`auditor regulator …`: commands of vetting, which read applications, decide, intervene and
erase.
"""

from collections.abc import Callable
from datetime import UTC, date, datetime
from typing import Annotated, Any, cast, get_args

import typer

from auditor_client.cli.applications import ApplicationId, show_application, show_applications
from auditor_client.cli.mandates import (
    Exploration,
    Kinds,
    Lifetime,
    Limit,
    OpenedShare,
    RhoLimit,
    mandate_row,
)
from auditor_client.cli.options import DEFAULT_PROFILE, AsJson, ProfileName
from auditor_client.cli.output import show_row
from auditor_client.errors import InputError
from auditor_client.regulator import Regulator
from auditor_client.vetting.client import Decided
from openapi.resources import ApplicationState, Mandate

MandateId = Annotated[str, typer.Argument(metavar="MANDATE")]
AuditId = Annotated[str, typer.Argument(metavar="AUDIT")]
Reason = Annotated[
    str,
    typer.Option(help="Reason. It can be erased later; the ledger holds only a commitment to it."),
]
Until = Annotated[str | None, typer.Option(help="A date, like 2027-03-31.")]


def add_to(app: typer.Typer) -> None:
    """Add the commands of vetting to those of regulators."""
    commands: dict[str, Callable[..., None]] = {
        "applications": applications,
        "decide": decide,
        "mediation": mediation,
        "suspend": suspend,
        "resume": resume,
        "terminate": terminate,
        "change": change,
        "stop": stop,
        "remove": remove,
        "erase": erase,
    }
    for name, command in commands.items():
        app.command(name)(command)


def applications(
    application: Annotated[
        str | None, typer.Argument(help="Show the whole of this application.")
    ] = None,
    state: Annotated[str | None, typer.Option(help="Only those in this state.")] = None,
    profile: ProfileName = DEFAULT_PROFILE,
    as_json: AsJson = False,
) -> None:
    """List applications, or show one with its history and its deadline."""
    if state is not None and state not in get_args(ApplicationState):
        known = ", ".join(get_args(ApplicationState))
        raise InputError(f"There is no state {state!r}. The states are: {known}.")
    with Regulator.from_profile(profile) as regulator:
        if application is not None:
            show_application(regulator.applications.get(application), as_json)
        else:
            chosen = cast("ApplicationState | None", state)
            show_applications(regulator.applications.list(chosen), as_json)


def decide(
    application: ApplicationId,
    decision: Annotated[str, typer.Argument(help=", ".join(get_args(Decided)))],
    reasons: Reason,
    epsilon: Limit = None,
    rho: RhoLimit = None,
    lifetime: Lifetime = None,
    exploration: Exploration = None,
    opened_share: OpenedShare = "1",
    kind: Kinds = None,
    until: Until = None,
    researcher: Annotated[
        list[str] | None, typer.Option(help="Approve only this individual; repeat for more.")
    ] = None,
    version: Annotated[
        int | None,
        typer.Option(
            help="The version that you have read. The command is refused if a newer one exists."
        ),
    ] = None,
    profile: ProfileName = DEFAULT_PROFILE,
    as_json: AsJson = False,
) -> None:
    """Decide on an application. `approve` grants the requested access, or less with the options."""
    if decision not in get_args(Decided):
        raise InputError(f"{decision!r} is not a decision: {', '.join(get_args(Decided))}.")
    with Regulator.from_profile(profile) as regulator:
        read = regulator.applications.get(application)
        if version is not None:
            read = read.model_copy(update={"version": version})
        if decision == "approve":
            made = regulator.applications.approve(
                read,
                reasons,
                epsilon_limit=epsilon,
                rho_limit=rho,
                lifetime_limit=lifetime,
                exploration_limit=exploration,
                opened_share=opened_share,
                kinds=kind,
                valid_until=moment(until),
                researcher_ids=researcher,
            )
        else:
            made = regulator.applications.decide(
                read, cast("Decided", decision), reasons, until=day(until)
            )
    show_application(made, as_json)


def mediation(
    application: ApplicationId,
    outcome: Annotated[str, typer.Argument(help="opened, declined, agreed or failed.")],
    text: Reason,
    days: Annotated[int | None, typer.Option(help="The time limit, in working days.")] = None,
    profile: ProfileName = DEFAULT_PROFILE,
    as_json: AsJson = False,
) -> None:
    """Open, decline or end a mediation."""
    with Regulator.from_profile(profile) as regulator:
        made = regulator.applications.mediate(application, cast("Any", outcome), text, days=days)
    show_application(made, as_json)


def suspend(
    mandate: MandateId,
    reason: Reason,
    profile: ProfileName = DEFAULT_PROFILE,
    as_json: AsJson = False,
) -> None:
    """Suspend a mandate: nothing more is charged, and audits that have not begun wait."""
    with Regulator.from_profile(profile) as regulator:
        _show(regulator.mandates.suspend(mandate, reason), as_json)


def resume(
    mandate: MandateId,
    reason: Reason,
    profile: ProfileName = DEFAULT_PROFILE,
    as_json: AsJson = False,
) -> None:
    """Resume a suspended mandate."""
    with Regulator.from_profile(profile) as regulator:
        _show(regulator.mandates.resume(mandate, reason), as_json)


def terminate(
    mandate: MandateId,
    reason: Reason,
    profile: ProfileName = DEFAULT_PROFILE,
    as_json: AsJson = False,
) -> None:
    """Terminate a mandate. Audits that were not begun are cancelled and refunded."""
    with Regulator.from_profile(profile) as regulator:
        _show(regulator.mandates.terminate(mandate, reason), as_json)


def change(
    mandate: MandateId,
    reason: Reason,
    epsilon: Limit = None,
    rho: RhoLimit = None,
    lifetime: Lifetime = None,
    exploration: Exploration = None,
    kind: Kinds = None,
    until: Until = None,
    profile: ProfileName = DEFAULT_PROFILE,
    as_json: AsJson = False,
) -> None:
    """Change the limits, the kinds or the end of a mandate; everything else stays."""
    with Regulator.from_profile(profile) as regulator:
        changed = regulator.mandates.change(
            mandate,
            reason,
            epsilon_limit=epsilon,
            rho_limit=rho,
            lifetime_limit=lifetime,
            exploration_limit=exploration,
            kinds=kind,
            valid_until=moment(until),
        )
    _show(changed, as_json)


def stop(
    audit: AuditId,
    reason: Reason,
    profile: ProfileName = DEFAULT_PROFILE,
    as_json: AsJson = False,
) -> None:
    """Stop an audit of envy: nobody is shown anything more, and nothing is released or refunded."""
    with Regulator.from_profile(profile) as regulator:
        show_row(regulator.stop(audit, reason).model_dump(), as_json=as_json)


def remove(
    researcher: Annotated[str, typer.Argument(metavar="RESEARCHER")],
    reason: Reason,
    profile: ProfileName = DEFAULT_PROFILE,
    as_json: AsJson = False,
) -> None:
    """Remove an individual's access at once."""
    with Regulator.from_profile(profile) as regulator:
        show_row(regulator.researchers.remove(researcher, reason).model_dump(), as_json=as_json)


def erase(
    subject: Annotated[str, typer.Argument(metavar="APPLICATION|RESEARCHER")],
    profile: ProfileName = DEFAULT_PROFILE,
    as_json: AsJson = False,
) -> None:
    """Erase the personal text of an application or an individual; the ledger still verifies."""
    with Regulator.from_profile(profile) as regulator:
        show_row(regulator.erase(subject).model_dump(), as_json=as_json)


def day(text: str | None) -> date | None:
    try:
        return None if text is None else date.fromisoformat(text)
    except ValueError as error:
        raise InputError(f"{text!r} is not a date like 2027-03-31.") from error


def moment(text: str | None) -> datetime | None:
    """Return the start of a day in UTC."""
    found = day(text)
    return None if found is None else datetime(found.year, found.month, found.day, tzinfo=UTC)


def _show(mandate: Mandate, as_json: bool) -> None:
    show_row(mandate.model_dump() if as_json else mandate_row(mandate), as_json=as_json)
