"""`auditor audit`, `auditor price` and `auditor budget`: what it costs, and what it says."""

from pathlib import Path
from typing import Annotated, Any

import typer

from auditor_client.auditor import Auditor
from auditor_client.cli.options import (
    DEFAULT_PROFILE,
    AsJson,
    ProfileName,
    Quiet,
    numbers,
    pairs,
)
from auditor_client.cli.reports import Alpha, Delta, finding
from auditor_client.cli.showing import show_row, show_rows
from auditor_client.requests import DEFAULT_BINS, Options
from openapi.models import Audit

app = typer.Typer(help="Audits: run, follow, read again.")

ContentId = Annotated[str, typer.Argument(metavar="CONTENT")]
AudienceId = Annotated[str, typer.Argument(metavar="AUDIENCE")]
AuditId = Annotated[str, typer.Argument(metavar="AUDIT")]
Bins = Annotated[int, typer.Option(help="Equal bins over the range of scores.")]
EdgeList = Annotated[str | None, typer.Option(help="Edges of bins: 0,0.5,1.")]
LevelList = Annotated[str | None, typer.Option(help="Values of a discrete score: 1,2,3.")]
Epsilon = Annotated[str, typer.Option(help="At most six decimal places.")]
SizeEpsilon = Annotated[str | None, typer.Option(help="For the numbers of scored people.")]
Context = Annotated[list[str] | None, typer.Option(help="name=value, repeatable.")]
MandateId = Annotated[str | None, typer.Option("--mandate", help="The mandate that pays.")]


@app.command("run")
def run(
    content: ContentId,
    audience: AudienceId,
    bins: Bins = DEFAULT_BINS,
    edges: EdgeList = None,
    levels: LevelList = None,
    epsilon: Epsilon = "1",
    size_epsilon: SizeEpsilon = None,
    context: Context = None,
    mandate: MandateId = None,
    alpha: Alpha = 0.2,
    delta: Delta = 0.05,
    report: Annotated[Path | None, typer.Option(help="Write the HTML report here.")] = None,
    receipt: Annotated[Path | None, typer.Option(help="Write the receipt here.")] = None,
    idempotency_key: Annotated[str | None, typer.Option(help="Of an interrupted run.")] = None,
    quiet: Quiet = False,
    profile: ProfileName = DEFAULT_PROFILE,
    as_json: AsJson = False,
) -> None:
    """Pay for an audit, wait for its release, verify its receipt, and judge."""
    options = options_of(bins, edges, levels, epsilon, size_epsilon, context, mandate)
    with Auditor.from_profile(profile) as auditor:
        audit = auditor.audits.run(
            content, audience, idempotency_key=idempotency_key, progress=not quiet, **options
        )
    if report:
        audit.report(report, alpha=alpha, delta=delta)
    if receipt:
        audit.save_receipt(receipt)
    show_row(finding(audit, alpha, delta), as_json=as_json)


def price(
    content: ContentId,
    audience: AudienceId,
    bins: Bins = DEFAULT_BINS,
    edges: EdgeList = None,
    levels: LevelList = None,
    epsilon: Epsilon = "1",
    size_epsilon: SizeEpsilon = None,
    context: Context = None,
    mandate: MandateId = None,
    profile: ProfileName = DEFAULT_PROFILE,
    as_json: AsJson = False,
) -> None:
    """What such an audit would cost; asking spends nothing."""
    options = options_of(bins, edges, levels, epsilon, size_epsilon, context, mandate)
    with Auditor.from_profile(profile) as auditor:
        quote = auditor.audits.price(content, audience, **options)
    if as_json:
        show_row(quote.model_dump(), as_json=True)
        return
    show_row(
        {
            "debit": quote.price.debit,
            "remaining_before": quote.remaining_before,
            "remaining_after": quote.remaining_after,
            "covered": "yes" if quote.covered else "no",
            **{f"error_of_{part.name}": f"±{part.error_95} (95 %)" for part in quote.price.parts},
        },
        as_json=False,
    )


@app.command("list")
def list_audits(profile: ProfileName = DEFAULT_PROFILE, as_json: AsJson = False) -> None:
    """Your audits."""
    with Auditor.from_profile(profile) as auditor:
        rows = [row_of(audit, as_json) for audit in auditor.audits.list()]
    columns = ["id", "state", "debit", "submitted_at"]
    show_rows(rows, columns, as_json=as_json)


@app.command("show")
def show(
    audit_id: AuditId,
    alpha: Alpha = 0.2,
    delta: Delta = 0.05,
    profile: ProfileName = DEFAULT_PROFILE,
    as_json: AsJson = False,
) -> None:
    """The state of an audit; once it is released, what it says."""
    with Auditor.from_profile(profile) as auditor:
        audit = auditor.audits.state(audit_id)
        if audit.state == "released":
            row = finding(auditor.audits.get(audit_id), alpha, delta)
        else:
            row = row_of(audit, as_json)
    show_row(row, as_json=as_json)


@app.command("cancel")
def cancel(
    audit_id: AuditId, profile: ProfileName = DEFAULT_PROFILE, as_json: AsJson = False
) -> None:
    """Cancel and refund an audit that has read nothing yet."""
    with Auditor.from_profile(profile) as auditor:
        show_row(row_of(auditor.audits.cancel(audit_id), as_json), as_json=as_json)


def budget(profile: ProfileName = DEFAULT_PROFILE, as_json: AsJson = False) -> None:
    """Your mandates: what is spent and what remains."""
    with Auditor.from_profile(profile) as auditor:
        rows = [mandate.model_dump() for mandate in auditor.budget().mandates]
    columns = ["id", "purpose", "spent", "remaining", "valid_until"]
    show_rows(rows, columns, as_json=as_json)


def options_of(
    bins: int,
    edges: str | None,
    levels: str | None,
    epsilon: str,
    size_epsilon: str | None,
    context: list[str] | None,
    mandate: str | None,
) -> Options:
    return Options(
        bins=numbers(edges) or bins,
        levels=numbers(levels),
        epsilon=epsilon,
        size_epsilon=size_epsilon,
        context={name: _number_or_word(value) for name, value in pairs(context or []).items()},
        mandate_id=mandate,
    )


def row_of(audit: Audit, as_json: bool) -> dict[str, Any]:
    fields = audit.model_dump()
    if as_json:
        return fields
    request = fields.pop("request")
    ids = {name: request[name] for name in ("content_id", "audience_id")}
    return {**fields, **ids, "debit": fields.pop("price")["debit"]}


def _number_or_word(value: str) -> str | float:
    try:
        return float(value)
    except ValueError:
        return value
