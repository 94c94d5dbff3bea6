"""`platform-auditor`: the command of a platform's operator."""

import base64
import os
import secrets
import signal
import threading
import tomllib
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import typer
import uvicorn
from pydantic import SecretStr, ValidationError
from typer.core import TyperGroup
from typer.main import get_command

from api.app import server
from api.app.compose import load_container, load_platform, make_platform
from api.app.container import Container
from api.audits.queue.worker_thread import WorkerThread, freeze_startup_objects
from api.db import Store
from api.db.schema import NewerSchemaError, migrate
from api.health import container_probe as probing
from api.health.listener import MetricsAddressError, listen, listen_if_configured
from api.kernel.checks import report
from api.kernel.hard_limits import PERSON_LIFETIME_RHO
from api.kernel.settings import Settings, load_settings
from api.operations import kinds_command, setup
from api.operations.balance_repair import repair, repair_after_upgrade
from api.operations.conformance_command import open_subject
from api.operations.demo import Through
from api.operations.demo import run as run_demo
from api.operations.doctor import DoctorSubject, diagnose
from api.operations.doctor.adapter import examine_adapter
from api.operations.reconciliation import inspect
from api.platforms.conformance import examine
from api.platforms.fault_isolation import PlatformDownError
from api.platforms.http import served
from api.telemetry import logging, tracing
from openapi.complaints import usage_in_plain_words


class OperatorCommands(TyperGroup):
    """Commands whose errors about options name the admissible values."""

    def make_context(self, *args: Any, **extra: Any) -> Any:
        with usage_in_plain_words(typer.BadParameter):
            return super().make_context(*args, **extra)

    def invoke(self, ctx: Any) -> Any:
        with usage_in_plain_words(typer.BadParameter):
            return super().invoke(ctx)


app = typer.Typer(
    cls=OperatorCommands, no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False
)
persons = typer.Typer(no_args_is_help=True, help="Lifetime balances of people.")
app.add_typer(persons, name="persons")
app.add_typer(kinds_command.app, name="kinds")

ConfigOption = Annotated[
    Path | None,
    typer.Option("--config", "-c", exists=True, dir_okay=False, help="The settings file (TOML)."),
]

OptionsOption = Annotated[
    Path | None,
    typer.Option(
        "--options", exists=True, dir_okay=False, help="File with its platform_options (TOML)."
    ),
]
TokenFileOption = Annotated[
    Path | None,
    typer.Option("--token-file", exists=True, dir_okay=False, help="File with the bearer token."),
]

MetricsHostOption = Annotated[
    str | None,
    typer.Option(help="Address of metrics and probes (default: metrics_host, 127.0.0.1)."),
]
MetricsPortOption = Annotated[
    int | None,
    typer.Option(
        help="Port of metrics and probes (default: metrics_port; without a port, they are off)."
    ),
]

# The adapter has no settings: it reads these variables as `serve` and `worker` do.
_METRICS_HOST, _METRICS_PORT = "PLATFORM_AUDITOR_METRICS_HOST", "PLATFORM_AUDITOR_METRICS_PORT"
_WHERE = "Address of metrics and probes."
_PORT = "Port of metrics and probes (without a port, they are off)."

JsonOption = Annotated[bool, typer.Option("--json", help="Print findings as JSON.")]


@app.command()
def init(
    folder: Annotated[Path, typer.Argument(help="Folder for settings and database.")],
    issuer: Annotated[str, typer.Option(help="Public address of this service.")],
    regulator_key: Annotated[
        Path, typer.Option(exists=True, help="Public JWK of the first regulator.")
    ],
    operator_key: Annotated[
        Path | None, typer.Option(exists=True, help="Public JWK of the first operator.")
    ] = None,
    database_url: Annotated[
        str | None,
        typer.Option(help="Database URL, e.g. postgresql+psycopg://… (default: SQLite)."),
    ] = None,
) -> None:
    """Create the settings, the database and the first regulator. Print the ids to sign in with."""
    if not setup.make_private_folder(folder):
        typer.echo(f"Other accounts can list {folder}. Close it with: chmod 700 {folder}", err=True)
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
    metrics_host: MetricsHostOption = None,
    metrics_port: MetricsPortOption = None,
) -> None:
    """Serve the API, by default with a worker in the same process.

    On SIGTERM it finishes requests and its audit within `shutdown_seconds`.
    """
    container = load_container(_ready(config, metrics_host, metrics_port))
    with _listening(container):
        server.run(container, host, port)


@app.command()
def worker(
    config: ConfigOption = None,
    metrics_host: MetricsHostOption = None,
    metrics_port: MetricsPortOption = None,
) -> None:
    """Run audits without serving. On PostgreSQL, start any number of workers.

    On SIGTERM it finishes its audit within `shutdown_seconds` or leaves it to another worker.
    """
    service = load_container(_ready(config, metrics_host, metrics_port))
    stop, told = threading.Event(), threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: told.set())
    with _listening(service):
        heartbeat = service.heartbeat(serves=False)
        heartbeat.beat()
        presence = threading.Thread(target=heartbeat.run, args=(stop,))
        presence.start()
        worker_thread = WorkerThread(service.worker())
        freeze_startup_objects()
        worker_thread.start()
        told.wait()
        worker_thread.stop()
        stop.set()
        presence.join()


@app.command()
def probe(
    config: ConfigOption = None,
    metrics_host: MetricsHostOption = None,
    metrics_port: MetricsPortOption = None,
) -> None:
    """Check at the metrics address of a process on this machine whether it is ready.

    `python -m api.health.container_probe` does the same and starts faster.
    """
    host, port = probing.address(os.environ)
    if config is not None:
        settings = _read_settings(config)
        host, port = settings.metrics_host, settings.metrics_port or port
    problem = probing.probe(metrics_host or host, metrics_port or port)
    typer.echo(problem or "ready", err=problem is not None)
    raise typer.Exit(int(problem is not None))


@app.command()
def demo(
    folder: Annotated[Path, typer.Option(help="Folder for all output.")] = Path("demo-output"),
    keep: Annotated[bool, typer.Option("--serve", help="Leave the service running.")] = False,
    people: Annotated[
        int, typer.Option(min=5_000, help="Number of people on each platform.")
    ] = 20_000,
    through: Annotated[
        Through, typer.Option(help="Connection of the services to the platforms.")
    ] = Through.PROCESS,
) -> None:
    """Audit three simulated platforms from end to end: fair, biased, and biased by history."""
    run_demo(folder, keep=keep, people=people, through=through)


@app.command()
def adapter(
    platform: Annotated[
        str, typer.Argument(help="A platform as in the settings: a name, or module:factory.")
    ],
    options: OptionsOption = None,
    token_file: TokenFileOption = None,
    host: Annotated[str, typer.Option()] = "127.0.0.1",
    port: Annotated[int, typer.Option()] = 8100,
    metrics_host: Annotated[str, typer.Option(envvar=_METRICS_HOST, help=_WHERE)] = "127.0.0.1",
    metrics_port: Annotated[int | None, typer.Option(envvar=_METRICS_PORT, help=_PORT)] = None,
) -> None:
    """Serve a platform over HTTP. Put TLS in front of it.

    The calls are in docs/how-to/platforms/write-an-adapter.md.
    """
    logging.configure("INFO")
    token = SecretStr(token_file.read_text().strip()) if token_file else None
    application = served(make_platform(platform, _read_options(options)), token)
    with _told(nullcontext() if metrics_port is None else listen(metrics_host, metrics_port, None)):
        uvicorn.run(application, host=host, port=port, log_config=None, server_header=False)


@app.command()
def conformance(
    target: Annotated[
        str, typer.Argument(help="Address of an adapter, or a platform as in `adapter`.")
    ],
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
    """List the mistakes of an adapter, and how to correct them."""
    chosen = _read_options(options) | ({"token_file": token_file} if token_file else {})
    try:
        with open_subject(target, chosen, identifiers, explore=explore) as subject:
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
        typer.Option(exists=True, help="A checkpoint of the ledger that was stored elsewhere."),
    ] = None,
    adapter: Annotated[bool, typer.Option(help="Also examine the platform's adapter.")] = True,
    as_json: JsonOption = False,
) -> None:
    """Check this deployment: keys, clock, database, randomness, disk, adapter."""
    settings = _read_settings(config)
    store = Store(settings.database_url)
    try:
        # An empty file means that no checkpoint is known yet.
        subject = DoctorSubject(settings, store, config, head.read_text() or None if head else None)
        found = list(diagnose(subject))
    finally:
        store.close()
    if adapter:
        found += examine_adapter(partial(load_platform, settings))
    raise typer.Exit(report(found, as_json=as_json))


@persons.command("verify")
def verify_persons(config: ConfigOption = None) -> None:
    """Recompute every balance from recorded people and ledger charges, for an inspection."""
    settings = _ready(config)
    store = Store(settings.database_url)
    found = inspect(store, PERSON_LIFETIME_RHO, settings)
    store.close()
    typer.echo(
        f"{found.people} people have a balance, from {found.charges} charges: "
        f"{found.differing} differ, {found.above_cap} are above the cap, "
        f"{found.negative} are below zero; {found.unbound} charges are not bound to their people; "
        f"{found.misstated} blocks state a wrong minimum"
    )
    raise typer.Exit(0 if found.sound else 1)


@persons.command("repair")
def repair_persons(
    reason: Annotated[str, typer.Option(help="Reason of the repair, for the ledger.")],
    config: ConfigOption = None,
) -> None:
    """Raise every balance to the sum of its charges on record.

    It lowers none. The ledger records the repair.
    """
    settings = _ready(config)
    store = Store(settings.database_url)
    number = repair(store, "operator", reason)
    store.close()
    typer.echo(f"Balances are repaired (ledger entry {number}). Now run `persons verify`.")


def _read_options(path: Path | None) -> dict[str, Any]:
    return tomllib.loads(path.read_text()) if path else {}


@contextmanager
def _listening(container: Container) -> Iterator[None]:
    """Serve metrics and probes while the block runs; print one line if that fails."""
    with _told(listen_if_configured(container.settings, container.writes)):
        yield


@contextmanager
def _told(listener: AbstractContextManager[None]) -> Iterator[None]:
    try:
        with listener:
            yield
    except MetricsAddressError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from None


def _read_settings(config: Path | None, **given: Any) -> Settings:
    """Load the settings, or end the command with one line for each fault of them."""
    try:
        return load_settings(config, **given)
    except ValidationError as error:
        faults = [
            f"{'.'.join(map(str, each['loc']))}: {each['msg']}"
            for each in error.errors(include_input=False, include_url=False)
        ]
    except (OSError, ValueError) as error:  # a file that is no TOML, or no text
        faults = [str(error)]
    for fault in faults:
        typer.echo(f"{config or 'settings'}: {fault}", err=True)
    raise typer.Exit(2)


def _ready(
    config: Path | None, metrics_host: str | None = None, metrics_port: int | None = None
) -> Settings:
    """Load the settings, configure logs and traces, and migrate the database."""
    options = {"metrics_host": metrics_host, "metrics_port": metrics_port}
    given = {name: value for name, value in options.items() if value is not None}
    settings = _read_settings(config, **given)
    logging.configure(settings.log_level)
    tracing.start(settings)
    store = Store(settings.database_url)
    try:
        migrate(store)
        repair_after_upgrade(store)
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


# Made while the modules load: Ctrl-C is handled then (`api.operations.__main__`).
_command = get_command(app)


def main() -> None:
    """Run the `platform-auditor` command, whose modules are loaded."""
    # Everything that this process creates is private: databases, logs, temporary files.
    os.umask(0o077)
    _command()


if __name__ == "__main__":
    main()
