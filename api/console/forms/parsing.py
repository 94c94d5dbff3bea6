"""A filled form as the request that it asks for; the kind's own model checks it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from api.console.forms.fields import (
    BINS,
    MANY,
    WORDS,
    Given,
    context_of,
    names_of,
    schema_of,
    type_of,
)
from api.console.forms.options import Choices
from api.kernel.errors import InvalidRequestError
from openapi.kinds.unions import AnyRequest
from openapi.resources import REQUEST

Corrected = Callable[[str], Mapping[str, Any]]


def request_of(kind: str, choices: Choices, given: Given, corrected: Corrected) -> AnyRequest:
    """The request that a filled form asks for; `corrected` tells what an outcome test corrects."""
    from auditor_client.errors import InputError  # with PyArrow, which takes a while

    try:
        return REQUEST.validate_python(_FilledForm(kind, choices, given).values(corrected))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(step) for step in first["loc"][1:]) or "The form"
        words = first["msg"].removeprefix("Value error, ")
        raise InvalidRequestError(f"{where}: {words}. Nothing was spent.") from error
    except InputError as error:
        raise InvalidRequestError(f"{error} Nothing was spent.") from error


@dataclass(frozen=True)
class _FilledForm:
    """A filled form, field by field."""

    kind: str
    choices: Choices
    given: Given

    def values(self, corrected: Corrected) -> dict[str, Any]:
        found: dict[str, Any] = {"kind": self.kind}
        for name in names_of(self.kind):
            value = self._value(name)
            if value is not None:
                found[name] = value
        if "rho" in found:
            found |= {"mechanism": "discrete-gaussian", "epsilon": None}
        if self.choices.log:
            found["log"] = self.choices.log.name
        if "creators" in found:
            found["groups"] = self.choices.words.get(found["creators"], [])
        if "outcome" in found:
            found.setdefault("outcome_range", self._range(found["outcome"]))
        if context := self._frozen():
            found["context"] = context
        if test := found.pop("test", None):
            found |= corrected(test)
        found.pop("levels", None)
        return found

    def _value(self, name: str) -> Any:
        """Return the value for the model; None for an empty field."""
        from auditor_client.transport.decimals import to_decimal

        text = self._text(name)
        if name in MANY:
            return [each for each in self.given.get(name, ()) if each]
        if name == "bins":
            return self._bins(text)
        if not text:
            return None
        match name:
            case "where":
                return _columns(text)
            case "weights":
                return [_whole(each, name) for each in _parts(text)]
            case "outcome_range":
                return dict(zip(("low", "high"), _numbers(text), strict=False))
        kind = type_of(schema_of(self.kind)["properties"].get(name, {})).get("type")
        if kind == "integer":
            return _whole(text, name)
        return to_decimal(text, WORDS[name][0]) if kind == "number" else text

    def _text(self, name: str) -> str:
        return next(iter(self.given.get(name, ())), "").strip()

    def _bins(self, text: str) -> Any:
        from auditor_client.kinds.options import parse_bins
        from openapi.resources import ScoreRange

        levels = _numbers(self._text("levels")) or None
        column = self._text("column") or self._text("score") or None
        low, high = (0.0, 1.0) if self.kind == "balance-histogram" else self.choices.span(column)
        many: int | list[float] = int(text) if text.isdecimal() else _numbers(text or BINS)
        return parse_bins(many, levels, ScoreRange(low=low, high=high)).model_dump()

    def _range(self, column: str) -> dict[str, float]:
        low, high = self.choices.span(column)
        return {"low": low, "high": high}

    def _frozen(self) -> dict[str, Any]:
        """Variables of the context in the catalogue's own values."""
        return {
            each.name: value
            for each in context_of(self.kind, self.choices)
            for value in each.values
            if str(value) == self._text(f"context.{each.name}") and value != each.default
        }


def _columns(text: str) -> dict[str, list[str]]:
    """Lines of `name: word, word`."""
    from auditor_client.errors import InputError

    found = {}
    for line in filter(str.strip, text.splitlines()):
        name, colon, words = line.partition(":")
        if not colon:
            raise InputError(f"{line.strip()!r} is not of the form name: word, word.")
        found[name.strip()] = _parts(words)
    return found


def _parts(text: str) -> list[str]:
    return [part for each in text.split(",") if (part := each.strip())]


def _numbers(text: str) -> list[float]:
    from auditor_client.errors import InputError

    try:
        return [float(part) for part in _parts(text)]
    except ValueError as error:
        raise InputError(f"{text!r} is not a list of numbers like 0, 0.5, 1.") from error


def _whole(text: str, name: str) -> int:
    from auditor_client.errors import InputError

    try:
        return int(text)
    except ValueError as error:
        raise InputError(f"{WORDS[name][0]}: {text!r} is not a whole number.") from error
