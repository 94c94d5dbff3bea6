"""`auditor regulator overview`, `refusals`, `flags`, `report` and `export`: oversight at a
glance.
"""

from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, cast, get_args

import typer

from auditor_client.cli.options import DEFAULT_PROFILE, AsJson, ProfileName
from auditor_client.cli.output import show_row, show_rows
from auditor_client.errors import InputError
from auditor_client.regulator import Regulator
from openapi.resources import AuditorOverview, ExportName, Flag, MandateOverview

AuditorId = Annotated[str | None, typer.Option("--auditor", help="Only this organisation.")]
Days = Annotated[int, typer.Option(help="Period, in days before now.", min=1, max=10_000)]


def add_to(app: typer.Typer) -> None:
    app.command("overview")(overview)
    app.command("refusals")(refusals)
    app.command("flags")(flags)
    app.command("report")(report)
    app.command("export")(export)


def overview(
    auditor: AuditorId = None, profile: ProfileName = DEFAULT_PROFILE, as_json: AsJson = False
) -> None:
    """Show mandates, the rate of spending, and the platform's remaining budget."""
    with Regulator.from_profile(profile) as regulator:
        found = regulator.insight.overview(auditor)
    if as_json:
        show_row(found.model_dump(), as_json=True)
        return
    rows = [_mandate_row(each, mandate) for each in found.auditors for mandate in each.mandates] + [
        _auditor_row(each) for each in found.auditors if not each.mandates
    ]
    columns = ["auditor", "mandate", "spent", "in_30_days", "remains", "used_up", "audits"]
    show_rows(rows, [*columns, "refused"], as_json=False)
    window = found.platform
    typer.echo(
        f"Platform: {window.spent} of {window.limit} rho spent until {window.ends:%Y-%m-%d}."
    )


def refusals(
    auditor: AuditorId = None,
    days: Days = 90,
    counts: Annotated[
        bool, typer.Option("--counts", help="Print only the number of refusals for each reason.")
    ] = False,
    limit: Annotated[
        int | None, typer.Option(help="Largest number of entries, newest first.")
    ] = None,
    profile: ProfileName = DEFAULT_PROFILE,
    as_json: AsJson = False,
) -> None:
    """List refusals and their reasons."""
    since = _ago(days)
    with Regulator.from_profile(profile) as regulator:
        if counts:
            found = regulator.insight.refusal_counts(auditor, since)
            rows = [each.model_dump() for each in found.counts]
        else:
            listed = regulator.insight.refusals(auditor, since)
            rows = [each.model_dump() for each in islice(listed, limit)]
    columns = ["auditor_id", "code", "count"]
    if not counts:
        columns = ["number", "at", "code", "audit_kind", "auditor_id", "researcher_id"]
    show_rows(rows, columns, as_json=as_json)


def flags(
    auditor: AuditorId = None,
    days: Days = 90,
    profile: ProfileName = DEFAULT_PROFILE,
    as_json: AsJson = False,
) -> None:
    """List unusual patterns with the figures that raised them. A flag is a question, not an
    accusation.
    """
    with Regulator.from_profile(profile) as regulator:
        found = regulator.insight.flags(auditor, _ago(days))
    if as_json or not found.flags:
        show_rows([flag.model_dump() for flag in found.flags], [], as_json=as_json)
        return
    for number, flag in enumerate(found.flags):
        if number:
            typer.echo()
        show_row(_flag_row(flag), as_json=False)


def report(
    quarter: Annotated[str, typer.Argument(help="For instance 2026-Q4.")],
    auditor: AuditorId = None,
    out: Annotated[Path | None, typer.Option(help="File for the HTML report.")] = None,
    profile: ProfileName = DEFAULT_PROFILE,
    as_json: AsJson = False,
) -> None:
    """Write a printable report of a quarter, for one auditor or all."""
    path = out or Path(f"oversight-{quarter}.html")
    with Regulator.from_profile(profile) as regulator:
        regulator.report(path, quarter=quarter, auditor_id=auditor)
    show_row({"report": str(path)}, as_json=as_json)


def export(
    table: Annotated[str, typer.Argument(help="overview, charges, refusals or flags.")],
    out: Annotated[Path, typer.Option(help="A file: .csv, or .parquet.")],
    auditor: AuditorId = None,
    days: Days = 90,
    profile: ProfileName = DEFAULT_PROFILE,
    as_json: AsJson = False,
) -> None:
    """Write a table as CSV or Parquet."""
    if table not in get_args(ExportName):
        raise InputError(f"{table!r} is not one of {', '.join(get_args(ExportName))}.")
    with Regulator.from_profile(profile) as regulator:
        regulator.insight.export(cast("ExportName", table), out, auditor, _ago(days))
    show_row({"file": str(out)}, as_json=as_json)


def _ago(days: int) -> datetime:
    return datetime.now(UTC) - timedelta(days=days)


def _auditor_row(auditor: AuditorOverview) -> dict[str, Any]:
    return {"auditor": auditor.name, "refused": auditor.refusals}


def _mandate_row(auditor: AuditorOverview, mandate: MandateOverview) -> dict[str, Any]:
    return {
        **_auditor_row(auditor),
        "mandate": f"{mandate.purpose} ({mandate.state})",
        "spent": f"{mandate.spent} of {mandate.limit} {mandate.currency}",
        "in_30_days": mandate.spent_30_days,
        "remains": mandate.remaining,
        "used_up": mandate.exhausted_on,
        "audits": mandate.audits,
    }


def _flag_row(flag: Flag) -> dict[str, Any]:
    figures = {
        each.name: f"{each.value}"
        + ("" if each.threshold is None else f" (threshold {each.threshold})")
        for each in flag.figures
    }
    return {
        "pattern": flag.pattern,
        "at": flag.at,
        "explanation": flag.explanation,
        **figures,
        "auditors": flag.auditor_ids,
        "audiences": flag.audience_ids,
        "mandate": flag.mandate_id,
    }
