"""The `auditor audit KIND` command that asks for the same audit as given parameters."""

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from openapi.kinds.contract import KindContract
from openapi.kinds.parameters import RequestParameter, parameters_of

# Roles that are arguments of a command; all others are options.
ARGUMENTS = ("content", "audience", "log", "contents")
# Roles whose options are repeated, once for each part of the value.
REPEATED = ("context", "where")


def command_line(contract: KindContract, given: Mapping[str, Any]) -> str:
    """Return the command, quoted for a shell; parameters at their default are left out."""
    arguments, options = [], []
    for each in parameters_of(contract.request):
        value = given.get(each.name)
        if each.role in ARGUMENTS:
            arguments += _words(value)
        elif value is not None and not _is_default(each, value):
            options += _option(each, value)
        if each.levels and given.get("levels"):
            options += ["--levels", _text(given["levels"])]
    return shlex.join(["auditor", "audit", contract.name, *arguments, *options])


def _option(each: RequestParameter, value: Any) -> list[str]:
    name = f"--{each.name.replace('_', '-')}"
    if each.role == "flag":
        return [name]
    if each.role in REPEATED:
        return [part for one in _words(value) for part in (name, one)]
    return [name, _text(value)]


def _is_default(each: RequestParameter, value: Any) -> bool:
    return bool(_text(value) == _text(each.default)) if each.default is not None else False


def _words(value: Any) -> list[str]:
    """Return the parts of a value of many: of a mapping, of lines, or of a list."""
    if value is None:
        return []
    if isinstance(value, Mapping):
        return [f"{name}={_text(said)}" for name, said in value.items()]
    if isinstance(value, str):
        return [line.strip() for line in value.splitlines() if line.strip()]
    return [str(each) for each in value]


def _text(value: Any) -> str:
    many = isinstance(value, Sequence) and not isinstance(value, str)
    return ",".join(map(str, value)) if many else str(value)
