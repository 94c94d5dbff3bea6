"""Inputs: the form in which people enter a field, if its type does not determine it."""

from dataclasses import dataclass
from typing import Any, Literal

from pydantic.fields import FieldInfo

# The thing that a field names, or the form in which people write it. People do not enter a "set"
# field.
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
# The columns or categories of a log among which people choose.
Among = Literal["numbers", "columns", "creators", "values", "signals", "strategies", "days"]
# The range of equal bins: that of the platform's scores, of shares of the lifetime cap, or of the
# column that another field names.
Over = Literal["scores", "shares", "column"]
UNSET = object()


@dataclass(frozen=True)
class Input:
    """Form of a field for people, in `Annotated[…, Input(…)]`.

    `name` is the field's name for people. `default` is the value that command, SDK and forms use if
    the request itself has none. `field` names another field: the column that bins or a range cover,
    or whose values are offered. An `audit` is a released one of the kind `of`. An `error` is a
    probability of a wrong verdict, which the audits of a study share. Forms show `main` and
    required fields first.
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
    """Return the input form of a field; the last annotation counts."""
    found = [each for each in field.metadata if isinstance(each, Input)]
    return found[-1] if found else Input()
