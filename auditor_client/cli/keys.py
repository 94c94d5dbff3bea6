"""`auditor key` and `auditor profile`: keys and identities on this machine."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from auditor_client.cli.options import DEFAULT_PROFILE, AsJson, ProfileName
from auditor_client.cli.output import print_json, show_row, show_rows
from auditor_client.errors import InputError
from auditor_client.local.keys import load_key, new_key, public_jwk
from auditor_client.local.private_files import home
from auditor_client.local.profiles import load_profiles, save_profile

key_app = typer.Typer(help="Make a key pair. A regulator registers its public half.")
profile_app = typer.Typer(help="Profiles: a service, an identity and a key.")

KeyFile = Annotated[Path | None, typer.Argument(help="The file of the private key.")]


@key_app.command("new")
def make_key(
    file: KeyFile = None,
    profile: ProfileName = DEFAULT_PROFILE,
    as_json: AsJson = False,
) -> None:
    """Make a private key, and print the public key to send to the regulator."""
    path = file or key_path(profile)
    public = new_key(path)
    if as_json:
        print_json({"file": str(path), "public": public})
        return
    typer.echo(f"The private key is in {path}. Never send it.", err=True)
    typer.echo("Send this public key to the regulator:", err=True)
    typer.echo(json.dumps(public))


@key_app.command("public")
def show_public(
    file: KeyFile = None,
    profile: ProfileName = DEFAULT_PROFILE,
    as_json: AsJson = False,  # noqa: ARG001  (it is JSON in any case)
) -> None:
    """Print the public half of a key."""
    typer.echo(json.dumps(public_jwk(load_key(file or key_path(profile)))))


@profile_app.command("add")
def add_profile(
    url: Annotated[str, typer.Option(help="The address of the service.")],
    researcher: Annotated[str, typer.Option(help="The identifier the regulator gave you.")],
    key: Annotated[Path | None, typer.Option(help="The file of your private key.")] = None,
    profile: ProfileName = DEFAULT_PROFILE,
    as_json: AsJson = False,
) -> None:
    """Save a service, an identity and a key as a profile, for use with --profile."""
    if not url.startswith(("https://", "http://")):
        raise InputError(
            f"{url!r} is not the address of a service. An address starts with https://"
        )
    path = key or key_path(profile)
    load_key(path)
    saved = save_profile(profile, url, researcher, path)
    show_row({"profile": profile, **asdict(saved)}, as_json=as_json)


@profile_app.command("list")
def list_profiles(as_json: AsJson = False) -> None:
    """List the profiles on this machine."""
    rows = [{"profile": name, **asdict(saved)} for name, saved in load_profiles().items()]
    show_rows(rows, ["profile", "url", "researcher", "key"], as_json=as_json)


def key_path(profile: str) -> Path:
    return home() / "keys" / f"{profile}.jwk"
