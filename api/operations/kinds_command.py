"""`platform-auditor kinds`: kinds of audit that installed packages add."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from traceback import extract_tb
from typing import Annotated

import typer
from pydantic import ValidationError
from sqlmodel import Session, col, delete, select

from api.db import KindCheckRow, Store
from api.db.schema import migrate
from api.kernel.settings import load_settings
from api.kinds.packages import Package, installed_package
from api.kinds.registry import platform_kind
from api.operations.sensitivity.kind_search import Searched, search_kind
from openapi.complaints import complaints
from openapi.kinds.packages import PLATFORM_GROUP, PackageError, admit, installed

app = typer.Typer(no_args_is_help=True, help="Kinds of audit that installed packages add.")
ConfigOption = Annotated[
    Path | None,
    typer.Option("--config", "-c", exists=True, dir_okay=False, help="Settings file (TOML)."),
]
NameArgument = Annotated[str, typer.Argument(help="Name of the kind, as in its package.")]
_HEADER = f"{'table':20} {'relation':10} {'claimed L1, L2², L∞':>28} {'found L1, L2², L∞':>28}"


@app.command()
def check(
    name: NameArgument,
    config: ConfigOption = None,
    worlds: Annotated[
        int, typer.Option(min=0, help="Number of larger worlds drawn for each request and source.")
    ] = 200,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the draw.")] = 1,
) -> None:
    """Search for people who move a release of a kind by more than it claims, and record its
    package.

    This runs code of the package. The service offers the kind from its next start, as long as the
    package's files stay the same. The search finds mistakes: it does not prove that there are none.
    """
    try:
        package = installed_package(name)
        results = list(_searched(package, worlds, seed))
        _check_searched(package, results)
    except PackageError as error:
        typer.echo(f"{error}. Nothing was recorded.", err=True)
        raise typer.Exit(2) from None
    if any(each.violations for each in results):
        typer.echo(f"{name} moves by more than it claims. Nothing was recorded.", err=True)
        raise typer.Exit(1)
    with _open(config) as store, store.write() as session:
        _record(session, package, results)
    typer.echo(
        f"Recorded {package.package} {package.version}, {package.digest}.\n"
        f"The service offers {name} from its next start. Its ledger and every price will state that"
        " the bounds come from the package."
    )


@app.command("list")
def list_kinds(config: ConfigOption = None) -> None:
    """List the kinds that installed packages add, and whether the service offers them."""
    with _open(config) as store, store.read() as session:
        checked = {row.kind: row.digest for row in session.exec(select(KindCheckRow))}
    for name in sorted({*installed(PLATFORM_GROUP), *checked}):
        typer.echo(f"{name}: {_standing(name, checked.get(name))}")


@app.command()
def disable(name: NameArgument, config: ConfigOption = None) -> None:
    """Delete the check of a kind: from its next start the service does not offer it."""
    with _open(config) as store, store.write() as session:
        session.exec(delete(KindCheckRow).where(col(KindCheckRow.kind) == name))
    typer.echo(f"The service does not offer {name} from its next start.")


def _searched(package: Package, worlds: int, seed: int) -> Iterator[Searched]:
    admit([package.kind])
    try:
        kind = platform_kind(package.kind)
    except KeyError:
        raise PackageError(f"The package {package.package} cannot be loaded") from None
    if not kind.contract.question:
        raise PackageError(
            f"The request of {package.kind} has no docstring, which states the kind's question"
        )
    typer.echo(f"{package.kind} of {package.package} {package.version}")
    for result in _guarded(package, search_kind(kind, worlds=worlds, seed=seed)):
        typer.echo(f"\nrequest {result.request + 1}, {result.audience}: {_size(result)}")
        if result.claimed:
            typer.echo(_HEADER)
        for (table, relation), claimed in result.claimed.items():
            found = result.found.norms[table, relation]
            norms = [f"{each.l1}, {each.l2_squared}, {each.linf}" for each in (claimed, found)]
            typer.echo(f"{table:20} {relation:10} {norms[0]:>28} {norms[1]:>28}")
        for violation in result.violations:
            typer.echo(f"VIOLATED: {violation}")
        yield result


def _guarded(package: Package, results: Iterator[Searched]) -> Iterator[Searched]:
    """Yield the results; raise `PackageError` if the platform half fails."""
    try:
        yield from results
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        if isinstance(error, ValidationError):
            reason = f"{error.title}: {'; '.join(complaints(error))}"
        where = _line_of(package, error)
        raise PackageError(
            f"The platform half of {package.package} failed{where}: {reason.rstrip('.')}"
        ) from error


def _line_of(package: Package, error: Exception) -> str:
    """Return the last line of the package that ran before an error."""
    module = installed(PLATFORM_GROUP)[package.kind].module.partition(".")[0]
    frames = [
        each for each in extract_tb(error.__traceback__) if module in Path(each.filename).parts
    ]
    return f" in {Path(frames[-1].filename).name}, line {frames[-1].lineno}" if frames else ""


def _check_searched(package: Package, results: list[Searched]) -> None:
    """Raise if nothing was searched, or if another package than the searched one is installed
    now.
    """
    if not any(each.claimed for each in results):
        raise PackageError(
            f"No request of {package.kind} could be searched, because it refuses all"
        )
    if installed_package(package.kind).digest != package.digest:
        raise PackageError(f"The files of {package.package} changed during the search")


def _size(result: Searched) -> str:
    return f"refused: {result.refused}" if result.refused else f"{result.found.worlds} worlds"


def _record(session: Session, package: Package, results: list[Searched]) -> None:
    found = {
        f"{each.request}, {each.audience}, {table}, {relation}": {
            "claimed": claimed.l1,
            "found": each.found.norms[table, relation].l1,
        }
        for each in results
        for (table, relation), claimed in each.claimed.items()
    }
    row = KindCheckRow(**package.facts, found=json.dumps(found), checked_at=datetime.now(UTC))
    session.merge(row)


def _standing(name: str, checked: str | None) -> str:
    try:
        package = installed_package(name)
    except PackageError as error:
        return f"not offered: {error}"
    named = f"{package.package} {package.version}"
    if package.digest == checked:
        return f"offered, of {named}"
    why = "was not checked" if checked is None else "changed since it was checked"
    return f"not offered: {named} {why}"


@contextmanager
def _open(config: Path | None) -> Iterator[Store]:
    """Open the database of the settings, migrated, while a block runs."""
    store = Store(load_settings(config).database_url)
    try:
        migrate(store)
        yield store
    finally:
        store.close()
