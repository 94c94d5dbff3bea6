"""Options for the payment of an audit and for waiting."""

from typing import TypedDict


class RunOptions(TypedDict, total=False):
    """Options for the payment of an audit and for waiting, in addition to its request."""

    idempotency_key: str | None
    """Your own key for this audit: a repeated call with the same key does not pay again."""
    new: bool
    """Start another audit, even if the same request was interrupted (default: False)."""
    progress: bool
    """Whether to show a progress bar (default: True)."""
