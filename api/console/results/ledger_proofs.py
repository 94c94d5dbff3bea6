"""Data with which a browser verifies a page of the ledger by itself: notes, keys, proofs."""

from joserfc.errors import JoseError
from joserfc.jwk import OKPKey
from pydantic import BaseModel
from sqlmodel import Session, col, select

from api.console.rendering import pages
from api.console.security.current_user import PageRequest, RegulatorVisit
from api.db import CheckpointRow, EntryRow, ResearcherRow
from api.ledger import key_rotation, proofs, queries
from api.ledger.proofs import encode_path
from api.ledger.tree import load_tree
from api.web.dependencies import ReadDep
from api.web.parameters import EntryNumberPath, HeadSizeQuery
from openapi.resources import ConsistencyProof, InclusionProof
from privacy.errors import NoteError
from privacy.ledger import merkle
from privacy.ledger.export_lines import parse
from privacy.ledger.notes import SignatureType, VerifierKey

router = pages()


class Evidence(BaseModel):
    """Keys as the platform states them, proofs of each handover, and a checkpoint.

    For an entry there is its proof, which includes the checkpoint to verify.
    """

    origin: str
    keys: list[str]
    witnesses: list[str]
    handovers: list[InclusionProof]
    checkpoint: str
    proof: InclusionProof | None = None


@router.get("/regulator/ledger/head.json")
def get_head(visit: RegulatorVisit, session: ReadDep) -> Evidence:
    """Return the newest checkpoint."""
    return _evidence(visit, session, queries.get_newest_checkpoint(session).note, None)


@router.get("/regulator/ledger/consistency.json")
def get_consistency(
    _: RegulatorVisit, session: ReadDep, old: HeadSizeQuery, new: HeadSizeQuery
) -> ConsistencyProof:
    """Return the proof that one checkpoint continues another."""
    return proofs.prove_consistency(session, old, new)


@router.get("/regulator/ledger/{number}/proof.json")
def get_proof(number: EntryNumberPath, visit: RegulatorVisit, session: ReadDep) -> Evidence:
    """Return the proof that the newest signed checkpoint includes an entry."""
    proof = queries.prove_entry(session, visit.caller, number)
    return _evidence(visit, session, proof.checkpoint, proof)


def _evidence(
    visit: PageRequest, session: Session, note: str, proof: InclusionProof | None
) -> Evidence:
    parts = visit.console.parts
    published = key_rotation.published(parts.signing_keys, parts.origin)
    return Evidence(
        origin=published.origin,
        keys=published.ledger,
        witnesses=load_witnesses(session),
        handovers=load_handovers(session),
        checkpoint=note,
        proof=proof,
    )


def load_witnesses(session: Session) -> list[str]:
    """Return the keys with which regulators cosign, in C2SP's form."""
    rows = session.exec(select(ResearcherRow).where(ResearcherRow.role == "regulator"))
    found = (_witness(row) for row in rows if row.jwk)
    return [str(key) for key in found if key]


def _witness(row: ResearcherRow) -> VerifierKey | None:
    try:
        key = OKPKey.import_key(dict(row.jwk or {}))
        return VerifierKey.of(row.id, key, SignatureType.COSIGNATURE_V1)
    except (JoseError, NoteError, ValueError):
        return None  # a key of another type signs statements, but cannot cosign


def load_handovers(session: Session) -> list[InclusionProof]:
    """Return a proof for each later ledger key: its entry under the checkpoint signed by both
    keys.
    """
    query = select(EntryRow).where(EntryRow.kind == "signing-key").order_by(col(EntryRow.number))
    named = [row for row in session.exec(query) if _of_ledger(row)]
    return [proof for row in named[1:] if (proof := _under_next_head(session, row))]


def _of_ledger(row: EntryRow) -> bool:
    return bool(parse(row.text.encode()).facts["purpose"] == "ledger")


def _under_next_head(session: Session, row: EntryRow) -> InclusionProof | None:
    heads = select(CheckpointRow).where(col(CheckpointRow.size) > row.number)
    head = session.exec(heads.order_by(col(CheckpointRow.size)).limit(1)).first()
    if head is None:
        return None
    path = merkle.inclusion_path(row.number, head.size, load_tree(session).subtree)
    return InclusionProof(
        entry=row.text, number=row.number, path=encode_path(path), checkpoint=head.note
    )
