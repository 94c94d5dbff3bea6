"""Options and arguments of commands, derived from the parameters of kinds."""

import inspect
from collections.abc import Callable, Iterator
from typing import Annotated, Any, Literal

import typer

from auditor_client.kinds.asking.command_line import REPEATED
from auditor_client.kinds.auditor_kind import AuditorKind
from openapi.kinds.parameters import RequestParameter, parameters_of

_ARGUMENTS = {
    "content": "Identifier of a content: auditor content list.",
    "audience": "Identifier of an audience: auditor audience list.",
    "log": "Name of a log: auditor catalogue.",
    "contents": "Identifiers of contents: auditor content list.",
}
_METAVARS = {
    "bins": "NUMBER|EDGES",
    "amount": "NUMBER",
    "range": "LOW,HIGH",
    "audit": "AUDIT",
    "error": "NUMBER",
}
Made = inspect.Parameter


def parameters(kind: AuditorKind) -> list[RequestParameter]:
    """Return the parameters of a kind without the mandate, which every command accepts."""
    every = [*parameters_of(kind.contract.request), *kind.asking.extras]
    return [each for each in every if each.role != "mandate"]


def derive_options(kind: AuditorKind) -> Iterator[Made]:
    """Yield the arguments and options of a kind's command."""
    for each in parameters(kind):
        yield _made(each)
        if each.role == "bins":
            hidden = typer.Option(hidden=True, help="Edges of bins. --bins accepts them too.")
            yield _parameter("edges", str | None, hidden, None)
        if each.levels:
            option = typer.Option(help="In place of bins, the values of a discrete score: 1,2,3.")
            yield _parameter("levels", str | None, option, None)


def _made(each: RequestParameter) -> Made:
    if each.role in _ARGUMENTS:
        many = each.role == "contents"
        name = "CONTENT..." if many else each.name.upper()
        argument = typer.Argument(metavar=name, help=_ARGUMENTS[each.role])
        return _parameter(each.name, list[str] if many else str, argument)
    plain, default = _type(each), each.default
    if each.role in REPEATED:
        plain, default = list[str] | None, None
    elif isinstance(default, list | tuple):
        default = ",".join(map(str, default)) or None
    option = typer.Option(
        f"--{each.name.replace('_', '-')}",
        help=_help(each),
        metavar=_METAVARS.get(each.role),
        min=each.least if each.role == "integer" else None,
        max=each.most if each.role == "integer" else None,
    )
    if each.required and not each.among:
        return _parameter(each.name, plain, option)
    # A log may have one column alone that it can be; where it has more, they are named.
    if default is None or each.required:
        return _parameter(each.name, plain | None, option, None)
    return _parameter(each.name, plain, option, default if plain in (int, bool) else str(default))


def _type(each: RequestParameter) -> Any:
    if each.role == "choice":
        return Literal[each.choices]
    return {"integer": int, "flag": bool}.get(each.role, str)


def _help(each: RequestParameter) -> str:
    limit = f" At most {each.most:g}." if each.most is not None and each.role == "amount" else ""
    form = {"context": " NAME=VALUE, repeatable.", "where": " COLUMN=VALUE,VALUE, repeatable."}
    only = " (default: the only one of the log)." if each.required and each.among else ""
    return f"{each.title}. {each.help}{limit}{form.get(each.role, '')}{only}"


def _parameter(name: str, plain: Any, info: Any, default: Any = Made.empty) -> Made:
    return Made(name, Made.KEYWORD_ONLY, default=default, annotation=Annotated[plain, info])


def with_signature(function: Callable[..., None], made: list[Made]) -> Callable[..., None]:
    """Return the function with the signature from which Typer makes a command."""
    required = [each for each in made if each.default is Made.empty]
    others = [each for each in made if each.default is not Made.empty]
    signature = inspect.Signature([*required, *others])
    function.__signature__ = signature  # type: ignore[attr-defined]
    function.__annotations__ = {each.name: each.annotation for each in made}
    return function
