"""Memory that an audit takes, computed only from what was uploaded and declared (R2).

The figures are bytes that were measured, rounded up; a test holds them to what reductions take.
"""

from typing import Any

from api.kernel.errors import AuditTooLargeError
from api.kernel.settings import Settings
from api.kinds.registry import AudienceFacts, Kind
from privacy.waist import ReleasePlan

# Whatever is asked: a batch of people with their scores, or some blocks of balances. Of rows of a
# log more is held, which their kinds say (`api.kinds.building_blocks.log_rows`).
BATCH_BYTES = 128 * 2**20
# One identifier: its person's number, sorted and together with all others, and what was borne.
MEMBER_BYTES = 96
# One cell: the table, its noise, and how it is shown.
CELL_BYTES = 512


def refuse_too_large(
    kind: Kind, request: Any, facts: AudienceFacts, plan: ReleasePlan, settings: Settings
) -> None:
    """Refuse what would take more memory than one audit may."""
    needed = needed_bytes(kind, request, facts, plan)
    if needed > settings.audit_memory_bytes:
        raise AuditTooLargeError(
            f"a worker would need {_mib(needed)} for this audit, by what was uploaded and asked"
            f" for, and may use {_mib(settings.audit_memory_bytes)}. Nothing was charged: ask for"
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
