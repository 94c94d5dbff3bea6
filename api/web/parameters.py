"""Parameters that several routes share."""

from typing import Annotated

from fastapi import Header, Path, Query

CursorQuery = Annotated[
    str | None, Query(max_length=64, description="`next` of the page before this one.")
]
LimitQuery = Annotated[int, Query(ge=1, le=500, description="Largest number of items to return.")]
NumberCursor = Annotated[
    int | None, Query(ge=0, le=2**62, description="`next` of the page before this one.")
]
IdQuery = Annotated[str | None, Query(max_length=64)]
EntryNumberPath = Annotated[int, Path(ge=0, le=2**62)]
HeadSizeQuery = Annotated[int, Query(ge=1, le=2**62)]
LabelPath = Annotated[str, Path(pattern=r"^g(0|[1-9][0-9]{0,2})$", examples=["g0"])]
PartQuery = Annotated[int, Query(ge=0, le=100_000, description="Number of the part.")]
KeyHeader = Annotated[
    str,
    Header(
        alias="Idempotency-Key",
        min_length=8,
        max_length=200,
        pattern=r"^[\x21-\x7e]+$",
        description="One key per intended action; a retry with it is never charged again.",
    ),
]
SignatureHeader = Annotated[
    str,
    Header(
        alias="Statement-Signature",
        max_length=2_000,
        pattern=r"^[A-Za-z0-9_-]+\.\.[A-Za-z0-9_-]+$",
        description="Your signature of this request, a detached JWS: see docs/reference/ledger.md.",
    ),
]
