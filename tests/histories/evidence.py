"""Everything that a checker reads of one history: what clients wrote, and the database."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from sqlmodel import select

from api.db import AudienceRow, CheckpointRow, ContentRow, Store
from tests.faults.snapshot import Snapshot
from tests.histories import history
from tests.histories.belongings import SIZES, UPLOADED
from tests.histories.history import ANSWERS, Event
from tests.histories.plan import Does
from tests.histories.platform import window

SUBMITS = (Does.SUBMIT, Does.SUBMIT_TWICE, Does.SUBMIT_AGAIN)
CHARGES = (*SUBMITS, Does.SUBMIT_WITHOUT_KEY)
People = dict[str, dict[str, list[int]]]


@dataclass(frozen=True)
class Call:
    """One operation: when it was first sent, what was asked, and the answer, if there is one."""

    client: str
    number: int
    does: Does
    sent: float
    asked: dict[str, Any]
    answer: Event | None

    @property
    def auditor(self) -> str:
        return self.client.rpartition("-")[0]

    @property
    def is_done(self) -> bool:
        return self.answer is not None and self.answer.what == "done"

    @property
    def said(self) -> dict[str, Any]:
        return self.answer.said if self.answer else {}

    @property
    def done(self) -> float:
        """The time of the answer."""
        return self.answer.at if self.answer else float("inf")

    @property
    def code(self) -> str | None:
        """The code of a refusal."""
        return self.said["code"] if self.answer and self.answer.what == "refused" else None

    def __str__(self) -> str:
        return f"{self.client}/{self.number} ({self.does})"


@dataclass(frozen=True)
class Evidence:
    """The calls of all clients, and the rows that are left."""

    calls: tuple[Call, ...]
    snapshot: Snapshot
    contents: dict[str, ContentRow]
    audiences: dict[str, AudienceRow]
    signed: tuple[str, ...]  # notes of every checkpoint in the database
    lost: tuple[Event, ...]  # tries that got no answer

    @classmethod
    def read(cls, paths: list[Path], store: Store) -> "Evidence":
        with store.read() as session:
            contents = {row.id: row for row in session.exec(select(ContentRow))}
            audiences = {row.id: row for row in session.exec(select(AudienceRow))}
            signed = tuple(row.note for row in session.exec(select(CheckpointRow)))
        written = [history.read(path) for path in paths]
        calls = tuple(call for events in written for call in _calls(events))
        lost = tuple(event for events in written for event in events if event.what == "lost")
        return cls(calls, Snapshot.of(store), contents, audiences, signed, lost)

    def done(self, *does: Does) -> Iterator[Call]:
        """Yield the calls of these sorts that got what they asked for."""
        return (call for call in self.calls if call.does in does and call.is_done)

    def of(self, *does: Does) -> Iterator[Call]:
        return (call for call in self.calls if call.does in does)

    @property
    def operations(self) -> int:
        return sum(call.answer is not None for call in self.calls)

    def __str__(self) -> str:
        """Say what happened in numbers."""
        states = Counter(audit.state for audit in self.snapshot.audits.values())
        refused = sum(call.code is not None for call in self.calls)
        erased = sum(1 for _ in self.done(Does.ERASE))
        again = sum(audit.claims > 1 for audit in self.snapshot.audits.values())
        return (
            f"{states.total()} audits charged, {states['released']} released (of which {again}"
            f" by a second worker), {states['cancelled']} cancelled; {erased} audiences erased;"
            f" {refused} requests refused, {len(self.lost)} tries without an answer"
        )

    @cached_property
    def people(self) -> People:
        """The people of every audience that a client knows, by what it asked for."""
        people: People = {}
        for call in self.done(Does.SAMPLE):
            people[call.said["audience_id"]] = {
                label: list(window(call.asked["attribute"], value)[: SIZES[value]])
                for label, value in call.said["names"].items()
            }
        for call in self.done(Does.UPLOAD, Does.OPEN):
            first = call.asked["first"]
            people[call.said["audience_id"]] = {
                label: [each for each in range(first, first + UPLOADED) if _group(each) == name]
                for label, name in call.said["names"].items()
            }
        return people


def _group(person: int) -> str:
    return "odd" if person % 2 else "even"


def _calls(events: list[Event]) -> Iterator[Call]:
    by_number: dict[int, list[Event]] = defaultdict(list)
    for event in events:
        by_number[event.number].append(event)
    for number, some in by_number.items():
        if some[0].what != "sent":
            continue
        first = some[0]
        answers = [event for event in some if event.what in ANSWERS]
        answer = answers[-1] if answers else None
        yield Call(first.client, number, Does(first.does), first.at, first.said, answer)
