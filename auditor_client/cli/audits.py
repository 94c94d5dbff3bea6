"""`auditor audit` and `auditor price`: what it costs, and what it says."""

from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from auditor_client.auditor import Auditor
from auditor_client.cli.audit_options import (
    AudienceId,
    Bins,
    ContentId,
    Context,
    EdgeList,
    Epsilon,
    Key,
    LevelList,
    MandateId,
    Mechanism,
    ReceiptFile,
    ReportFile,
    Rho,
    SizeEpsilon,
    SizeRho,
    options_of,
)
from auditor_client.cli.charging import New, charging
from auditor_client.cli.options import DEFAULT_PROFILE, AsJson, ProfileName, Quiet
from auditor_client.cli.output import show_row, show_rows
from auditor_client.cli.prices import price_row
from auditor_client.cli.reports import Alpha, Delta
from auditor_client.cli.summary import show_result
from auditor_client.kinds.options import DEFAULT_BINS
from openapi.resources import Audit

STUDY = "study"


class AuditsOrStudy(TyperGroup):
    """The commands of audits; a study file in place of a command runs the study."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and args[0].lower().endswith((".yaml", ".yml")):
            args = [STUDY, *args]
        return super().resolve_command(ctx, args)


app = typer.Typer(
    cls=AuditsOrStudy,
    help="Audits: run, follow, read again; or run a whole study: auditor audit STUDY.yaml",
)

AuditId = Annotated[str, typer.Argument(metavar="AUDIT")]


@app.command("run")
def run(
    content: ContentId,
    audience: AudienceId,
    bins: Bins = DEFAULT_BINS,
    edges: EdgeList = None,
    levels: LevelList = None,
    epsilon: Epsilon = None,
    size_epsilon: SizeEpsilon = None,
    mechanism: Mechanism = "discrete-laplace",
    rho: Rho = None,
    size_rho: SizeRho = None,
    context: Context = None,
    mandate: MandateId = None,
    alpha: Alpha = None,
    delta: Delta = 0.05,
    report: ReportFile = None,
    receipt: ReceiptFile = None,
    idempotency_key: Key = None,
    new: New = False,
    quiet: Quiet = False,
    profile: ProfileName = DEFAULT_PROFILE,
    as_json: AsJson = False,
) -> None:
    """Pay for an audit, wait for its release, verify its receipt, and judge.

    Interrupted, the same command continues the same audit, and is charged once.
    """
    options = options_of(
        bins,
        edges,
        levels,
        context,
        mandate,
        epsilon=epsilon,
        size_epsilon=size_epsilon,
        mechanism=mechanism,
        rho=rho,
        size_rho=size_rho,
    )
    with charging(profile) as auditor:
        audit = auditor.audits.run(
            content,
            audience,
            idempotency_key=idempotency_key,
            new=new,
            progress=not quiet,
            **options,
        )
        # With the connection still open: the receipt takes the ledger's proof along.
        if receipt:
            audit.save_receipt(receipt)
        if report:
            audit.report(report, alpha=alpha, delta=delta)
        show_result(audit, alpha, delta, as_json=as_json)


def price(
    content: ContentId,
    audience: AudienceId,
    bins: Bins = DEFAULT_BINS,
    edges: EdgeList = None,
    levels: LevelList = None,
    epsilon: Epsilon = None,
    size_epsilon: SizeEpsilon = None,
    mechanism: Mechanism = "discrete-laplace",
    rho: Rho = None,
    size_rho: SizeRho = None,
    context: Context = None,
    mandate: MandateId = None,
    profile: ProfileName = DEFAULT_PROFILE,
    as_json: AsJson = False,
) -> None:
    """What such an audit would cost; asking spends nothing."""
    options = options_of(
        bins,
        edges,
        levels,
        context,
        mandate,
        epsilon=epsilon,
        size_epsilon=size_epsilon,
        mechanism=mechanism,
        rho=rho,
        size_rho=size_rho,
    )
    with Auditor.from_profile(profile) as auditor:
        request = auditor.audits.request(content, audience, **options)
        quote = auditor.audits.quote(request)
    show_row(quote.model_dump() if as_json else price_row(quote, request), as_json=as_json)


@app.command("list")
def list_audits(profile: ProfileName = DEFAULT_PROFILE, as_json: AsJson = False) -> None:
    """Your audits."""
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
    """The state of an audit; once it is released, what it says."""
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
    """Cancel and refund an audit that has read nothing yet."""
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
