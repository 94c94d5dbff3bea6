"""Proofs that an entry is in a signed head, and that one head continues another."""

import base64

from sqlmodel import Session

from api.db import EntryRow
from api.kernel.errors import InvalidRequestError, NotSignedError
from api.ledger import checkpoints
from api.ledger.tree import tree
from openapi.resources import ConsistencyProof, InclusionProof
from privacy.ledger import merkle


def inclusion(session: Session, entry: EntryRow) -> InclusionProof:
    """That the newest signed head holds this entry."""
    head = checkpoints.covering(session, entry.number)
    path = merkle.inclusion_path(entry.number, head.size, tree(session).subtree)
    return InclusionProof(
        entry=entry.text, number=entry.number, path=encoded(path), checkpoint=head.note
    )


def consistency(session: Session, old: int, new: int) -> ConsistencyProof:
    """That what was signed at one size is the beginning of what was signed at another."""
    newest = checkpoints.latest(session)
    if newest is None or new > newest.size:
        raise NotSignedError(f"no head of size {new} is signed yet")
    if old > new:
        raise InvalidRequestError("`old` must not be larger than `new`")
    path = merkle.consistency_path(old, new, tree(session).subtree)
    return ConsistencyProof(old=old, new=new, path=encoded(path))


def encoded(path: list[bytes]) -> list[str]:
    return [base64.b64encode(each).decode() for each in path]
