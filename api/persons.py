"""What each person has borne, over all auditors, for ever: a filter that leaves out the exhausted.

Every person has a lifetime cap in rho that never renews. At submission, whoever the audit would
take beyond the cap is left out of it, and everybody else is charged; nothing of this is visible
(R2). Whether a person is left out depends on that person's own history alone, so the filter is
sound under adaptive composition: see docs/guarantee.md.

Balances are exact integers in blocks of neighbouring person numbers: an audience of a million
touches a thousand rows, one of a hundred at most a hundred. They live in the platform's own tables
and never enter the ledger. Only the holder of the platform account's lock may change them.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import insert
from sqlmodel import Session, col, select

from api.store import ExclusionRow, PersonBlockRow
from api.store.types import to_pico
from privacy.membership import Membership, Persons

BLOCK = 1024
Balances = NDArray[np.int64]


def charge(
    session: Session, membership: Membership, cost: Fraction, cap: Fraction
) -> list[NDArray[np.bool_] | None]:
    """Charge everybody who can bear the cost; for each group, who could, or None for all."""
    blocks = Blocks.of(session, membership)
    everyone = membership.everyone()
    borne = blocks.spent(everyone)
    able = borne + to_pico(cost) <= to_pico(cap)
    blocks.add("spent", everyone[able], to_pico(cost))
    blocks.save(session)
    if able.all():
        return [None] * len(membership.groups)
    exhausted = everyone[~able]
    return [~np.isin(group, exhausted) for group in membership.groups]


def refund(session: Session, membership: Membership, cost: Fraction) -> None:
    """Give the cost back to everybody who was charged it."""
    blocks = Blocks.of(session, membership)
    blocks.add("spent", membership.everyone(), -to_pico(cost))
    blocks.save(session)


def carry(session: Session, membership: Membership, cost: Fraction) -> None:
    """Remember what an audience bore, before its members are erased, so that sums still check."""
    blocks = Blocks.of(session, membership)
    blocks.add("carried", membership.everyone(), to_pico(cost))
    blocks.save(session)


def exclude(
    session: Session, audit_id: str, labels: list[str], able: list[NDArray[np.bool_] | None]
) -> None:
    """Write down who is left out of an audit, for its worker."""
    session.add_all(
        ExclusionRow(audit_id=audit_id, label=label, able=np.packbits(mask).tobytes())
        for label, mask in zip(labels, able, strict=True)
        if mask is not None
    )


def included(
    session: Session, audit_id: str, labels: list[str], membership: Membership
) -> Membership:
    """The people of an audience who bear this audit."""
    query = select(ExclusionRow).where(ExclusionRow.audit_id == audit_id)
    masks = {row.label: np.frombuffer(row.able, np.uint8) for row in session.exec(query)}
    groups = (
        group[np.unpackbits(masks[label], count=len(group)).astype(bool)]
        if label in masks
        else group
        for label, group in zip(labels, membership.groups, strict=True)
    )
    return Membership(tuple(groups), membership.groups_per_person)


@dataclass
class Blocks:
    """The blocks of some people, in memory: rows of balances, by sorted block number."""

    numbers: NDArray[np.int64]
    new: NDArray[np.bool_]
    balances: dict[str, Balances]

    @classmethod
    def of(cls, session: Session, membership: Membership) -> "Blocks":
        everyone = membership.everyone()
        return cls.load(session, np.unique(everyone // BLOCK))

    @classmethod
    def load(cls, session: Session, numbers: NDArray[np.int64]) -> "Blocks":
        balances = {
            name: np.zeros((len(numbers), BLOCK), np.int64) for name in ("spent", "carried")
        }
        new = np.ones(len(numbers), bool)
        for row in _rows(session, numbers):
            at = int(np.searchsorted(numbers, row.number))
            new[at] = False
            balances["spent"][at] = np.frombuffer(row.spent, "<i8")
            if row.carried is not None:
                balances["carried"][at] = np.frombuffer(row.carried, "<i8")
        return cls(numbers, new, balances)

    def spent(self, persons: Persons) -> Balances:
        return self.balances["spent"][self._rows_of(persons), persons % BLOCK]

    def add(self, name: str, persons: Persons, amount: int) -> None:
        """Add to distinct people."""
        self.balances[name][self._rows_of(persons), persons % BLOCK] += amount

    def save(self, session: Session) -> None:
        rows = [self._row(at) for at in range(len(self.numbers))]
        fresh = [row for row, new in zip(rows, self.new, strict=True) if new]
        if fresh:
            session.execute(insert(PersonBlockRow), fresh)
        session.bulk_update_mappings(
            PersonBlockRow,
            [row for row, new in zip(rows, self.new, strict=True) if not new],
        )

    def _row(self, at: int) -> dict[str, Any]:
        carried = self.balances["carried"][at]
        return {
            "number": int(self.numbers[at]),
            "spent": self.balances["spent"][at].astype("<i8").tobytes(),
            "carried": carried.astype("<i8").tobytes() if carried.any() else None,
        }

    def _rows_of(self, persons: Persons) -> NDArray[np.intp]:
        return np.searchsorted(self.numbers, persons // BLOCK)


def _rows(session: Session, numbers: NDArray[np.int64]) -> Iterator[PersonBlockRow]:
    for chunk in np.array_split(numbers, max(1, len(numbers) // 500)):
        wanted = col(PersonBlockRow.number).in_(chunk.tolist())
        yield from session.exec(select(PersonBlockRow).where(wanted))
