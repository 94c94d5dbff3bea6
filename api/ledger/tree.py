"""Merkle tree over the entries, read from the hashes in the database."""

from collections.abc import Sequence
from functools import lru_cache

from sqlmodel import Session, col, select

from api.db import EntryRow, TreeHashRow
from privacy.ledger.tiles import Tree


def load_tree(session: Session) -> Tree:
    """Return the tree as this transaction sees it.

    Each hash is read once, because paths overlap.
    """

    @lru_cache(maxsize=4096)
    def hashes(level: int, start: int, stop: int) -> Sequence[bytes]:
        return _hashes(session, level, start, stop)

    return Tree(hashes)


def _hashes(session: Session, level: int, start: int, stop: int) -> Sequence[bytes]:
    if level == 0:
        number = col(EntryRow.number)
        query = select(EntryRow.leaf).where(number >= start, number < stop).order_by(number)
    else:
        number = col(TreeHashRow.number)
        query = (
            select(TreeHashRow.hash)
            .where(col(TreeHashRow.level) == level, number >= start, number < stop)
            .order_by(number)
        )
    return session.exec(query).all()
