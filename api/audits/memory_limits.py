"""Memory that an audit takes, computed only from the upload and the request (R2).

The figures are measured bytes, rounded up; a test compares them with the memory of reductions.
"""

from typing import Any

from api.kernel.errors import AuditTooLargeError
from api.kernel.settings import Settings
from api.kinds.registry import AudienceFacts, Kind
from privacy.waist import ReleasePlan

# Bytes for every audit: a batch of people with their scores, or some blocks of balances. Audits of
# logs hold more rows, which their kinds add (`api.kinds.building_blocks.log_rows`).
BATCH_BYTES = 128 * 2**20
# Bytes for one identifier: the number of its person, the sorted and combined copies, and its
# debits.
MEMBER_BYTES = 96
# Bytes for one cell: the table, its noise, and its text.
CELL_BYTES = 512


def refuse_too_large(
    kind: Kind, request: Any, facts: AudienceFacts, plan: ReleasePlan, settings: Settings
) -> None:
    """Refuse an audit that would take more memory than one audit may."""
    needed = needed_bytes(kind, request, facts, plan)
    if needed > settings.audit_memory_bytes:
        raise AuditTooLargeError(
            f"By its upload and its request, this audit needs {_mib(needed)} of a worker's memory."
            f" The limit is {_mib(settings.audit_memory_bytes)}. Nothing was charged. Ask for"
            " fewer people, rows or cells.",
            needed=needed,
            limit=settings.audit_memory_bytes,
        )


def needed_bytes(kind: Kind, request: Any, facts: AudienceFacts, plan: ReleasePlan) -> int:
    cells = sum(mechanism.bounds.cells for mechanism in plan.values())
    people = MEMBER_BYTES * facts.members
    return BATCH_BYTES + people + CELL_BYTES * cells + kind.held_bytes(request, facts)


def _mib(size: int) -> str:
    return f"{-(-size // 2**20):,} MiB"
