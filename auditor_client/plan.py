"""Number of people that an audit needs."""

from auditor_client.planning.sample_size import promise_holds, sample_size, verdict_size

__all__ = ["promise_holds", "sample_size", "verdict_size"]
