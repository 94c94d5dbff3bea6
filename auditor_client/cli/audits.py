"""`auditor audit`: list, show and cancel audits; each kind adds its own command."""

from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from auditor_client.auditor import Auditor
from auditor_client.cli.options import DEFAULT_PROFILE, AsJson, ProfileName
from auditor_client.cli.output import show_row, show_rows
from auditor_client.cli.reports import Alpha, Delta
from auditor_client.cli.summary import show_result
from openapi.resources import Audit

STUDY = "study"


class AuditsOrStudy(TyperGroup):
    """Commands of audits; a study file in place of a command runs the study."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and args[0].lower().endswith((".yaml", ".yml")):
            args = [STUDY, *args]
        return super().resolve_command(ctx, args)


app = typer.Typer(
    cls=AuditsOrStudy,
    help="Audits: run, follow, read again; or run a whole study: auditor audit STUDY.yaml",
)

AuditId = Annotated[str, typer.Argument(metavar="AUDIT")]


@app.command("list")
def list_audits(profile: ProfileName = DEFAULT_PROFILE, as_json: AsJson = False) -> None:
    """List your audits."""
    with Auditor.from_profile(profile) as auditor:
        rows = [row_of(audit, as_json) for audit in auditor.audits.list()]
    columns = ["id", "kind", "state", "debit", "submitted_at"]
    show_rows(rows, columns, as_json=as_json)


@app.command("show")
def show(
    audit_id: AuditId,
    alpha: Alpha = None,
    delta: Delta = 0.05,
    profile: ProfileName = DEFAULT_PROFILE,
    as_json: AsJson = False,
) -> None:
    """Show the state of an audit and, after its release, its result."""
    with Auditor.from_profile(profile) as auditor:
        audit = auditor.audits.state(audit_id)
        if audit.state == "released":
            show_result(auditor.audits.result(audit_id), alpha, delta, as_json=as_json)
        else:
            show_row(row_of(audit, as_json), as_json=as_json)


@app.command("cancel")
def cancel(
    audit_id: AuditId, profile: ProfileName = DEFAULT_PROFILE, as_json: AsJson = False
) -> None:
    """Cancel and refund an audit that has not read any data yet."""
    with Auditor.from_profile(profile) as auditor:
        show_row(row_of(auditor.audits.cancel(audit_id), as_json), as_json=as_json)


def row_of(audit: Audit, as_json: bool) -> dict[str, Any]:
    fields = audit.model_dump(exclude={"request", "price"})
    if as_json:
        return audit.model_dump()
    return {
        **fields,
        "contents": audit.request.content_ids,
        "audience_id": audit.request.audience_id,
        "debit": f"{audit.price.debit} {audit.price.currency}",
    }
