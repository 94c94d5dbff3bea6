"""`platform-auditor`: what a platform's operator types."""

import base64
import secrets
import threading
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import prometheus_client
import typer
import uvicorn

from api import logs, setup
from api.app import create_app
from api.ceilings import PERSON_LIFETIME_RHO
from api.compose import load_service
from api.inspection import inspect
from api.settings import Settings, load_settings
from api.store import Store
from api.store.schema import migrate

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
persons = typer.Typer(no_args_is_help=True, help="What people have borne.")
app.add_typer(persons, name="persons")

ConfigOption = Annotated[
    Path | None, typer.Option("--config", "-c", exists=True, dir_okay=False, help="Settings, TOML.")
]


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
    """Serve the API, with a worker in the same process unless the settings say otherwise."""
    settings = _ready(config)
    if metrics_port is not None:
        prometheus_client.start_http_server(metrics_port, addr="127.0.0.1")
    application = create_app(load_service(settings))
    uvicorn.run(
        application,
        host=host,
        port=port,
        log_config=None,
        server_header=False,
        timeout_graceful_shutdown=10,
    )


@app.command()
def worker(config: ConfigOption = None) -> None:
    """Run audits without serving. Start as many as you like on PostgreSQL."""
    service = load_service(_ready(config))
    service.worker().run(threading.Event(), threading.Event())


@app.command()
def demo(
    folder: Annotated[Path, typer.Option(help="Where everything is written.")] = Path(
        "demo-output"
    ),
    keep: Annotated[bool, typer.Option("--serve", help="Leave the service running.")] = False,
    people: Annotated[int, typer.Option(help="How many people the platforms have.")] = 20_000,
) -> None:
    """Two simulated platforms, one fair and one not, audited from end to end."""
    from api.demo import run

    run(folder, keep=keep, people=people)


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


def _ready(config: Path | None) -> Settings:
    """Settings, logs and an up-to-date schema."""
    settings = load_settings(config)
    logs.configure(settings.log_level)
    store = Store(settings.database_url)
    migrate(store)
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
