"""`auditor regulator`: commands to vet auditors and to watch charges and the ledger."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, cast

import typer
from pydantic import BaseModel

from auditor_client.cli import mandates
from auditor_client.cli.options import DEFAULT_PROFILE, AsJson, ProfileName
from auditor_client.cli.output import show_row, show_rows
from auditor_client.local.keys import read_public
from auditor_client.regulator import Regulator
from openapi.resources import Role

app = typer.Typer(help="For regulators.")
auditors = typer.Typer(help="Vetted organisations.", invoke_without_command=True)
researchers = typer.Typer(
    help="Researchers, regulators and operators, with their public keys.",
    invoke_without_command=True,
)
app.add_typer(auditors, name="auditors")
app.add_typer(researchers, name="researchers")
app.add_typer(mandates.app, name="mandates")


@auditors.callback()
def list_auditors(
    context: typer.Context, profile: ProfileName = DEFAULT_PROFILE, as_json: AsJson = False
) -> None:
    """List auditors, or `add` one."""
    if context.invoked_subcommand is None:
        columns = ["id", "name", "created_at"]
        _list(profile, lambda regulator: regulator.auditors.list(), columns, as_json)


@auditors.command("add")
def add_auditor(
    name: Annotated[str, typer.Argument()],
    profile: ProfileName = DEFAULT_PROFILE,
    as_json: AsJson = False,
) -> None:
    """Register a vetted organisation."""
    with Regulator.from_profile(profile) as regulator:
        show_row(regulator.auditors.add(name).model_dump(), as_json=as_json)


@researchers.callback()
def list_researchers(
    context: typer.Context, profile: ProfileName = DEFAULT_PROFILE, as_json: AsJson = False
) -> None:
    """List registered people, or `add` one."""
    if context.invoked_subcommand is None:
        columns = ["id", "name", "role"]
        _list(profile, lambda regulator: regulator.researchers.list(), columns, as_json)


@researchers.command("add")
def add_researcher(
    name: Annotated[str, typer.Argument()],
    key: Annotated[Path, typer.Option(help="The file of the person's public JWK.")],
    auditor: Annotated[str | None, typer.Option(help="The person's organisation.")] = None,
    role: Annotated[str, typer.Option(help="Role: auditor, regulator or operator.")] = "auditor",
    profile: ProfileName = DEFAULT_PROFILE,
    as_json: AsJson = False,
) -> None:
    """Register a person and their public key."""
    with Regulator.from_profile(profile) as regulator:
        made = regulator.researchers.add(
            name, jwk=read_public(key), auditor_id=auditor, role=cast("Role", role)
        )
    show_row(made.model_dump(), as_json=as_json)


@app.command("charges")
def charges(
    auditor: Annotated[str | None, typer.Option(help="Only of this organisation.")] = None,
    audience: Annotated[str | None, typer.Option(help="Only on this audience.")] = None,
    profile: ProfileName = DEFAULT_PROFILE,
    as_json: AsJson = False,
) -> None:
    """List charges with their auditor, audit and audience."""
    columns = ["id", "kind", "debit", "currency", "refunded", "charged_at"]
    _list(
        profile,
        lambda regulator: regulator.charges(auditor_id=auditor, audience_id=audience),
        columns,
        as_json,
    )


def _list(
    profile: str,
    read: Callable[[Regulator], Sequence[BaseModel]],
    columns: list[str],
    as_json: bool,
) -> None:
    with Regulator.from_profile(profile) as regulator:
        rows = [item.model_dump() for item in read(regulator)]
    show_rows(rows, columns, as_json=as_json)
