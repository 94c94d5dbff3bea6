"""Claims: the right to send one request, which one process at a time holds.

Each distinct request has numbered slots on disk: `<name>.json` and `<name>.lock`, then
`<name>-2.json` and so on. Usually the first slot is enough. Another one is used to run the same
request again while an earlier result is not saved yet.
"""

from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from auditor_client.local.file_locks import FileLock, HeldLock
from auditor_client.local.pending_record import PendingRecord, load_pending, save_pending


@dataclass(frozen=True)
class RecordSlot:
    """File for one record, and the lock that guards it."""

    folder: Path
    name: str
    number: int

    @property
    def record(self) -> Path:
        return self.folder / f"{self._stem}.json"

    @property
    def lock(self) -> Path:
        return self.folder / f"{self._stem}.lock"

    @property
    def _stem(self) -> str:
        return self.name if self.number == 1 else f"{self.name}-{self.number}"


@dataclass(eq=False)
class Claim:
    """Record that only this process may change. Without a slot it is only in memory."""

    record: PendingRecord
    slot: RecordSlot | None = None
    lock: FileLock | None = field(default=None, repr=False)
    resumed: bool = False

    def save(self, **changes: Any) -> PendingRecord:
        """Change the record, also on disk."""
        self.record = self.record.model_copy(update=changes)
        if self.slot is not None:
            save_pending(self.slot.record, self.record)
        return self.record

    def complete(self) -> None:
        """Delete the record: its result was delivered, or nothing was charged."""
        if self.slot is not None:
            self.slot.record.unlink(missing_ok=True)
        self._unlock(remove=True)

    def leave(self) -> None:
        """Keep the record for the next run, and release the lock."""
        kept = self.slot is not None and self.slot.record.exists()
        self._unlock(remove=not kept)

    def _unlock(self, *, remove: bool) -> None:
        if self.lock is not None:
            self.lock.release(remove=remove)
            self.lock = None


@dataclass(frozen=True)
class Busy:
    """Slot held by another process, or by another thread of this process, and its record."""

    holder: str
    record: PendingRecord


def find_claim(
    folder: Path, fresh: PendingRecord, *, new: bool, mine: frozenset[Path] = frozenset()
) -> Claim | Busy:
    """Continue an interrupted record, or share a slot in use, or take a free slot.

    A free slot gets the record `fresh`. Its key is in the lock before anybody can meet the lock.

    `new` always takes a free slot. `mine` are the locks of results that this process has already
    delivered: their requests then mean another run.
    """
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    name = fresh.name
    for slot in [] if new else _used(folder, name):
        if slot.lock not in mine:
            found = _take(slot, fresh)
            if isinstance(found, Busy) or found.resumed:
                return found
            found.leave()
    for slot in (RecordSlot(folder, name, number) for number in count(1)):
        if slot.lock in mine or (new and slot.record.exists()):
            continue
        found = _take(slot, fresh)
        if not new or (isinstance(found, Claim) and not found.resumed):
            return found
        if isinstance(found, Claim):
            found.leave()
    raise AssertionError("there is always another slot")


def _used(folder: Path, name: str) -> list[RecordSlot]:
    """Return the slots of a request that are on disk, in order."""
    stems = {path.stem for path in folder.glob(f"{name}*") if path.suffix in (".json", ".lock")}
    numbers = {int(stem.removeprefix(name).removeprefix("-") or 1) for stem in stems}
    return [RecordSlot(folder, name, number) for number in sorted(numbers)]


def _take(slot: RecordSlot, fresh: PendingRecord) -> Claim | Busy:
    """Lock a slot and read its record, or return its holder and the holder's record."""
    before = load_pending(slot.record, slot.name)
    planned = before or fresh
    lock = FileLock.acquire(slot.lock, planned.key)
    if isinstance(lock, HeldLock):
        sent = load_pending(slot.record, slot.name)
        return Busy(lock.holder, sent or PendingRecord.fresh(slot.name, lock.note))
    try:
        record = load_pending(slot.record, slot.name)
        if record is not None and record.key != planned.key:
            lock.write(record.key)
    except BaseException:
        lock.release()
        raise
    claim = Claim(record or planned, slot, lock, resumed=(record or before) is not None)
    if record is None and before is not None:
        # The result was delivered between the two reads. Save the record, so that concurrent
        # callers share it.
        claim.save()
    return claim
