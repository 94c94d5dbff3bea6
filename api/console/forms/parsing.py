"""Parsing of a filled form into its request, as the SDK builds it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from api.console.forms.fields import Given, context_of, form_name, list_parameters
from api.console.forms.options import Choices
from api.kernel.errors import InvalidRequestError
from openapi.kinds.registry import CONTRACTS
from openapi.kinds.unions import AnyRequest
from openapi.resources import Audience, Catalogue


def request_of(
    kind: str, choices: Choices, given: Given, result: Callable[[str], Any]
) -> AnyRequest:
    """Return the request of a filled form; `result` reads a released audit of the caller's."""
    from auditor_client.errors import InputError  # with PyArrow, which takes a while
    from auditor_client.kinds.asking.builder import build_request
    from auditor_client.kinds.registry import auditor_kind

    half = auditor_kind(kind)
    facts = _PageFacts(choices, result)
    try:
        said = _collect_said(kind, choices, given)
        request: AnyRequest = build_request(half.contract, half.asking, said, facts)  # type: ignore[assignment]
    except InputError as error:
        raise InvalidRequestError(f"{error} Nothing was spent.") from error
    return request


def command_of(kind: str, choices: Choices, given: Given) -> str:
    """Return the command that asks for the same audit as a filled form."""
    from auditor_client.kinds.asking.command_line import command_line

    return command_line(CONTRACTS[kind], _collect_said(kind, choices, given))


@dataclass(frozen=True)
class _PageFacts:
    """Facts that a request may depend on, as the page has them."""

    choices: Choices
    result: Callable[[str], Any]

    def catalogue(self) -> Catalogue:
        return self.choices.catalogue

    def audience(self, audience_id: str) -> Audience:
        found = {each.id: each for each in self.choices.audiences}
        if audience_id not in found:
            raise InvalidRequestError("That audience is not yours, or is not sealed.")
        return found[audience_id]

    def names(self, _: str) -> Mapping[str, str]:
        return {}  # names of groups stay with the researcher


def _collect_said(kind: str, choices: Choices, given: Given) -> dict[str, Any]:
    """Return the given values by parameter: text as typed, and lists of ticked options."""
    said: dict[str, Any] = {"levels": _text(given, "levels") or None}
    for each in list_parameters(kind):
        name = form_name(each)
        if each.role in ("contents", "words"):
            said[each.name] = [value for value in given.get(name, ()) if value]
        else:
            said[each.name] = _text(given, name) or None
    if said.get("rho"):
        said["epsilon"] = None
    if choices.log:
        said["log"] = choices.log.name
    frozen = _frozen(kind, choices, given)
    return {name: each for name, each in said.items() if each not in (None, [])} | (
        {"context": frozen} if frozen else {}
    )


def _text(given: Given, name: str) -> str:
    return next(iter(given.get(name, ())), "").strip()


def _frozen(kind: str, choices: Choices, given: Given) -> dict[str, Any]:
    """Return variables of the context in the catalogue's own values."""
    return {
        each.name: value
        for each in context_of(kind, choices)
        for value in each.values
        if str(value) == _text(given, f"context.{each.name}") and value != each.default
    }
