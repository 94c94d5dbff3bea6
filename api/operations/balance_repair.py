"""Repair of balances that are lower than the charges on record.

Before migration 0015 an audit of any kind could be charged on a hidden audience. It debited nobody,
read the people whom a two-party run had found, and refunded them a debit that they never had. Their
balances were then too low, or below zero. A repair raises every balance to the sum of the charges
recorded for that person, and lowers none. Somebody who was read without a debit is debited for it.

The ledger states that a repair was made, by whom and why. It does not state whether anything
changed, which would reveal whether somebody was found (R2).
"""

import numpy as np
from sqlmodel import Session, col, select

from api.accounting.balance_blocks import Blocks
from api.accounting.memberships import HIDDEN
from api.db import AudienceRow, ChargeRow, EntryRow, Store
from api.ledger import append, lock
from api.operations.reconciliation import (
    AT_ONCE,
    Charged,
    load_block_numbers,
    load_expected,
    load_standing_charges,
)
from privacy.plans import PLANS

ENTRY = "balance-repair"
# Kinds that may be charged on a hidden audience, whose people their runs find and debit.
_FOUND_LATER = [name for name, plan in PLANS.items() if plan.hidden_audiences]


def repair(store: Store, by: str, reason: str) -> int:
    """Raise balances to the sum of their charges; return the number of the ledger entry."""
    with store.write() as session:
        lock(session)
        return _repair(session, by, reason)


def repair_after_upgrade(store: Store) -> bool:
    """Repair once if a kind other than two-party was ever charged on a hidden audience."""
    with store.read() as session:
        if not _is_due(session):
            return False
    with store.write() as session:
        lock(session)
        if due := _is_due(session):  # another process may have been first
            _repair(session, "upgrade", "charges on hidden audiences by other kinds than two-party")
    return due


def _is_due(session: Session) -> bool:
    """Return whether there is such a charge, which its auditor knows, and no repair was made."""
    unbound = (
        select(ChargeRow.id)
        .join(AudienceRow, col(AudienceRow.id) == col(ChargeRow.audience_id))
        .where(AudienceRow.source == HIDDEN, col(ChargeRow.kind).not_in(_FOUND_LATER))
    )
    made = select(EntryRow.number).where(EntryRow.kind == ENTRY)
    return (
        session.exec(unbound.limit(1)).first() is not None
        and session.exec(made.limit(1)).first() is None
    )


def _repair(session: Session, by: str, reason: str) -> int:
    charges = load_standing_charges(session)
    numbers = load_block_numbers(session, charges)
    for start in range(0, len(numbers), AT_ONCE):
        blocks = Blocks.load(session, numbers[start : start + AT_ONCE])
        _raise(session, blocks, charges)
        blocks.save(session)
    return append(session, ENTRY, {"by": by, "reason": reason}).number


def _raise(session: Session, blocks: Blocks, charges: list[Charged]) -> None:
    for carried in ("carried", "carried_drawn"):
        np.maximum(blocks[carried], 0, out=blocks[carried])
    for column, least in load_expected(session, blocks, charges).items():
        np.maximum(blocks[column], least, out=blocks[column])
