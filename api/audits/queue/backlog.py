"""Backlog: charged audits that wait for a worker, as the latest charge counted them.

Charges and releases compete for the same processes. Without a limit, a busy service charges more
audits than it can run in time. So it sheds the quotes of auditors who already have their share of
the backlog. An audit that was charged takes precedence over one that has not begun. A count is used
for half a second. After that, quotes are served until the next charge counts again. So only a
service that charges all the time sheds quotes. Audits that merely take long do not count as
overload.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

# Number of waiting audits that keep the workers busy until the next charges. Auditors with waiting
# audits share it equally, and each may have at least one.
MOST_WAITING: Final = 24
# Seconds for which a count is used.
_CURRENT_SECONDS: Final = 0.5


@dataclass(frozen=True)
class _Count:
    """The waiting audits of each auditor, and the time at which they were counted."""

    waiting: Mapping[str, int]
    at: float

    @property
    def share(self) -> int:
        return max(1, MOST_WAITING // max(1, len(self.waiting)))


@dataclass
class Backlog:
    """The latest count of one process. Any thread may write and read it."""

    clock: Callable[[], float] = time.monotonic
    _latest: _Count = field(default_factory=lambda: _Count({}, float("-inf")))

    def record(self, waiting: Mapping[str, int]) -> None:
        """Keep the number of waiting audits of each auditor."""
        waiting = {auditor: number for auditor, number in waiting.items() if number}
        self._latest = _Count(waiting, self.clock())

    @property
    def waiting(self) -> Mapping[str, int]:
        """The waiting audits of each auditor, by the latest count."""
        return self._latest.waiting

    def has_share(self, auditor_id: str) -> bool:
        """Return whether the auditor has its share of the backlog, by a current count."""
        latest = self._latest
        return self.is_current and latest.waiting.get(auditor_id, 0) >= latest.share

    @property
    def is_current(self) -> bool:
        """Whether an audit was charged within the last half second."""
        return self.clock() - self._latest.at < _CURRENT_SECONDS
