"""Sizes of everything that requests wait for, and the argument that they cannot deadlock.

A request takes its resources in one order:

1. an admission slot (`api.app.admission`), refused at once if there is none;
2. a permit to write or to read, for which it waits without a thread (`api.web.waiting`);
3. a thread of the request pool;
4. its position in the group commit of charges, or SQLite's write lock;
5. a database connection;
6. the lock of the ledger.

A thread that holds one of them waits only for a later one, so threads cannot wait in a circle. Five
facts make this hold:

- A route returns its connection before its answer is serialised (`api.web.routing`), so nobody
  waits for a thread while holding a connection. An export does not keep a connection either while a
  piece of it is sent.
- A thread holds at most one connection, and there are as many connections as threads that may use
  one. So nobody ever waits for a connection.
- The pool has `threads` threads: the application sets AnyIO's limiter when it starts.
- Requests that write, uploads and two-party messages may wait for each other. Together they are
  fewer than the threads (`writers`), and the others wait for their slot without a thread.
- Every read permit has a thread beyond those (`readers`), so reads and operators are served
  meanwhile. Two additional threads serve short work without a permit: pieces of exports, and the
  checks of event streams.

A small number of permits also keeps the number of threads that run Python small. The event loop,
which refuses requests and answers probes, waits for the interpreter lock behind each of them.

Every wait has a time limit and ends in 503 with `Retry-After`: for a slot (`api.web.waiting`), for
group commit (`api.audits.queue.group_commit`), for the write lock, for a connection, and for
PostgreSQL (`api.db.engine`).
"""

import resource
from dataclasses import dataclass

from api.audiences.background_matcher import MOST_PARTS, SLOTS_PER_UPLOAD
from api.kernel.settings import Settings
from api.webhooks.push_loop import THREADS as WEBHOOK_THREADS

# Threads of the worker, its leases and its batcher; checkpoints, heartbeat, webhooks, rates,
# readiness.
_BACKGROUND_THREADS = 8
# Threads for work without a permit: pieces of exports, and checks of event streams.
_BRIEF_THREADS = 2
# Files in addition to connections of clients and of the database: logs, libraries, spare.
_OTHER_FILES = 64
# Connections that the event loop accepts per iteration. It drops those above the limit, and closes
# their files three iterations later. Until then those of four iterations are open.
ACCEPTED_AT_ONCE = 16
_TURNS = 4


@dataclass(frozen=True)
class Share:
    """Limit on requests of one class: in total, and per caller."""

    total: int
    per_caller: int


@dataclass(frozen=True)
class Capacity:
    """Sizes of one process, which follow from `request_threads` and `uploads_at_once`."""

    requests: int
    uploads: int
    exports: int = 4

    def __post_init__(self) -> None:
        if min(self.requests // 2, self.uploads) < 1:
            raise ValueError(
                f"request_threads is {self.requests} and uploads_at_once {self.uploads}: at least "
                "2 and 1 are needed, or no request gets a permit"
            )

    @classmethod
    def from_settings(cls, settings: Settings) -> "Capacity":
        return cls(settings.request_threads, settings.uploads_at_once)

    @property
    def threads(self) -> int:
        """Threads of the request pool: one per permit, and those for short work."""
        return self.writers + self.readers + _BRIEF_THREADS

    @property
    def connections(self) -> int:
        """Database connections: one per thread that may hold one."""
        matching = min(MOST_PARTS, SLOTS_PER_UPLOAD * self.uploads)
        background = _BACKGROUND_THREADS + WEBHOOK_THREADS + matching
        return self.threads + background

    @property
    def writes(self) -> dict[str, int]:
        """Requests that may write at a time, by class; the others wait without a thread.

        They leave threads for reads, and Python's interpreter lock for the worker: a service that
        charges faster than it releases would only make its queue longer. Operators and people who
        sign in do not wait behind charges.
        """
        return {"requests": self.requests // 2, "quotes": 1, "oversight": 1, "sign-in": 2}

    @property
    def writers(self) -> int:
        """Threads that may wait for each other: for group commit, a lock, or a computation."""
        return sum(self.writes.values()) + self.uploads + self.exchanges

    @property
    def reads(self) -> dict[str, int]:
        """Requests that only read at a time, by class; the others wait without a thread.

        Operators and unknown callers do not wait behind researchers. New credentials are verified
        under permits of their own, because an outside issuer may be slow.
        """
        few = max(2, 3 * self.requests // 8)
        return {"requests": few, "anonymous": 1, "oversight": 1, "new-credentials": 2}

    @property
    def readers(self) -> int:
        """Threads that serve reads under a permit."""
        return sum(self.reads.values())

    @property
    def exchanges(self) -> int:
        """Messages of two-party runs answered at a time; each computes for seconds."""
        return max(2, self.requests // 3)

    @property
    def shares(self) -> dict[str, Share]:
        """Requests in progress by class. Further requests are refused at once."""
        threads = self.requests
        return {
            "requests": Share(6 * threads, 3 * threads),
            # Few, so that audits under way take precedence over those that have not begun.
            "quotes": Share(max(2, threads // 4), max(2, threads // 4)),
            # Reserved for regulators and operators.
            "oversight": Share(3 * threads, 2 * threads),
            "uploads": Share(8 * self.uploads, 2 * self.uploads),
            "exchanges": Share(4 * self.exchanges, 2 * self.exchanges),
            "exports": Share(self.exports, max(1, self.exports // 2)),
            "anonymous": Share(6 * threads, 4 * threads),
            "applications": Share(4, 2),
            "sign-in": Share(4 * threads, 3 * threads),
            # Tokens and sessions that are new to this process, while they are verified.
            "new-credentials": Share(6 * threads, 4 * threads),
            # Bodies that arrive, each of which is kept in memory: of unknown callers, of
            # researchers.
            "anonymous-bodies": Share(16 * threads, 2 * threads),
            "bodies": Share(16 * threads, 4 * threads),
        }


def open_file_limit() -> int:
    """Raise the limit of open files to the process's maximum, and return it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard if hard != resource.RLIM_INFINITY else 2**20


def client_connections(settings: Settings, files: int) -> int:
    """Return the number of client connections that fit into the limit of open files."""
    reserved = (
        _OTHER_FILES + _TURNS * ACCEPTED_AT_ONCE + Capacity.from_settings(settings).connections
    )
    # A connection may need a second file: the spooled body of an upload.
    return max(16, min(settings.client_connections, files - reserved))
