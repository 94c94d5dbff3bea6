"""`auditor console`: sign-in to the service's web console with the key on this machine."""

import webbrowser
from typing import Annotated

import typer

from auditor_client.cli.options import DEFAULT_PROFILE, AsJson, ProfileName
from auditor_client.cli.output import print_json
from auditor_client.transport.session import Connection


def console(
    browser: Annotated[
        bool,
        typer.Option(help="Open the console in a browser; with --no-browser, only print the link."),
    ] = True,
    profile: ProfileName = DEFAULT_PROFILE,
    as_json: AsJson = False,
) -> None:
    """Sign in to the web console with your key. The link works once."""
    with Connection.from_profile(profile) as connection:
        link = connection.console_link()
    if as_json:
        print_json(link.model_dump(mode="json"))
        return
    typer.echo(link.url)
    if browser and not webbrowser.open(link.url):
        typer.echo("No browser could be started. Open this link in a browser.", err=True)
