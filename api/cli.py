"""`platform-auditor`: what a platform's operator types."""

import base64
import secrets
import signal
import threading
import tomllib
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import prometheus_client
import typer
import uvicorn
from pydantic import SecretStr

from api import logs, server, setup, traces
from api.adapters import PlatformDownError
from api.ceilings import PERSON_LIFETIME_RHO
from api.compose import load_platform, load_service, make_platform
from api.conformance import examine
from api.conformance.command import examined
from api.demo import Through
from api.demo import run as run_demo
from api.doctor import Patient, diagnose
from api.doctor.adapter import examine_adapter
from api.findings import report
from api.hosting import served
from api.inspection import inspect
from api.settings import Settings, load_settings
from api.shift import Shift, settle
from api.store import Store
from api.store.schema import NewerSchemaError, migrate

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
persons = typer.Typer(no_args_is_help=True, help="What people have borne.")
app.add_typer(persons, name="persons")

ConfigOption = Annotated[
    Path | None, typer.Option("--config", "-c", exists=True, dir_okay=False, help="Settings, TOML.")
]

OptionsOption = Annotated[
    Path | None,
    typer.Option("--options", exists=True, dir_okay=False, help="Its platform_options, TOML."),
]
TokenFileOption = Annotated[
    Path | None,
    typer.Option("--token-file", exists=True, dir_okay=False, help="Holds the bearer token."),
]

JsonOption = Annotated[bool, typer.Option("--json", help="Findings as JSON.")]


@app.command()
def init(
    folder: Annotated[Path, typer.Argument(help="Where settings and database go.")],
    issuer: Annotated[str, typer.Option(help="The public address of this service.")],
    regulator_key: Annotated[
        Path, typer.Option(exists=True, help="Public JWK of the first regulator.")
    ],
    operator_key: Annotated[
        Path | None, typer.Option(exists=True, help="Public JWK of the first operator.")
    ] = None,
    database_url: Annotated[
        str | None, typer.Option(help="PostgreSQL, e.g. postgresql+psycopg://…; SQLite if none.")
    ] = None,
) -> None:
    """Make the settings, the database and the first regulator. Prints the ids to sign in with."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "platform-auditor.toml"
    url = database_url or f"sqlite:///{(folder / 'platform-auditor.sqlite').resolve()}"
    setup.write_settings(path, url, issuer, base64.urlsafe_b64encode(secrets.token_bytes(32)))
    settings = load_settings(path)
    keys = {"regulator": regulator_key, "operator": operator_key}
    for role, researcher_id in setup.prepare(settings, keys).items():
        typer.echo(f"{role}: {researcher_id}")
    typer.echo(f"settings: {path}\nnext: platform-auditor serve --config {path}")


@app.command()
def serve(
    config: ConfigOption = None,
    host: Annotated[str, typer.Option()] = "127.0.0.1",
    port: Annotated[int, typer.Option()] = 8000,
    metrics_port: Annotated[
        int | None, typer.Option(help="Prometheus figures, on the loopback address only.")
    ] = None,
) -> None:
    """Serve the API, with a worker in the same process unless the settings say otherwise.

    Told to stop (SIGTERM), it finishes requests and its audit within `shutdown_seconds`.
    """
    settings = _ready(config)
    if metrics_port is not None:
        prometheus_client.start_http_server(metrics_port, addr="127.0.0.1")
    server.run(load_service(settings), host, port)


@app.command()
def worker(config: ConfigOption = None) -> None:
    """Run audits without serving. Start as many as you like on PostgreSQL.

    Told to stop (SIGTERM), it finishes its audit within `shutdown_seconds` or leaves it to another.
    """
    service = load_service(_ready(config))
    stop, told = threading.Event(), threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: told.set())
    presence = threading.Thread(target=service.presence(serves=False).run, args=(stop,))
    presence.start()
    shift = Shift(service.worker())
    settle()
    shift.begin()
    told.wait()
    shift.end()
    stop.set()
    presence.join()


@app.command()
def demo(
    folder: Annotated[Path, typer.Option(help="Where everything is written.")] = Path(
        "demo-output"
    ),
    keep: Annotated[bool, typer.Option("--serve", help="Leave the service running.")] = False,
    people: Annotated[
        int, typer.Option(min=5_000, help="How many people the platforms have.")
    ] = 20_000,
    through: Annotated[
        Through, typer.Option(help="How the services reach the platforms.")
    ] = Through.PROCESS,
) -> None:
    """Two simulated platforms, one fair and one not, audited from end to end."""
    run_demo(folder, keep=keep, people=people, through=through)


@app.command()
def adapter(
    platform: Annotated[str, typer.Argument(help="As in the settings: a name, module:factory.")],
    options: OptionsOption = None,
    token_file: TokenFileOption = None,
    host: Annotated[str, typer.Option()] = "127.0.0.1",
    port: Annotated[int, typer.Option()] = 8100,
) -> None:
    """Serve a platform by HTTP, as docs/adapters.md has it. Put TLS in front of it."""
    logs.configure("INFO")
    token = SecretStr(token_file.read_text().strip()) if token_file else None
    application = served(make_platform(platform, _read_options(options)), token)
    uvicorn.run(application, host=host, port=port, log_config=None, server_header=False)


@app.command()
def conformance(
    target: Annotated[str, typer.Argument(help="The address of an adapter, or as in `adapter`.")],
    options: OptionsOption = None,
    token_file: TokenFileOption = None,
    identifiers: Annotated[
        Path | None,
        typer.Option(exists=True, help="CSV of test accounts: kind, identifier (hashes in hex)."),
    ] = None,
    explore: Annotated[
        bool, typer.Option(help="Show the test people other recommendations than their own.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Tell what an adapter gets wrong, and what to do about it."""
    chosen = _read_options(options) | ({"token_file": token_file} if token_file else {})
    try:
        with examined(target, chosen, identifiers, explore=explore) as subject:
            findings = list(examine(subject))
    except (ValueError, PlatformDownError) as error:
        why = f"{error}: {error.__cause__}" if error.__cause__ else error
        typer.echo(f"{target} cannot be examined: {why}", err=True)
        raise typer.Exit(2) from None
    raise typer.Exit(report(findings, as_json=as_json))


@app.command()
def doctor(
    config: ConfigOption = None,
    head: Annotated[
        Path | None,
        typer.Option(exists=True, help="A signed head of the ledger that was kept elsewhere."),
    ] = None,
    adapter: Annotated[bool, typer.Option(help="Examine the platform's adapter too.")] = True,
    as_json: JsonOption = False,
) -> None:
    """Whether this deployment is well: keys, clock, database, randomness, disk, adapter."""
    settings = load_settings(config)
    store = Store(settings.database_url)
    try:
        # An empty file: no head was seen yet.
        patient = Patient(settings, store, config, head.read_text() or None if head else None)
        found = list(diagnose(patient))
    finally:
        store.close()
    if adapter:
        found += examine_adapter(partial(load_platform, settings))
    raise typer.Exit(report(found, as_json=as_json))


@persons.command("verify")
def verify_persons(config: ConfigOption = None) -> None:
    """Recompute every balance from sealed audiences and ledger charges. For an inspection."""
    settings = _ready(config)
    store = Store(settings.database_url)
    found = inspect(store, PERSON_LIFETIME_RHO)
    store.close()
    typer.echo(
        f"{found.people} people have a balance, from {found.charges} charges: "
        f"{found.differing} differ, {found.above_cap} are above the cap"
    )
    raise typer.Exit(0 if found.sound else 1)


def _read_options(path: Path | None) -> dict[str, Any]:
    return tomllib.loads(path.read_text()) if path else {}


def _ready(config: Path | None) -> Settings:
    """Settings, logs and an up-to-date schema."""
    settings = load_settings(config)
    logs.configure(settings.log_level)
    traces.start(settings)
    store = Store(settings.database_url)
    try:
        migrate(store)
    except NewerSchemaError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from None
    finally:
        store.close()
    return settings


@app.callback(invoke_without_command=True)
def _root(
    show_version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Host a platform auditor."""
    if show_version:
        typer.echo(version("platform-auditor"))
        raise typer.Exit


def main() -> None:
    app()


if __name__ == "__main__":
    main()
