"""Ways in which an audit is paid and waited for."""

from typing import TypedDict


class RunOptions(TypedDict, total=False):
    """Options for the payment of an audit and for waiting, in addition to its request."""

    idempotency_key: str | None
    """A key of your own for this audit: repeating it with its key does not pay again."""
    new: bool
    """Start another audit, even if the same request was interrupted (default: False)."""
    progress: bool
    """Whether to show a progress bar (default: True)."""
