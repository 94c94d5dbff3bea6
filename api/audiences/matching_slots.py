"""Slots for accepted parts: a fair share for each auditor, and a bounded wait.

A process holds a limited number of parts that are being matched, and a limited number of bytes. One
auditor never holds every slot. With k auditors who hold or wait for slots, an auditor may hold at
most a k-th of them, and always one. The auditor who holds the fewest slots is served next; among
equals, the one who came first.

Every decision follows from public numbers: slots, sizes of parts and who sent them (R2).
"""

import threading
from collections import Counter
from dataclasses import dataclass, field


@dataclass(frozen=True, eq=False)
class Ticket:
    """One part that waits for a slot or has one: its auditor, and its size in bytes."""

    auditor_id: str
    size: int


@dataclass
class MatchingSlots:
    """Slots of one process: at most `parts` parts, of at most `bytes` in all."""

    parts: int
    bytes: int
    _active: list[Ticket] = field(default_factory=list)
    _waiting: list[Ticket] = field(default_factory=list)
    _changed: threading.Condition = field(default_factory=threading.Condition)

    def wait_for(self, auditor_id: str, size: int) -> Ticket:
        """Join the queue for a slot."""
        ticket = Ticket(auditor_id, size)
        with self._changed:
            self._waiting.append(ticket)
        return ticket

    def take(self, ticket: Ticket) -> bool:
        """Take a slot if this ticket is the next one that fits; return whether it was taken."""
        with self._changed:
            if self._next() is not ticket:
                return False
            self._waiting.remove(ticket)
            self._active.append(ticket)
            return True

    def leave(self, ticket: Ticket) -> None:
        """Leave the queue, or give the slot back."""
        with self._changed:
            where = self._active if ticket in self._active else self._waiting
            where.remove(ticket)
            self._changed.notify_all()

    def drain(self, seconds: float) -> None:
        """Wait until no slot is held, or until `seconds` have passed."""
        with self._changed:
            self._changed.wait_for(lambda: not self._active, seconds)

    def _next(self) -> Ticket | None:
        slots = Counter(ticket.auditor_id for ticket in self._active)
        fitting = (ticket for ticket in self._waiting if self._fits(ticket))
        return min(fitting, key=lambda ticket: slots[ticket.auditor_id], default=None)

    def _fits(self, ticket: Ticket) -> bool:
        if not self._active:
            return True  # a single part is always accepted, however large
        own = [each.size for each in self._active if each.auditor_id == ticket.auditor_id]
        share = self._share()
        within_share = len(own) < share and (
            not own or sum(own) + ticket.size <= self.bytes * share // self.parts
        )
        active = sum(each.size for each in self._active)
        return (
            within_share and len(self._active) < self.parts and active + ticket.size <= self.bytes
        )

    def _share(self) -> int:
        """Return the number of slots that one auditor may hold now."""
        auditors = {ticket.auditor_id for ticket in (*self._active, *self._waiting)}
        return max(1, min(self.parts - 1, self.parts // len(auditors)))
