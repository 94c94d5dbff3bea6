"""`/v1/ledger`: entries, signed heads, proofs. Regulators see all entries, auditors their own."""

from typing import Annotated

from fastapi import Path, Query
from fastapi.responses import StreamingResponse
from joserfc.jwk import OKPKey
from pydantic import Field
from sqlmodel import Session, col, select

from api.db import CheckpointRow, EntryRow, ResearcherRow
from api.identity.caller import Caller
from api.identity.key_policy import import_public_jwk
from api.identity.roles import CallerDep, RegulatorDep
from api.kernel.errors import (
    ForbiddenError,
    InvalidRequestError,
    NotFoundError,
    NotSignedError,
    RateLimitedError,
    UnauthenticatedError,
)
from api.ledger import checkpoints, export, key_rotation, proofs, view
from api.ledger.visibility import sight_of, visible
from api.web.dependencies import OriginDep, ReadDep, SigningKeysDep, StoreDep
from api.web.pagination import page
from api.web.parameters import LimitQuery
from api.web.problem_responses import responses
from api.web.routing import router as new_router
from openapi.resources import (
    ConsistencyProof,
    Cosignature,
    Entry,
    InclusionProof,
    LedgerKeys,
    Page,
    SignedHead,
)
from privacy.ledger.notes import SignatureType, VerifierKey

router = new_router(
    prefix="/v1/ledger",
    tags=["ledger"],
    responses=responses(UnauthenticatedError, ForbiddenError, RateLimitedError),
)
_FILE = {"schema": {"type": "string", "format": "binary"}}
_MEDIA_TYPES = {
    "jsonl": "application/x-ndjson",
    "parquet": "application/vnd.apache.parquet",
}
SizeQuery = Annotated[int, Query(ge=1, le=2**62)]
NumberPath = Annotated[int, Path(ge=0, le=2**62)]
NumberCursor = Annotated[int | None, Query(ge=0, le=2**62)]
Size = Annotated[int, Field(ge=1, le=2**62)]
SeenQuery = Annotated[
    list[Size] | None,
    Query(
        max_length=20,
        description="Sizes of heads that you have seen: your export proves that it continues them.",
    ),
]


@router.get("/keys", responses=responses())
def get_ledger_keys(signing_keys: SigningKeysDep, origin: OriginDep) -> LedgerKeys:
    """The origin of this ledger, and the public keys that sign its heads and the receipts."""
    return key_rotation.published(signing_keys, origin)


@router.get("/entries")
def list_entries(
    caller: CallerDep,
    session: ReadDep,
    cursor: NumberCursor = None,
    limit: LimitQuery = 50,
    kind: Annotated[str | None, Query(max_length=40)] = None,
) -> Page[Entry]:
    """The entries you may see, newest first."""
    query = visible(caller)
    if kind is not None:
        query = query.where(EntryRow.kind == kind)
    return page(session, query, EntryRow.number, view, cursor, limit)


@router.get("/feed")
def follow_entries(
    caller: CallerDep, session: ReadDep, after: NumberCursor = None, limit: LimitQuery = 50
) -> Page[Entry]:
    """The entries you may see that follow `after`, oldest first: poll it with the last number."""
    query = visible(caller).where(col(EntryRow.number) > (-1 if after is None else after))
    rows = session.exec(query.order_by(col(EntryRow.number)).limit(limit)).all()
    following = str(rows[-1].number) if len(rows) == limit else None
    return Page[Entry](items=[view(row) for row in rows], next=following)


@router.get(
    "/export",
    response_class=StreamingResponse,
    responses={
        200: {
            "description": "The ledger up to its newest signed head: see docs/ledger.md.",
            "content": dict.fromkeys(_MEDIA_TYPES.values(), _FILE),
        },
        **responses(NotSignedError),
    },
)
def export_ledger(
    caller: CallerDep,
    store: StoreDep,
    origin: OriginDep,
    written_as: Annotated[export.Format, Query(alias="format")] = "jsonl",
    seen: SeenQuery = None,
) -> StreamingResponse:
    """The entries you may see with what verifies them, streamed. Auditors get their own."""
    sight = sight_of(caller)
    pieces = export.export(store, origin, sight, written_as, seen or ())
    return StreamingResponse(pieces, media_type=_MEDIA_TYPES[written_as])


@router.get("/checkpoint", responses=responses(NotSignedError))
def get_checkpoint(_: CallerDep, session: ReadDep) -> SignedHead:
    """The newest signed head, with the cosignatures it has."""
    row = checkpoints.latest(session)
    if row is None:
        raise NotSignedError("nothing is signed yet; ask again in a few seconds")
    return head_view(row)


@router.get("/checkpoints")
def list_checkpoints(
    _: CallerDep, session: ReadDep, cursor: NumberCursor = None, limit: LimitQuery = 50
) -> Page[SignedHead]:
    """All signed heads, newest first."""
    return page(session, select(CheckpointRow), CheckpointRow.size, head_view, cursor, limit)


@router.get("/entries/{number}/proof", responses=responses(NotFoundError, NotSignedError))
def prove_inclusion(number: NumberPath, caller: CallerDep, session: ReadDep) -> InclusionProof:
    """That an entry is in the newest signed head."""
    row = session.exec(visible(caller).where(EntryRow.number == number)).first()
    if row is None:
        raise NotFoundError(f"no entry {number} that you may see")
    return proofs.inclusion(session, row)


@router.get("/consistency", responses=responses(NotSignedError))
def prove_consistency(
    _: CallerDep, session: ReadDep, old: SizeQuery, new: SizeQuery
) -> ConsistencyProof:
    """That one signed head continues another."""
    return proofs.consistency(session, old, new)


@router.post("/cosignatures", status_code=201, responses=responses(NotFoundError, body=True))
def add_cosignature(draft: Cosignature, caller: RegulatorDep, store: StoreDep) -> SignedHead:
    """Keep a regulator's cosignature of a head that this service signed."""
    with store.write() as session:
        witness = _witness(session, caller)
        return head_view(checkpoints.add_cosignature(session, draft.note, witness))


def head_view(row: CheckpointRow) -> SignedHead:
    return SignedHead(size=row.size, note=row.note, at=row.at)


def _witness(session: Session, caller: Caller) -> VerifierKey:
    """The regulator's own key, as C2SP cosignatures name it."""
    jwk = session.get_one(ResearcherRow, caller.researcher_id).jwk
    key = import_public_jwk(jwk) if jwk else None
    if not isinstance(key, OKPKey):
        raise InvalidRequestError("a witness needs an Ed25519 key")
    return VerifierKey.of(caller.researcher_id, key, SignatureType.COSIGNATURE_V1)
