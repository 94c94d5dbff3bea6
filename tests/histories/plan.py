"""Schedules: everything that clients and faults do in one history, drawn from a seed.

A history has phases. In each phase every client runs a few operations, and one fault is injected
after a drawn share of them. The seed fixes operations and faults, and the share; the operating
system still decides which process runs first.
"""

import random
from dataclasses import dataclass
from enum import StrEnum


class Does(StrEnum):
    """The operations of a client."""

    CONTENT = "content"
    SAMPLE = "sample"
    UPLOAD = "upload"
    OPEN = "open"
    SEAL = "seal"
    PRICE = "price"
    SUBMIT = "submit"
    SUBMIT_TWICE = "submit-twice"
    SUBMIT_AGAIN = "submit-again"
    SUBMIT_WITHOUT_KEY = "submit-without-key"
    GET = "get"
    CANCEL = "cancel"
    FETCH = "fetch"
    ERASE = "erase"
    LIST = "list"
    HEAD = "head"


class Breaks(StrEnum):
    """The faults that can occur."""

    KILL_SERVER = "kill -9 of a server"
    KILL_WORKER = "kill -9 of a worker"
    KILL_AT_WORK = "kill -9 of a process that scores"
    STOP_AT_WORK = "SIGSTOP of a process that scores, for longer than its lease"
    STOP_SERVER = "SIGSTOP of a server, for longer than a lease"
    HANG_PLATFORM = "the platform does not answer for a while"
    CLOCK_OF_ALL = "clock step of every process"
    CLOCK_OF_ONE = "clock step of one process"
    FULL_DISK = "full disk"
    LOSE_ANSWERS = "answers lost after commit"
    CUT_ANSWERS = "answers cut in the middle"
    KILL_CLIENT = "kill -9 of a client"
    DROP_CONNECTIONS = "database connections dropped"
    RESTART_FAST = "database restarted (fast)"
    RESTART_IMMEDIATE = "database restarted (immediate)"


ON_POSTGRESQL = (Breaks.DROP_CONNECTIONS, Breaks.RESTART_FAST, Breaks.RESTART_IMMEDIATE)
# Share of submissions that are cancelled right after.
CANCELLED_AT_ONCE = 0.5
# Every client begins with these, so that the others have something to be about.
_FIRST = (Does.CONTENT, Does.SAMPLE, Does.SUBMIT)
_WEIGHTS = {
    Does.CONTENT: 1,
    Does.SAMPLE: 2,
    Does.UPLOAD: 1,
    Does.OPEN: 1,
    Does.SEAL: 3,
    Does.PRICE: 1,
    Does.SUBMIT: 8,
    Does.SUBMIT_TWICE: 2,
    Does.SUBMIT_AGAIN: 3,
    Does.GET: 2,
    Does.CANCEL: 1,
    Does.FETCH: 3,
    Does.ERASE: 1,
    Does.LIST: 1,
    Does.HEAD: 2,
}


@dataclass(frozen=True)
class Operation:
    """One operation; `pick` (from 0 to 1) chooses what it is about among what there is then."""

    does: Does
    pick: float


@dataclass(frozen=True)
class Fault:
    """One fault, injected after a share of its phase's operations; `pick` chooses its target."""

    breaks: Breaks
    after: float
    pick: float


@dataclass(frozen=True)
class Plan:
    """Operations by client, `each` of them in a phase, and one fault per phase."""

    seed: str
    operations: tuple[tuple[Operation, ...], ...]
    faults: tuple[Fault, ...]
    each: int

    @property
    def clients(self) -> int:
        return len(self.operations)


@dataclass(frozen=True)
class Size:
    """The size of a run: clients, operations of each per phase, and rounds of all faults."""

    clients: int = 4
    each: int = 5
    rounds: int = 1


def draw(
    seed: str, size: Size, *, postgresql: bool, faults: tuple[Breaks, ...] | None = None
) -> Plan:
    """Draw a schedule with every fault that the database can have, once per round."""
    rng = random.Random(f"{seed}/{postgresql}")
    possible = faults or tuple(each for each in Breaks if postgresql or each not in ON_POSTGRESQL)
    kinds = [each for _ in range(size.rounds) for each in rng.sample(possible, len(possible))]
    drawn = tuple(Fault(each, rng.uniform(0.1, 0.5), rng.random()) for each in kinds)
    operations = tuple(_operations(rng, size.each * len(drawn)) for _ in range(size.clients))
    return Plan(seed, operations, drawn, size.each)


def _operations(rng: random.Random, count: int) -> tuple[Operation, ...]:
    kinds = list(_FIRST)
    while len(kinds) < count:
        kinds += rng.choices(list(_WEIGHTS), list(_WEIGHTS.values()))
        if kinds[-1] is Does.SUBMIT and rng.random() < CANCELLED_AT_ONCE:
            kinds.append(Does.CANCEL)
    return tuple(Operation(does, rng.random()) for does in kinds[:count])
