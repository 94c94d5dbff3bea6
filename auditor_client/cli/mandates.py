"""`auditor budget` and `auditor regulator mandates`: the granted limits and the remaining
amounts.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from auditor_client.auditor import Auditor
from auditor_client.cli.options import DEFAULT_PROFILE, AsJson, ProfileName
from auditor_client.cli.output import show_row, show_rows
from auditor_client.errors import InputError
from auditor_client.regulator import Regulator, RenewalKind
from openapi.kinds.registry import DEFAULT
from openapi.resources import AuditKind, Mandate

app = typer.Typer(help="Mandates and their auditors.", invoke_without_command=True)

AuditorId = Annotated[str, typer.Argument(metavar="AUDITOR")]
Limit = Annotated[
    str | None, typer.Option(help="The limit in epsilon, under the change-one relation.")
]
RhoLimit = Annotated[str | None, typer.Option(help="The limit in rho, for Gaussian noise.")]
Delta = Annotated[
    str | None, typer.Option(help="The delta at which a limit in rho is shown as an epsilon.")
]
RenewalWords = Annotated[
    str | None, typer.Option(help="Renewal of the limit, in days: rolling:30 or fixed:30.")
]
Lifetime = Annotated[
    str | None, typer.Option(help="A total limit that is never renewed, in addition to --renewal.")
]
Exploration = Annotated[
    str | None, typer.Option(help="The largest reward that people may lose in audits of envy.")
]
OpenedShare = Annotated[
    str, typer.Option(help="Share of two-party runs that you open before their delivery.")
]
Kinds = Annotated[
    list[str] | None,
    typer.Option(
        "--kind", help="A kind of audit that the mandate allows; repeat the option for more."
    ),
]


def budget(
    chart: Annotated[
        Path | None, typer.Option(help="File for the burn-down chart: .svg, .png or .html.")
    ] = None,
    profile: ProfileName = DEFAULT_PROFILE,
    as_json: AsJson = False,
) -> None:
    """Show your mandates, with the spent and the remaining budget."""
    with Auditor.from_profile(profile) as auditor:
        if chart is not None:
            from auditor_client.charts.chart import save  # Altair takes a second to import

            save(auditor.budget_chart(), chart)
        show_mandates(auditor.budget().mandates, as_json)


@app.callback()
def list_mandates(
    context: typer.Context, profile: ProfileName = DEFAULT_PROFILE, as_json: AsJson = False
) -> None:
    """List mandates, or `grant` one."""
    if context.invoked_subcommand is None:
        with Regulator.from_profile(profile) as regulator:
            show_mandates(regulator.mandates.list(), as_json)


@app.command("grant")
def grant(
    auditor: AuditorId,
    purpose: Annotated[str, typer.Option()],
    epsilon: Limit = None,
    rho: RhoLimit = None,
    delta: Delta = None,
    renewal: RenewalWords = None,
    lifetime: Lifetime = None,
    exploration: Exploration = None,
    kind: Kinds = None,
    opened_share: OpenedShare = "1",
    days: Annotated[int, typer.Option(help="Validity in days, from now.")] = 365,
    researcher: Annotated[
        list[str] | None,
        typer.Option(
            help=(
                "An individual who may spend it; repeat for more (default: everybody of the "
                "auditor)."
            )
        ),
    ] = None,
    profile: ProfileName = DEFAULT_PROFILE,
    as_json: AsJson = False,
) -> None:
    """Grant a mandate, in epsilon or in rho."""
    now = datetime.now(UTC)
    with Regulator.from_profile(profile) as regulator:
        made = regulator.mandates.grant(
            auditor,
            purpose=purpose,
            epsilon_limit=epsilon,
            rho_limit=rho,
            delta=delta,
            renewal=renewal_of(renewal),
            lifetime_limit=lifetime,
            exploration_limit=exploration or 0,
            kinds=cast("list[AuditKind]", kind or [DEFAULT]),
            opened_share=opened_share,
            valid_from=now,
            valid_until=now + timedelta(days=days),
            researcher_ids=researcher,
        )
    show_row(made.model_dump() if as_json else mandate_row(made), as_json=as_json)


def show_mandates(mandates: Sequence[Mandate], as_json: bool) -> None:
    """Print one mandate after the other: there are few, and each has many fields."""
    if as_json or not mandates:
        show_rows([mandate.model_dump() for mandate in mandates], [], as_json=as_json)
        return
    for number, mandate in enumerate(mandates):
        if number:
            typer.echo()
        show_row(mandate_row(mandate), as_json=False)


def mandate_row(mandate: Mandate) -> dict[str, Any]:
    return {
        "id": mandate.id,
        "state": mandate.state,
        "purpose": mandate.purpose,
        "kinds": mandate.kinds,
        "individuals": mandate.researcher_ids or "all of the auditor",
        "limit": limit_words(mandate),
        "lifetime_limit": mandate.lifetime_limit,
        "spent": mandate.spent,
        "remaining": mandate.remaining,
        **_exploration(mandate),
        "valid_from": mandate.valid_from,
        "valid_until": mandate.valid_until,
    }


def _exploration(mandate: Mandate) -> dict[str, Any]:
    """Return the reward that people may lose, where the mandate allows any."""
    if not mandate.exploration_limit:
        return {}
    return {
        "exploration_limit": mandate.exploration_limit,
        "exploration_remaining": mandate.exploration_remaining,
    }


def limit_words(mandate: Mandate) -> str:
    """Return the limit with its currency and its renewal: "2 rho in any 30 days"."""
    limit = mandate.rho_limit if mandate.epsilon_limit is None else mandate.epsilon_limit
    words = f"{limit} {mandate.currency}"
    if mandate.approximate_epsilon is not None:
        words += f" (epsilon {mandate.approximate_epsilon:.3g} at delta {mandate.delta})"
    if mandate.renewal is None:
        return words
    kind = {"rolling": "any", "fixed": "each period of"}[mandate.renewal.kind]
    return f"{words} in {kind} {mandate.renewal.days} days"


def renewal_of(text: str | None) -> tuple[RenewalKind, int] | None:
    if text is None:
        return None
    kind, _, days = text.partition(":")
    if kind not in ("rolling", "fixed") or not days.isdecimal():
        raise InputError(f"{text!r} is not of the form rolling:30 or fixed:30.")
    return cast("RenewalKind", kind), int(days)
