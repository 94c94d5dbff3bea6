"""`auditor audience`: upload a file of people, or have the platform draw a sample."""

from pathlib import Path
from typing import Annotated, Any

import typer

from auditor_client.audiences.client import NamedAudience
from auditor_client.audiences.file_tables import read_table
from auditor_client.auditor import Auditor
from auditor_client.cli.options import DEFAULT_PROFILE, AsJson, ProfileName, Quiet, pairs
from auditor_client.cli.output import show_row, show_rows
from auditor_client.errors import InputError

app = typer.Typer(help="Audiences: the people of an audit, in groups.")
Consented = Annotated[
    bool,
    typer.Option(help="All people consented to see other people's recommendations for a while."),
]


@app.command("upload")
def upload(
    file: Annotated[Path, typer.Argument(help="A CSV or Parquet file.")],
    id_column: Annotated[str, typer.Option("--id", help="The column of identifiers.")],
    by: Annotated[
        list[str],
        typer.Option(help="The column of groups; repeat the option for intersectional groups."),
    ],
    where: Annotated[
        str | None, typer.Option(help="A column of true and false; only true rows count.")
    ] = None,
    id_kind: Annotated[
        str | None, typer.Option(help="Kind of identifier (default: by the column's name).")
    ] = None,
    country: Annotated[
        str | None,
        typer.Option(help="Calling code (+44) or region (GB) of phone numbers without +."),
    ] = None,
    drop_missing: Annotated[bool, typer.Option(help="Drop rows without a group.")] = False,
    confirmed: Annotated[
        bool, typer.Option(help="Score only people who confirm that they take part.")
    ] = False,
    consented: Consented = False,
    cluster: Annotated[
        str | None, typer.Option(help="A column of people recruited together. It stays here.")
    ] = None,
    correlation: Annotated[
        float, typer.Option(help="How much people of one cluster are alike, at most.", min=0, max=1)
    ] = 1.0,
    resume: Annotated[
        str | None, typer.Option(help="Continue the upload of this audience.")
    ] = None,
    quiet: Quiet = False,
    profile: ProfileName = DEFAULT_PROFILE,
    as_json: AsJson = False,
) -> None:
    """Upload and seal an audience. This machine hashes identifiers; group names stay here."""
    frame = read_table(file, [id_column, *by, *([cluster] if cluster else [])], where)
    with Auditor.from_profile(profile) as auditor:
        audience = auditor.audiences.upload(
            frame,
            id=id_column,
            by=by,
            where=where,
            id_kind=id_kind,
            country=country,
            missing_groups="drop" if drop_missing else "refuse",
            confirmed=confirmed,
            consented=consented,
            cluster=cluster,
            correlation=correlation,
            resume=resume,
            progress=not quiet,
        )
    show_row(row_of(audience), as_json=as_json)


@app.command("seal")
def seal(
    audience_id: Annotated[str, typer.Argument(metavar="AUDIENCE")],
    profile: ProfileName = DEFAULT_PROFILE,
    as_json: AsJson = False,
) -> None:
    """Seal an audience of confirmed people, after they have confirmed."""
    with Auditor.from_profile(profile) as auditor:
        show_row(row_of(auditor.audiences.seal(audience_id)), as_json=as_json)


@app.command("sample")
def sample(
    attribute: Annotated[
        str, typer.Argument(help="The attribute that people declared, e.g. gender.")
    ],
    sizes: Annotated[list[str], typer.Argument(help="value=number, e.g. woman=300 man=300.")],
    consented: Consented = False,
    profile: ProfileName = DEFAULT_PROFILE,
    as_json: AsJson = False,
) -> None:
    """Have the platform draw people at random; you receive a handle, never identities."""
    wanted = {value: whole(number) for value, number in pairs(sizes).items()}
    with Auditor.from_profile(profile) as auditor:
        drawn = auditor.audiences.sample(attribute, wanted, consented=consented)
        show_row(row_of(drawn), as_json=as_json)


@app.command("list")
def list_audiences(profile: ProfileName = DEFAULT_PROFILE, as_json: AsJson = False) -> None:
    """List your audiences."""
    with Auditor.from_profile(profile) as auditor:
        rows = [row_of(audience) for audience in auditor.audiences.list()]
    show_rows(rows, ["id", "state", "source", "members", "created_at"], as_json=as_json)


@app.command("delete")
def delete(
    audience_id: Annotated[str, typer.Argument(metavar="AUDIENCE")],
    profile: ProfileName = DEFAULT_PROFILE,
    as_json: AsJson = False,
) -> None:
    """Delete the members of an audience at the platform."""
    with Auditor.from_profile(profile) as auditor:
        auditor.audiences.delete(audience_id)
    show_row({"id": audience_id, "members": "forgotten"}, as_json=as_json)


def row_of(audience: NamedAudience) -> dict[str, Any]:
    fields = audience.wire.model_dump(exclude={"groups"})
    return {**fields, "members": audience.members, "notes": list(audience.notes)}


def whole(text: str) -> int:
    if not text.isdecimal():
        raise InputError(f"{text!r} is not a number of people.")
    return int(text)
