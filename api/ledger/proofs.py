"""Proofs that a checkpoint covers an entry, and that one checkpoint continues another."""

import base64

from sqlmodel import Session

from api.db import EntryRow
from api.kernel.errors import InvalidRequestError, NotSignedError
from api.ledger import checkpoints
from api.ledger.tree import load_tree
from openapi.resources import ConsistencyProof, InclusionProof
from privacy.ledger import merkle


def prove_inclusion(session: Session, entry: EntryRow) -> InclusionProof:
    """Prove that the newest checkpoint covers this entry."""
    head = checkpoints.find_covering(session, entry.number)
    path = merkle.inclusion_path(entry.number, head.size, load_tree(session).subtree)
    return InclusionProof(
        entry=entry.text, number=entry.number, path=encode_path(path), checkpoint=head.note
    )


def prove_consistency(session: Session, old: int, new: int) -> ConsistencyProof:
    """Prove that the ledger of one size is the beginning of the ledger of another."""
    newest = checkpoints.load_latest(session)
    if newest is None or new > newest.size:
        raise NotSignedError(f"There is no checkpoint of size {new} yet.")
    if old > new:
        raise InvalidRequestError("`old` must not be larger than `new`")
    path = merkle.consistency_path(old, new, load_tree(session).subtree)
    return ConsistencyProof(old=old, new=new, path=encode_path(path))


def encode_path(path: list[bytes]) -> list[str]:
    return [base64.b64encode(each).decode() for each in path]
