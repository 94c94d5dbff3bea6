"""`auditor me` and `auditor webhook`: your identity, your key, and the URLs that receive
entries.
"""

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from auditor_client.cli.keys import key_path
from auditor_client.cli.options import DEFAULT_PROFILE, AsJson, ProfileName
from auditor_client.cli.output import show_row, show_rows
from auditor_client.errors import AuditorError
from auditor_client.local.keys import new_key
from auditor_client.local.profiles import load_profile, save_profile
from auditor_client.transport.session import Connection

app = typer.Typer(help="Show your account at the service.", invoke_without_command=True)
key_app = typer.Typer(help="Manage your own key.", no_args_is_help=True)
app.add_typer(key_app, name="key")
webhook_app = typer.Typer(help="Push ledger entries to a URL of yours.", no_args_is_help=True)


@app.callback()
def show_me(
    context: typer.Context, profile: ProfileName = DEFAULT_PROFILE, as_json: AsJson = False
) -> None:
    """Show your account, or change your `key`."""
    if context.invoked_subcommand is None:
        with Connection.from_profile(profile) as connection:
            show_row(connection.me().model_dump(), as_json=as_json)


@key_app.command("rotate")
def rotate(
    file: Annotated[Path | None, typer.Argument(help="The file for the new private key.")] = None,
    profile: ProfileName = DEFAULT_PROFILE,
    as_json: AsJson = False,
) -> None:
    """Make a new key, register it at the service, and save it in the profile."""
    saved = load_profile(profile)
    path = file or key_path(f"{profile}-{datetime.now(UTC):%Y%m%d%H%M%S}")
    new_key(path)
    try:
        with Connection.from_profile(profile) as connection:
            changed = connection.change_key(path)
    except AuditorError as error:
        error.add_note(f"The new key is in {path}; the profile still has the old key.")
        raise
    save_profile(profile, saved.url, saved.researcher, path)
    show_row({**changed.model_dump(), "key_file": str(path)}, as_json=as_json)


@webhook_app.command("add")
def add_webhook(
    url: Annotated[str, typer.Argument(help="Your https URL that receives the entries.")],
    after: Annotated[int | None, typer.Option(help="Push entries after this number.")] = None,
    profile: ProfileName = DEFAULT_PROFILE,
    as_json: AsJson = False,
) -> None:
    """Push the entries that you may see to this URL; print the key that signs them."""
    with Connection.from_profile(profile) as connection:
        show_row(connection.webhooks.add(url, after=after).model_dump(), as_json=as_json)


@webhook_app.command("list")
def list_webhooks(profile: ProfileName = DEFAULT_PROFILE, as_json: AsJson = False) -> None:
    """List your webhooks, and the last entry that each received."""
    with Connection.from_profile(profile) as connection:
        rows = [webhook.model_dump() for webhook in connection.webhooks.list()]
    show_rows(rows, ["id", "url", "state", "after", "failures"], as_json=as_json)


@webhook_app.command("delete")
def delete_webhook(
    webhook: Annotated[str, typer.Argument(metavar="WEBHOOK")],
    profile: ProfileName = DEFAULT_PROFILE,
) -> None:
    """Stop pushing entries to a webhook."""
    with Connection.from_profile(profile) as connection:
        connection.webhooks.delete(webhook)
