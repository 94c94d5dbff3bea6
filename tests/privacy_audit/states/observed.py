"""Facts about one operation that the database does not hold, and how operations end early."""

from dataclasses import dataclass, field


class Killed(BaseException):
    """The process is gone: no handler of the service may see it."""


class FaultError(Exception):
    """An injected failure."""


@dataclass
class Observed:
    """The observations during an operation."""

    # The audits whose people it may debit, read or refund.
    audits: set[str] = field(default_factory=set)
    # The audits that it may end, which reads nobody and draws nothing.
    ended: set[str] = field(default_factory=set)
    read: set[int] = field(default_factory=set)
    draws: int = 0
    crashed: bool = False
    # Whether another run took the place of the one that this operation went on with.
    replaced: bool = False
    # Audits that were open when a proof of theirs did not hold.
    refuted: set[str] = field(default_factory=set)
