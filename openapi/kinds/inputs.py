"""Inputs: how people enter a field of a request, if its type does not say."""

from dataclasses import dataclass
from typing import Any, Literal

from pydantic.fields import FieldInfo

# The thing that a field names, or the form in which people write it. "set" is not asked for.
Role = Literal[
    "content",
    "contents",
    "audience",
    "mandate",
    "log",
    "bins",
    "context",
    "column",
    "words",
    "range",
    "where",
    "audit",
    "error",
    "set",
]
# Among which columns or words of a log people choose.
Among = Literal["numbers", "columns", "creators", "values", "signals", "strategies", "days"]
# The numbers over which a count of equal bins is laid: those of the platform's scores, shares of
# the lifetime cap, or the column that another field names.
Over = Literal["scores", "shares", "column"]
UNSET = object()


@dataclass(frozen=True)
class Input:
    """Form of a field for people, in `Annotated[…, Input(…)]`.

    `name` is what people call the field, and `default` the value that command, SDK and forms use
    where the request itself has none. `field` names another field: the column that bins or a range
    are laid over, or whose values are offered. An `audit` is a released one of the kind `of`. An
    `error` is a probability of a wrong verdict, which the audits of a study share. `main` fields
    are asked for first; so are those without which there is no request.
    """

    role: Role | None = None
    name: str | None = None
    default: Any = UNSET
    among: Among | None = None
    over: Over | None = None
    field: str | None = None
    of: str | None = None
    main: bool = False


def input_of(field: FieldInfo) -> Input:
    """Return how people are asked for a field; the last statement counts."""
    found = [each for each in field.metadata if isinstance(each, Input)]
    return found[-1] if found else Input()
