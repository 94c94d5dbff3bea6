"""`auditor audit match-count`, `most-skewed`, `cdf` and `balances`: the other kinds of audit."""

from typing import Annotated

import typer

from auditor_client.audits.request_builder import BALANCE_BINS
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
    ReceiptFile,
    context_of,
)
from auditor_client.cli.charging import New, charging
from auditor_client.cli.options import DEFAULT_PROFILE, AsJson, ProfileName, Quiet, numbers
from auditor_client.cli.saved_results import keep_and_show
from auditor_client.errors import InputError
from auditor_client.kinds.options import DEFAULT_BINS

ContentIds = Annotated[list[str], typer.Argument(metavar="CONTENT...")]


def add_to(app: typer.Typer) -> None:
    app.command("match-count")(match_count)
    app.command("cdf")(cdf)
    app.command("most-skewed")(most_skewed)
    app.command("balances")(balances)


def match_count(
    audience: AudienceId,
    epsilon: Epsilon = None,
    mandate: MandateId = None,
    receipt: ReceiptFile = None,
    idempotency_key: Key = None,
    new: New = False,
    quiet: Quiet = False,
    profile: ProfileName = DEFAULT_PROFILE,
    as_json: AsJson = False,
) -> None:
    """How many people of each group the platform found, with noise."""
    with charging(profile) as auditor:
        audit = auditor.audits.match_count(
            audience,
            epsilon or 1,
            mandate_id=mandate,
            idempotency_key=idempotency_key,
            new=new,
            progress=not quiet,
        )
        keep_and_show(audit, receipt, as_json)


def cdf(
    content: ContentId,
    audience: AudienceId,
    bins: Bins = DEFAULT_BINS,
    edges: EdgeList = None,
    epsilon: Epsilon = None,
    context: Context = None,
    mandate: MandateId = None,
    receipt: ReceiptFile = None,
    idempotency_key: Key = None,
    new: New = False,
    quiet: Quiet = False,
    profile: ProfileName = DEFAULT_PROFILE,
    as_json: AsJson = False,
) -> None:
    """How many people of each group score up to each edge, with noise."""
    with charging(profile) as auditor:
        audit = auditor.audits.cdf(
            content,
            audience,
            bins=numbers(edges) or bins,
            epsilon=epsilon or 1,
            context=context_of(context),
            mandate_id=mandate,
            idempotency_key=idempotency_key,
            new=new,
            progress=not quiet,
        )
        keep_and_show(audit, receipt, as_json)


def most_skewed(
    audience: AudienceId,
    contents: ContentIds,
    bins: Bins = DEFAULT_BINS,
    edges: EdgeList = None,
    levels: LevelList = None,
    epsilon: Epsilon = None,
    weights: Annotated[str, typer.Option(help="Of the two groups, e.g. 2,1.")] = "1,1",
    context: Context = None,
    mandate: MandateId = None,
    receipt: ReceiptFile = None,
    idempotency_key: Key = None,
    new: New = False,
    quiet: Quiet = False,
    profile: ProfileName = DEFAULT_PROFILE,
    as_json: AsJson = False,
) -> None:
    """Which of several contents is scored most differently between two groups, at one price."""
    with charging(profile) as auditor:
        audit = auditor.audits.most_skewed(
            contents,
            audience,
            bins=numbers(edges) or bins,
            levels=numbers(levels),
            epsilon=epsilon or 1,
            weights=weights_of(weights),
            context=context_of(context),
            mandate_id=mandate,
            idempotency_key=idempotency_key,
            new=new,
            progress=not quiet,
        )
        keep_and_show(audit, receipt, as_json)


def balances(
    audience: AudienceId,
    bins: Annotated[int, typer.Option(help="Equal bins from 0 to the whole cap.")] = BALANCE_BINS,
    edges: Annotated[str | None, typer.Option(help="Shares of the cap: 0,0.5,0.9,1.")] = None,
    epsilon: Epsilon = None,
    mandate: MandateId = None,
    receipt: ReceiptFile = None,
    idempotency_key: Key = None,
    new: New = False,
    quiet: Quiet = False,
    profile: ProfileName = DEFAULT_PROFILE,
    as_json: AsJson = False,
) -> None:
    """How near people are to their lifetime cap, with noise. A mandate must name the kind."""
    with charging(profile) as auditor:
        audit = auditor.audits.balances(
            audience,
            bins=numbers(edges) or bins,
            epsilon=epsilon or 1,
            mandate_id=mandate,
            idempotency_key=idempotency_key,
            new=new,
            progress=not quiet,
        )
        keep_and_show(audit, receipt, as_json)


def weights_of(text: str) -> tuple[int, int]:
    try:
        first, second = (int(word) for word in text.split(","))
    except ValueError as error:
        raise InputError(f"{text!r} is not a pair of whole numbers like 2,1.") from error
    return first, second
