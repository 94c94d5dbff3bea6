"""Number of people that an audit needs.

These are the public names; `auditor_client.planning.sample_size` computes them.
"""

from auditor_client.planning.sample_size import promise_holds, sample_size, verdict_size

__all__ = ["promise_holds", "sample_size", "verdict_size"]
