"""Forms for every kind of audit, generated from the contract of the kind.

A parameter of the contract is a field of the form: a choice if it has `choices`, otherwise an input
within the limits of the contract. Parameters that code can determine are not in the form.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from api.console.forms.options import Choices, Options
from openapi.kinds.parameters import RequestParameter, parameters_of
from openapi.kinds.registry import CONTRACTS
from openapi.resources import ContextField

Given = Mapping[str, Sequence[str]]
Widget = Literal["choice", "choices", "number", "amount", "text", "lines"]

# Fewer bins than programs use, because people read the page.
MOST_BINS = 20
CONTEXT = "context"
# Determined by other choices: the log by the page, Gaussian noise by a ρ.
_MADE = ("log", CONTEXT)
_BY_FIELD = ("content", "audience", "mandate")
_WIDGETS: dict[str, Widget] = {
    "contents": "choices",
    "integer": "number",
    "amount": "amount",
    "error": "amount",
    "where": "lines",
}


@dataclass(frozen=True)
class Field:
    """One field of a form, with its given or usual value."""

    name: str
    label: str
    hint: str
    widget: Widget
    values: tuple[str, ...]
    options: Options = field(default_factory=dict)
    least: float | None = None
    most: float | None = None
    needed: bool = False
    first: bool = False


def form_of(kind: str, choices: Choices, given: Given) -> list[Field]:
    """Return the fields of a kind; the main ones come first."""
    found: list[Field] = []
    for each in list_parameters(kind):
        found.append(_field(each, choices, given))
        if each.levels:
            found.append(_levels(given))
    found += [_frozen(each, given) for each in context_of(kind, choices)]
    return found


def list_parameters(kind: str) -> list[RequestParameter]:
    """Return the parameters of a kind that a page asks for."""
    return [
        each
        for each in parameters_of(CONTRACTS[kind].request)
        if each.role not in _MADE and not _implied(each)
    ]


def form_name(each: RequestParameter) -> str:
    """Return the name of a field in URLs of the page, which must stay stable."""
    return each.field if each.role in _BY_FIELD else each.name


def _implied(each: RequestParameter) -> bool:
    """Return whether the page determines it: the noise by ε or ρ, and all groups of a column."""
    return each.name == "mechanism" or each.among == "values"


def _field(each: RequestParameter, choices: Choices, given: Given) -> Field:
    name = form_name(each)
    options = choices.options_of(each)
    if not options and each.choices:
        options = {value: value for value in each.choices}
    return Field(
        name,
        each.title,
        each.help,
        _widget(each, options),
        tuple(given[name]) if name in given else _usual(each, options),
        options,
        each.least,
        each.most,
        needed=each.required,
        first=each.main,
    )


def _widget(each: RequestParameter, options: Options) -> Widget:
    if each.role == "words":
        return "choices"
    if each.role in _WIDGETS:
        return _WIDGETS[each.role]
    return "choice" if options else "text"


def _usual(each: RequestParameter, options: Options) -> tuple[str, ...]:
    """Return the initial values of a field."""
    if each.role == "words":
        return tuple(options) if each.default is None else ()
    if each.role == "bins" and each.default is not None:
        return (str(min(MOST_BINS, each.default)),)
    if each.name == "epsilon" and each.default is None:
        return ("1",)
    if each.required or each.default in (None, {}, []):
        return ()
    if isinstance(each.default, list | tuple):
        return (", ".join(map(str, each.default)),)
    return (str(each.default),)


def _levels(given: Given) -> Field:
    words = "Values of a discrete score", "Instead of bins, for instance 1, 2, 3."
    return Field("levels", *words, "text", tuple(given.get("levels", ())))


def context_of(kind: str, choices: Choices) -> Sequence[ContextField]:
    """Return the variables that are held at one value for the whole audience."""
    roles = {each.role for each in parameters_of(CONTRACTS[kind].request)}
    return choices.catalogue.context if CONTEXT in roles else ()


def _frozen(offer: ContextField, given: Given) -> Field:
    options = {str(value): str(value) for value in offer.values}
    values = given.get(f"context.{offer.name}", (str(offer.default),))
    words = offer.name.replace("_", " ").capitalize(), "Held at one value for everybody."
    return Field(f"context.{offer.name}", *words, "choice", tuple(values), options)
