"""Confirmation of statements: the page shows the text, the browser signs it, then it takes effect.

The two steps ensure that people sign what they read: the first one has no effect.
"""

import secrets
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from fastapi.responses import Response
from pydantic import BaseModel, ValidationError

from api.console.security.current_user import PageRequest
from api.kernel.errors import InvalidRequestError
from openapi.complaints import what_is_wrong

Draft = TypeVar("Draft", bound=BaseModel)
# Lines of a statement; instants are shown in the reader's time zone.
Words = tuple[tuple[str, str | datetime], ...]


@dataclass(frozen=True)
class SignedAct:
    """A request that waits for its maker's signature. `read` is the application it approves."""

    title: str
    action: str
    address: str
    draft: BaseModel
    words: Words
    button: str
    command: str
    read: BaseModel | None = None


def show_confirmation(visit: PageRequest, act: SignedAct) -> Response:
    """Show the page on which the statement is signed. Nothing was done yet."""
    return visit.page(
        "sign.html",
        act=act,
        asked=act.draft.model_dump(mode="json"),
        read=act.read.model_dump(mode="json") if act.read else None,
        origin=visit.console.parts.origin,
        key=secrets.token_urlsafe(24),
    )


def parse_draft(model: type[Draft], **fields: object) -> Draft:
    """Return the request of a form; raise an error that names the wrong field."""
    try:
        return model.model_validate(fields)
    except ValidationError as error:
        raise _told(error) from error


def parse_signed(model: type[Draft], form: dict[str, str]) -> Draft:
    """Return the request that was signed, from the form that came back."""
    try:
        return model.model_validate_json(form.get("request", ""))
    except ValidationError as error:
        raise _told(error) from error


def _told(error: ValidationError) -> InvalidRequestError:
    first = error.errors()[0]
    steps = [str(step) for step in first["loc"] if step != "text"]
    where = f"{'.'.join(steps)}: " if steps else ""
    return InvalidRequestError(f"{where}{what_is_wrong(first)}. Nothing was done.")
