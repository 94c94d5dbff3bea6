"""`auditor content` and `auditor catalogue`: trial contents and the platform's offers."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from auditor_client.auditor import Auditor
from auditor_client.cli.options import DEFAULT_PROFILE, AsJson, ProfileName, pairs
from auditor_client.cli.output import print_json, show_row, show_rows
from openapi.resources import ContentKind

app = typer.Typer(help="Trial contents, whose relevance is scored.")


@app.command("upload")
def upload(
    title: Annotated[str, typer.Argument()],
    kind: Annotated[str, typer.Option(help="job, housing, credit, news, political or other.")],
    text: Annotated[str, typer.Option()] = "",
    attribute: Annotated[list[str] | None, typer.Option(help="name=value, repeatable.")] = None,
    image: Annotated[Path | None, typer.Option(help="A PNG, JPEG or WebP.")] = None,
    profile: ProfileName = DEFAULT_PROFILE,
    as_json: AsJson = False,
) -> None:
    """Upload a content."""
    with Auditor.from_profile(profile) as auditor:
        content = auditor.contents.upload(
            kind=cast("ContentKind", kind),
            title=title,
            text=text,
            attributes=pairs(attribute or []),
            image=image,
        )
    show_row(content.model_dump(), as_json=as_json)


@app.command("list")
def list_contents(profile: ProfileName = DEFAULT_PROFILE, as_json: AsJson = False) -> None:
    """List your contents."""
    with Auditor.from_profile(profile) as auditor:
        rows = [content.model_dump() for content in auditor.contents.list()]
    show_rows(rows, ["id", "kind", "title", "created_at"], as_json=as_json)


def catalogue(profile: ProfileName = DEFAULT_PROFILE, as_json: AsJson = False) -> None:
    """Show what the platform offers: kinds of audit, identifiers, samples, limits."""
    with Auditor.from_profile(profile) as auditor:
        offer = auditor.catalogue().model_dump()
    if as_json:
        print_json(offer)
        return
    codebook = offer.pop("codebook") or {"kinds": []}
    samples, context, logs = (offer.pop(name) for name in ("samples", "context", "logs"))
    del offer["kinds"]
    show_row(offer, as_json=False)
    show_rows(
        [_kind_row(kind) for kind in codebook["kinds"]],
        ["kind", "audiences", "question"],
        as_json=False,
    )
    show_rows([row for log in logs for row in _log_rows(log)], _LOG_COLUMNS, as_json=False)
    show_rows(context, ["name", "values", "default"], as_json=False)
    show_rows(samples, ["attribute", "value", "available"], as_json=False)


_LOG_COLUMNS = ["log", "rows_of", "column", "values"]


def _kind_row(kind: Mapping[str, Any]) -> dict[str, str]:
    """Return the first sentence on a kind: `auditor audit KIND --help` has the others."""
    question = kind["question"].split(". ")[0].rstrip(".")
    return {**kind, "audiences": ", ".join(kind["sources"]), "question": f"{question}."}


def _log_rows(log: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    """Yield a row for each column of a log; the first one names the log and whose rows it has."""
    numbers = [(each["name"], f"{each['low']:g} to {each['high']:g}") for each in log["numbers"]]
    words = [(each["name"], ", ".join(each["values"])) for each in log["words"]]
    for index, (column, values) in enumerate([*numbers, *words]):
        named = (log["name"], log["person"]) if index == 0 else ("", "")
        yield dict(zip(_LOG_COLUMNS, (*named, column, values), strict=True))
