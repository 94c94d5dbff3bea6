"""Base of all wire models: frozen, strict about unknown fields, exact about numbers."""

from base64 import urlsafe_b64encode
from datetime import datetime
from decimal import Decimal
from secrets import token_bytes
from typing import Annotated, Any, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field

Item = TypeVar("Item")

MAX_EPSILON = 10

# Epsilon is sent as a decimal with at most six places, so that both sides have the same rational.
Epsilon = Annotated[
    Decimal,
    Field(gt=0, le=MAX_EPSILON, decimal_places=6, allow_inf_nan=False, examples=["1", "0.25"]),
]
Rho = Annotated[
    Decimal,
    Field(gt=0, le=MAX_EPSILON, decimal_places=6, allow_inf_nan=False, examples=["0.5"]),
]
Amount = Annotated[Decimal, Field(ge=0, allow_inf_nan=False, examples=["2"])]
Label = Annotated[
    str,
    Field(
        pattern=r"^g(0|[1-9][0-9]{0,2})$",
        description="Opaque label of a group; the auditor keeps the names.",
        examples=["g0"],
    ),
]
Digest = Annotated[str, Field(pattern=r"^sha256:[0-9a-f]{64}$")]
Identifier = Annotated[str, Field(pattern=r"^[a-z]+_[0-9a-f]{30}$", max_length=48)]
Instant = datetime
# Assumptions of a release's guarantee: docs/explanation/guarantee.md.
Assumption = Literal[
    "bounded-weights", "uncounted-displacement", "other-people-in-rows", "third-party-bounds"
]


class Wire(BaseModel):
    """A message: immutable, and unknown fields are refused, not ignored."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Personal(Wire):
    """Text about people: the ledger has only a salted commitment to it, so it can be erased.

    `salt` is at least 16 random bytes in base64url (with padding), new for every text.
    """

    text: Annotated[str, Field(min_length=1, max_length=4_000)]
    salt: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{22,86}={0,2}$")]

    @classmethod
    def fresh(cls, text: str) -> "Personal":
        """Return the text with its own new salt."""
        return cls(text=text, salt=urlsafe_b64encode(token_bytes(24)).decode())


def example(**fields: Any) -> ConfigDict:
    """Return the settings of a sent message, with an example body for the contract."""
    return ConfigDict(json_schema_extra={"examples": [fields]})


class Page(Wire, Generic[Item]):
    """One page of a list; `next` is the cursor of the following page, absent on the last."""

    items: list[Item]
    next: str | None = None
