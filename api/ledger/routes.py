"""`/v1/ledger`: entries, checkpoints, proofs. Regulators see all entries, auditors their own.

`/v1/operator/keys`: the keys that sign checkpoints, receipts and access tokens.
"""

from typing import Annotated

from fastapi import Query
from fastapi.responses import StreamingResponse
from pydantic import Field

from api.identity.dependencies import SigningKeysDep
from api.identity.roles import CallerDep, OperatorDep, RegulatorDep
from api.kernel.errors import (
    ForbiddenError,
    NotFoundError,
    NotSignedError,
    RateLimitedError,
    UnauthenticatedError,
)
from api.ledger import cosignatures, export, key_rotation, proofs, queries
from api.ledger.visibility import require_export_scope
from api.web.dependencies import OriginDep, ReadDep, StoreDep
from api.web.parameters import EntryNumberPath, HeadSizeQuery, LimitQuery
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
    SigningKey,
)

_ROLE = responses(UnauthenticatedError, ForbiddenError, RateLimitedError)
router = new_router(prefix="/v1/ledger", tags=["ledger"], responses=_ROLE)
operator = new_router(prefix="/v1/operator", tags=["operator"], responses=_ROLE)
_FILE = {"schema": {"type": "string", "format": "binary"}}
_MEDIA_TYPES = {
    "jsonl": "application/x-ndjson",
    "parquet": "application/vnd.apache.parquet",
}
NumberCursor = Annotated[int | None, Query(ge=0, le=2**62)]
Size = Annotated[int, Field(ge=1, le=2**62)]
SeenQuery = Annotated[
    list[Size] | None,
    Query(
        max_length=20,
        description="Sizes of checkpoints that you know; your export proves to continue them.",
    ),
]


@router.get("/keys", responses=responses())
def get_ledger_keys(signing_keys: SigningKeysDep, origin: OriginDep) -> LedgerKeys:
    """Return the origin of this ledger, and the public keys of its checkpoints and of receipts."""
    return key_rotation.published(signing_keys, origin)


@router.get("/entries")
def list_entries(
    caller: CallerDep,
    session: ReadDep,
    cursor: NumberCursor = None,
    limit: LimitQuery = 50,
    kind: Annotated[str | None, Query(max_length=40)] = None,
) -> Page[Entry]:
    """List the entries that you may see, newest first."""
    return queries.list_entries(session, caller, kind, cursor, limit)


@router.get("/feed")
def follow_entries(
    caller: CallerDep, session: ReadDep, after: NumberCursor = None, limit: LimitQuery = 50
) -> Page[Entry]:
    """List entries after `after` that you may see, oldest first; poll it with the last number."""
    return queries.follow_entries(session, caller, after, limit)


@router.get(
    "/export",
    response_class=StreamingResponse,
    responses={
        200: {
            "description": "The ledger up to its newest checkpoint: see docs/reference/ledger.md.",
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
    """Stream the entries you may see with what verifies them. Auditors get their own."""
    sight = require_export_scope(caller)
    pieces = export.export(store, origin, sight, written_as, seen or ())
    return StreamingResponse(pieces, media_type=_MEDIA_TYPES[written_as])


@router.get("/checkpoint", responses=responses(NotSignedError))
def get_checkpoint(_: CallerDep, session: ReadDep) -> SignedHead:
    """Return the newest signed checkpoint, with its cosignatures."""
    return queries.get_newest_checkpoint(session)


@router.get("/checkpoints")
def list_checkpoints(
    _: CallerDep, session: ReadDep, cursor: NumberCursor = None, limit: LimitQuery = 50
) -> Page[SignedHead]:
    """List all checkpoints, newest first."""
    return queries.list_checkpoints(session, cursor, limit)


@router.get("/entries/{number}/proof", responses=responses(NotFoundError, NotSignedError))
def prove_inclusion(number: EntryNumberPath, caller: CallerDep, session: ReadDep) -> InclusionProof:
    """Prove that the newest checkpoint covers an entry."""
    return queries.prove_entry(session, caller, number)


@router.get("/consistency", responses=responses(NotSignedError))
def prove_consistency(
    _: CallerDep, session: ReadDep, old: HeadSizeQuery, new: HeadSizeQuery
) -> ConsistencyProof:
    """Prove that one checkpoint continues another."""
    return proofs.prove_consistency(session, old, new)


@router.post("/cosignatures", status_code=201, responses=responses(NotFoundError, body=True))
def add_cosignature(draft: Cosignature, caller: RegulatorDep, store: StoreDep) -> SignedHead:
    """Store a regulator's cosignature of a checkpoint that this service signed."""
    return cosignatures.add_cosignature(store, caller, draft.note)


@operator.get("/keys")
def list_keys(_: OperatorDep, store: StoreDep) -> list[SigningKey]:
    """List the signing keys of this service, in use and retired; never their private parts."""
    return key_rotation.list_keys(store)


@operator.post("/keys/rotate", status_code=201)
def rotate_keys(
    caller: OperatorDep, store: StoreDep, signing_keys: SigningKeysDep, origin: OriginDep
) -> list[SigningKey]:
    """Rotate the signing keys of all purposes. Earlier signatures stay verifiable."""
    key_rotation.rotate(store, signing_keys, origin, caller.researcher_id)
    return key_rotation.list_keys(store)
