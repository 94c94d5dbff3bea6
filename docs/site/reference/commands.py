"""Page of the commands `auditor` and `platform-auditor`, from the commands themselves."""

from collections.abc import Iterator
from typing import Any

import typer

from api.operations import cli as platform_cli
from auditor_client.cli.app import app as auditor_app
from docs.site.reference.tables import table


def page() -> str:
    """Return the page."""
    lines = [
        "# Commands",
        "",
        "`--help` prints the same for each command. Both commands exit with 0 on success, with 1 on"
        " an error that they explain, and with 2 if the words of the call are wrong.",
    ]
    for name, app in (("auditor", auditor_app), ("platform-auditor", platform_cli.app)):
        lines += ["", f"## {name}", "", *_commands(typer.main.get_command(app), (name,))]
    return "\n".join(lines)


def _commands(command: Any, words: tuple[str, ...]) -> Iterator[str]:
    below = getattr(command, "commands", None)
    if below is None:
        yield from _one(command, words)
        return
    for name, each in sorted(below.items()):
        if not each.hidden:
            yield from _commands(each, (*words, name))


def _one(command: Any, words: tuple[str, ...]) -> Iterator[str]:
    yield from (f"### `{' '.join(words)}`", "", *_paragraphs(command.help or ""))
    shown = [each for each in command.params if not getattr(each, "hidden", False)]
    if shown:
        yield from table(("argument or option", "default", "meaning"), map(_row, shown))


def _paragraphs(text: str) -> Iterator[str]:
    for paragraph in text.split("\n\n"):
        yield from (" ".join(paragraph.split()), "")


def _row(parameter: Any) -> tuple[str, str, str]:
    argument = parameter.param_type_name == "argument"
    metavar = parameter.metavar or parameter.name.upper()
    names = metavar if argument else " ".join(parameter.opts)
    return f"`{names}`", _default(parameter), getattr(parameter, "help", None) or ""


def _default(parameter: Any) -> str:
    if parameter.required:
        return "**required**"
    if parameter.default in (None, "", (), False) or callable(parameter.default):
        return ""
    return f"`{parameter.default}`"
