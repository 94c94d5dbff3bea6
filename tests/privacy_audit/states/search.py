"""Breadth-first search over the states of the accounting, to a stated depth.

Two states are the same if the tables that matter are, up to names and times, and the history is.
So every order of operations is covered, and nothing is tried twice.
"""

import re
import tempfile
from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from tests.privacy_audit.states.history import History, audits_of
from tests.privacy_audit.states.invariants import violations
from tests.privacy_audit.states.operations import operations
from tests.privacy_audit.states.processes import Memory, Process
from tests.privacy_audit.states.world import World, opened

# What happened, as opposed to what is the case: never read back by the accounting.
_LEFT_OUT = {
    "alembic_version", "auditors", "researchers", "revoked_tokens", "used_assertions", "contents",
    "signing_keys", "ledger", "ledger_head", "ledger_tree", "checkpoints", "statements",
    "personal_texts", "personal_subjects", "applications", "application_individuals",
    "application_events", "webhooks", "audience_sketches", "sign_in_codes", "console_sessions",
    "two_party_messages", "processes", "releases",
}  # fmt: skip
# Names, times and texts that differ from one path to the next and say the same.
_COLUMN = re.compile(
    r"_at$|_until$|^(valid_from|request|request_digest|price|idempotency_key|turn|claims|run|terms"
    r"|transcript|release|entry|digest|people_digest|commitment|audience_commitment|tokens|sketch"
    r"|sealed_to)$"
)
_RUNS = "SELECT audit_id, run FROM two_party_runs"
_NAME = re.compile(r"^[a-z]+_[0-9a-f]{30}$")


@dataclass(frozen=True)
class State:
    """A place in the search: how to get back to it, and by which operations it was reached."""

    image: bytes
    days: int
    minutes: int
    memory: tuple[Memory, Memory]
    history: History
    path: tuple[str, ...] = ()


@dataclass
class Found:
    """The result of a search from one beginning."""

    depth: int
    states: int = 0
    transitions: int = 0
    operations: Counter[str] = field(default_factory=Counter)
    violations: list[tuple[tuple[str, ...], list[str]]] = field(default_factory=list)


def search(
    depth: int, beginning: tuple[str, ...] = (), most_violations: int = 5, *, fine: bool = False
) -> Found:
    """Explore all orders of at most this many operations that follow those of the beginning.

    With `fine`, two-party runs go step by step. A violation is not explored further. The search
    ends after a few that differ in more than the way to them.
    """
    found = Found(depth)
    with (
        tempfile.TemporaryDirectory(prefix="states-") as folder,
        opened(Path(folder), fine=fine) as world,
    ):
        first = _begin(world, beginning)
        seen, waiting = {fingerprint(world, first.history)}, deque([first])
        while waiting and len(found.violations) < most_violations:
            state = waiting.popleft()
            found.states += 1
            left = depth - (len(state.path) - len(first.path))
            if left:
                waiting.extend(_next(world, state, seen, found, last=left == 1))
    return found


def _begin(world: World, names: tuple[str, ...]) -> State:
    """Return the state after these operations."""
    history = History()
    for name in names:
        [operation] = [each for each in operations(world) if each.name == name]
        history = history.after(world, operation.apply(world))
    return _state(world, history, names)


def _next(
    world: World, state: State, seen: set[bytes], found: Found, *, last: bool
) -> Iterator[State]:
    """Yield all new states that one operation leads to; the `last` ones are never gone back to."""
    _restore(world, state)
    for number, operation in enumerate(list(operations(world))):
        if number:
            _restore(world, state)
        observed = operation.apply(world)
        found.transitions += 1
        found.operations[operation.name.split()[0].strip(",")] += 1
        path = (*state.path, operation.name)
        with world.held():
            history = state.history.after(world, observed)
            wrong = violations(world, history)
            print_ = fingerprint(world, history)
        if wrong:
            if wrong not in [known for _, known in found.violations]:
                found.violations.append((path, wrong))
        elif print_ not in seen:
            seen.add(print_)
            yield _state(world, history, path, last=last)


def _state(world: World, history: History, path: tuple[str, ...], *, last: bool = False) -> State:
    one, other = (process.save() for process in world.processes)
    image = b"" if last else world.save()
    return State(image, world.days, world.minutes, (one, other), history, path)


def _restore(world: World, state: State) -> None:
    world.restore(state.image)
    one, other = (Process.of(memory) for memory in state.memory)
    world.processes = one, other
    world.days, world.minutes = state.days, state.minutes


def fingerprint(world: World, history: History) -> bytes:
    """Return a digest of everything that the accounting can still depend on."""
    tables = world.rows("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
    names: dict[str, int] = {}
    content = [
        [table["name"], [_row(row, names) for row in world.rows(_all(table["name"]))]]
        for table in tables
        if table["name"] not in _LEFT_OUT
    ]
    pasts = [
        (sorted(past.debited), sorted(past.read), past.draws, past.release is None, past.refuted)
        for past in history.audits
    ]
    seen = (content, pasts, _in_memory(world), world.days)
    return sha256(repr(seen).encode()).digest()


def _in_memory(world: World) -> list[Any]:
    """Return the runs of both processes, which are alike, by what they can still do."""
    audits = [row["id"] for row in audits_of(world)]
    current = {row["audit_id"]: row["run"] for row in world.rows(_RUNS)}
    found = []
    for process in world.processes:
        live, speaking = process.save()
        lives = [(audits.index(name), run.name == current[name]) for name, run in live.items()]
        said = [(audits.index(name), it.label, int(it.stage)) for name, it in speaking.items()]
        found.append((sorted(lives), sorted(said)))
    return sorted(found)


def _all(table: str) -> str:
    return f'SELECT * FROM "{table}" ORDER BY rowid'


def _row(row: dict[str, Any], names: dict[str, int]) -> list[Any]:
    return [(name, _plain(name, value, names)) for name, value in row.items()]


def _plain(column: str, value: Any, names: dict[str, int]) -> Any:
    """Return the value without names and times, which differ from path to path."""
    if column == "claim" or _COLUMN.search(column):
        return value is not None
    if isinstance(value, str) and _NAME.match(value):
        return names.setdefault(value, len(names))
    return value
