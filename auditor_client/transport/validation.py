"""Wire models from given values, with a readable refusal of invalid ones."""

from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from auditor_client.errors import InputError
from openapi.complaints import complaints
from openapi.resources import Personal

Model = TypeVar("Model", bound=BaseModel)


def validate(model: type[Model], **fields: Any) -> Model:
    """Return the model with these fields, checked before anything is sent."""
    try:
        return model(**fields)
    except ValidationError as error:
        raise InputError("; ".join(complaints(error))) from error


def salt_text(text: str) -> Personal:
    """Return text about people with its own salt: the ledger will hold only a commitment to it."""
    try:
        return Personal.fresh(text)
    except ValidationError as error:
        raise InputError("; ".join(complaints(error))) from error
