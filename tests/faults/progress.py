"""Progress of a service that is watched from outside, so that waits follow it and not the clock.

A process appends one byte to a file each time its worker finds nothing to do. An audit that does
not move while the worker finds nothing often enough is stuck. A process that gets no processor time
neither moves nor looks, and is waited for.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from api.audits.queue import leases

IDLE_POLLS = "idle-polls"
# No move takes this long, not even on a busy machine: a service without a worker never polls.
LIMIT_SECONDS = 200.0


def count_idle_polls(folder: Path) -> None:
    """Make this process write down each time that its worker finds nothing to claim."""
    take: Callable[..., Any] = leases.claim_next

    def counted(*arguments: Any) -> Any:
        audit = take(*arguments)
        if audit is None:
            with (folder / IDLE_POLLS).open("ab") as file:
                file.write(b".")
        return audit

    setattr(leases, "claim_next", counted)  # noqa: B010  (mypy allows no other signature)


@dataclass
class Progress:
    """The last change that was seen, when it was seen, and the idle polls since then."""

    folder: Path
    stuck_after: int  # idle polls
    seen: object = None
    polls_then: int = 0
    moved_at: float = field(default_factory=time.monotonic)

    def stuck(self, now: object) -> bool:
        """Return whether nothing moves any more; `now` is all that would show a move."""
        polls = _size(self.folder / IDLE_POLLS)
        moved = (now, _size(self.folder / "shown"), _size(self.folder / "scored"))
        if moved != self.seen:
            self.seen, self.polls_then, self.moved_at = moved, polls, time.monotonic()
        too_long = time.monotonic() - self.moved_at > LIMIT_SECONDS
        return too_long or polls - self.polls_then >= self.stuck_after


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
