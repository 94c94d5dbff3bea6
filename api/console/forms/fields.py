"""Forms for every kind of audit, made of the kind's own wire model.

A field of the model is one of the form: chosen where there are `choices`, else written, within the
limits that the model states. What code knows better than people is not asked for.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal

from pydantic import BaseModel

from api.console.forms.options import Choices, Options
from openapi.kinds.registry import CONTRACTS
from openapi.resources import ContextField

Given = Mapping[str, Sequence[str]]
Schema = Mapping[str, Any]
Widget = Literal["choice", "choices", "number", "amount", "text", "lines"]

BINS = "20"
# Filled in by the reader below, from what else was chosen.
MADE = ("kind", "log", "mechanism", "groups", "slopes", "context", "criterion")
MANY = ("contents", "signals", "strategies", "days")
_EMPTY = ("levels", "where", "outcome_range", "test", "size_epsilon", "duration_epsilon")
_ALL_UNLESS_TOLD = ("signals", "strategies")
_WIDGETS: dict[str, Widget] = {"integer": "number", "number": "amount", "object": "lines"}
# What one must decide, in this order; the rest is at hand under "More".
_FIRST = (
    "content_id", "contents", "test", "audience_id", "bins", "column", "creators", "alpha",
    "tolerance", "gamma", "lam", "targets", "arms", "arms_per_person", "steps", "epsilon",
)  # fmt: skip

WORDS: dict[str, tuple[str, str]] = {
    "content_id": ("Content", ""),
    "contents": ("Contents", "At least two: which of them is scored most differently?"),
    "audience_id": ("Audience", ""),
    "test": ("Outcome test", "The released test that says how scores are to be corrected."),
    "bins": ("Bins of scores", "A number of equal bins, or their edges: 0, 0.25, 0.5, 1"),
    "levels": ("Values of a discrete score", "Instead of bins, for instance 1, 2, 3"),
    "epsilon": ("Privacy ε", "Noise falls as it grows, and the price rises with it."),
    "size_epsilon": ("ε for the sizes of groups", "Default: a quarter of ε. 0 for none."),
    "rho": ("Gaussian noise ρ", "Instead of ε, for a mandate in rho."),
    "size_rho": ("ρ for the sizes of groups", "Default: a sixteenth of ρ."),
    "mandate_id": ("Paid by the mandate", ""),
    "weights": ("Weights of the two groups", "To make up for unequal sizes, for instance 2, 1"),
    "score": ("Column of scores", ""),
    "outcome": ("Column of outcomes", ""),
    "outcome_range": (
        "Range of outcomes",
        "Low, high; other values are clipped. Default: the column’s own range.",
    ),
    "column": ("Column", "The numeric column of the log to count."),
    "query": ("Column of queries", "Jobs or lists within which opportunities move."),
    "places": ("Places", "Sum ranks within this number of places; no limit if empty."),
    "where": ("Only rows where", "One column a line, as name: word, word"),
    "rows_per_person": ("Rows of a person, at most", "Drawn at random; more rows mean more noise."),
    "creators": ("Groups of creators", "The column that says who made what was shown."),
    "signals": ("Signals", "A row is positive if any of them is."),
    "strategies": ("Strategies", "Each is measured against random traffic."),
    "days": ("Days to tell apart", "None: all days together."),
    "bounds": ("Bounds", "The shorter audit, or that of the paper, with the same promise."),
    "alpha": ("Share of reward that people may lose", "At every step, while the audit lasts."),
    "tolerance": ("Tolerated envy", "Gains below this do not count."),
    "delta": ("Risk of a wrong verdict δ", ""),
    "gamma": ("Share of others that does not count γ", ""),
    "lam": ("Share of people who may envy λ", ""),
    "targets": ("People who are audited", ""),
    "arms": ("Others whose recommendations each is shown", ""),
    "steps": ("Steps of each, at most", "The audit lasts as long as all of them."),
    "arms_per_person": (
        "Audits that one person takes part in, at most",
        "More need fewer people and add noise, which covers them in every role.",
    ),
    "duration_epsilon": ("ε for the sum of steps", "A quarter of ε if empty, 0 for none."),
    "cost_epsilon": ("ε for the reward lost", "A quarter of ε if empty, 0 for none."),
}


@dataclass(frozen=True)
class Field:
    """One field of a form, with what was given or is usual."""

    name: str
    label: str
    hint: str
    widget: Widget
    values: tuple[str, ...]
    options: Options = field(default_factory=dict)
    least: float | None = None
    most: float | None = None
    needed: bool = False

    @property
    def first(self) -> bool:
        return self.name in _FIRST


def form_of(kind: str, choices: Choices, given: Given) -> list[Field]:
    """The fields of a kind, those that must be decided first."""
    schema = schema_of(kind)
    example = schema["examples"][0]
    found = [
        _field(name, schema["properties"].get(name, {}), choices, given, example.get(name))
        for name in names_of(kind)
    ]
    found += [_frozen(each, given) for each in context_of(kind, choices)]
    order = {name: place for place, name in enumerate(_FIRST)}
    return sorted(found, key=lambda each: order.get(each.name, len(order)))


def names_of(kind: str) -> list[str]:
    """The model's fields that are asked for, in its order."""
    names = [name for name in model_of(kind).model_fields if name not in MADE]
    if kind == "bias-size":  # a test tells the bins with the corrections
        names = ["test", *(name for name in names if name not in ("bins", "corrections"))]
    if kind in ("score-histogram", "most-skewed"):
        names.insert(names.index("bins") + 1, "levels")
    return names


def model_of(kind: str) -> type[BaseModel]:
    """The wire model of a kind's requests."""
    return CONTRACTS[kind].request


@cache
def schema_of(kind: str) -> Schema:
    """Return the JSON schema of the request model of a kind."""
    found: Schema = model_of(kind).model_json_schema()
    return found


def _field(name: str, schema: Schema, choices: Choices, given: Given, example: Any) -> Field:
    label, hint = WORDS[name]
    told = type_of(schema)
    options = _options(name, told, choices, optional="default" in schema)
    usual = schema.get("default")
    return Field(
        name,
        label,
        hint,
        _widget(name, told, options),
        tuple(given[name])
        if name in given
        else _usual(name, example if usual is None else usual, options),
        options,
        told.get("minimum"),
        told.get("maximum"),
        name in _FIRST and "default" not in schema,
    )


def type_of(schema: Schema) -> Schema:
    """The first of what a field may be, nothing aside."""
    if "anyOf" not in schema:
        return schema
    return type_of(next(each for each in schema["anyOf"] if each.get("type") != "null"))


def _options(name: str, told: Schema, choices: Choices, *, optional: bool) -> Options:
    if name in choices.named:
        return {value: words or value for value, words in choices.named[name]().items()}
    values = told.get("enum") or ([told["const"]] if "const" in told else [])
    found = {str(value): str(value) for value in values}
    return {"": "no", **found} if found and optional and len(found) == 1 else found


def _widget(name: str, told: Schema, options: Options) -> Widget:
    if name in MANY:
        return "choices"
    if options:
        return "choice"
    return _WIDGETS.get(told.get("type", ""), "text")


def _usual(name: str, usual: Any, options: Options) -> tuple[str, ...]:
    """Return the initial values of a field."""
    if name in _ALL_UNLESS_TOLD:
        return tuple(options)
    if name in MANY or name in _EMPTY or usual is None:
        return ()
    if name == "bins":
        return (BINS,)
    if isinstance(usual, list | tuple):
        return (", ".join(map(str, usual)),)
    return (str(usual),)


def context_of(kind: str, choices: Choices) -> Sequence[ContextField]:
    """The variables that are held at one value for the whole audience."""
    return choices.catalogue.context if "context" in model_of(kind).model_fields else ()


def _frozen(offer: ContextField, given: Given) -> Field:
    options = {str(value): str(value) for value in offer.values}
    values = given.get(f"context.{offer.name}", (str(offer.default),))
    words = offer.name.replace("_", " ").capitalize(), "Held at one value for everybody."
    return Field(f"context.{offer.name}", *words, "choice", tuple(values), options)
