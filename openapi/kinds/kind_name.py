"""Name of a kind of audit in messages."""

from typing import Annotated

from pydantic import AfterValidator, Field

from openapi.kinds.registry import CONTRACTS, DEFAULT

# A name is text: the existing kinds depend on the platform and on the packages that it has enabled.
AuditKind = Annotated[
    str,
    Field(
        pattern=r"^[a-z][a-z0-9]*(-[a-z0-9]+)*$",
        max_length=64,
        description="Name of a kind of audit; the catalogue lists those of this platform.",
        examples=[DEFAULT],
    ),
]


def _registered(name: str) -> str:
    if name not in CONTRACTS:
        raise ValueError(
            f"must be a kind of audit: {', '.join(CONTRACTS)}. Another kind needs its package here"
        )
    return name


# Name, in a sent message, of a kind that exists here.
RegisteredKind = Annotated[AuditKind, AfterValidator(_registered)]
