"""Options of every command (the profile, `--json`), and parsers of `name=value` and of lists."""

from collections.abc import Iterable
from typing import Annotated

import typer

from auditor_client.errors import InputError

PROFILE_VARIABLE = "PLATFORM_AUDITOR_PROFILE"

ProfileName = Annotated[
    str,
    typer.Option(
        "--profile",
        "-p",
        envvar=PROFILE_VARIABLE,
        help="Profile: a service, an identity and a key.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Do not show a progress bar.")]

DEFAULT_PROFILE = "default"


def pairs(words: Iterable[str]) -> dict[str, str]:
    """Parse `name=value` arguments into a dictionary."""
    split = [word.partition("=") for word in words]
    for name, equals, value in split:
        if not (name and equals and value):
            raise InputError(f"{name!r} is not of the form name=value.")
    return {name: value for name, _, value in split}


def numbers(text: str | None) -> list[float] | None:
    """Parse numbers separated by commas."""
    if text is None:
        return None
    try:
        return [float(word) for word in text.split(",")]
    except ValueError as error:
        raise InputError(f"{text!r} is not a list of numbers like 0,0.5,1.") from error


def words(text: str | None) -> list[str] | None:
    """Parse words separated by commas; return None if there are none."""
    return [word.strip() for word in text.split(",") if word.strip()] or None if text else None
