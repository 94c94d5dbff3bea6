"""What the service remembers."""

from api.store.accounts import AuditRow, ChargeRow, EntryRow, HeadRow, MandateRow, ReleaseRow
from api.store.engine import Store
from api.store.identity import (
    AuditorRow,
    ResearcherRow,
    RevokedTokenRow,
    SigningKeyRow,
    UsedAssertionRow,
)
from api.store.uploads import AudienceRow, ContentRow, GroupRow, PartRow

__all__ = [
    "AudienceRow",
    "AuditRow",
    "AuditorRow",
    "ChargeRow",
    "ContentRow",
    "EntryRow",
    "GroupRow",
    "HeadRow",
    "MandateRow",
    "PartRow",
    "ReleaseRow",
    "ResearcherRow",
    "RevokedTokenRow",
    "SigningKeyRow",
    "Store",
    "UsedAssertionRow",
]
