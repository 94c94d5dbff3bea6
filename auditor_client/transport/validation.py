"""Wire models from what people type, with a readable refusal where it does not fit."""

from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from auditor_client.errors import InputError
from openapi.resources import Personal

Model = TypeVar("Model", bound=BaseModel)


def validate(model: type[Model], **fields: Any) -> Model:
    """The model with these fields, checked before anything is sent."""
    try:
        return model(**fields)
    except ValidationError as error:
        raise InputError("; ".join(_complaints(error))) from error


def personal(text: str) -> Personal:
    """Text about people, with a salt of its own: the ledger will hold only a commitment to it."""
    try:
        return Personal.fresh(text)
    except ValidationError as error:
        raise InputError("; ".join(_complaints(error))) from error


def _complaints(error: ValidationError) -> list[str]:
    """One short line per field, without the value: it may be private."""
    return [": ".join(filter(None, (_where(item), _what(item)))) for item in error.errors()]


def _where(item: ErrorDetails) -> str:
    return ".".join(str(step) for step in item["loc"])


def _what(item: ErrorDetails) -> str:
    return item["msg"].removeprefix("Value error, ")
