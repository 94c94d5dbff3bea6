"""What the service remembers."""

from api.store.accounts import AuditRow, ChargeRow, EntryRow, HeadRow, MandateRow, ReleaseRow
from api.store.engine import UNAVAILABLE, Store
from api.store.identity import (
    AuditorRow,
    ResearcherRow,
    RevokedTokenRow,
    SigningKeyRow,
    UsedAssertionRow,
)
from api.store.limits import ExclusionRow, PersonBlockRow, PlatformAccountRow
from api.store.uploads import AudienceRow, ContentRow, GroupRow, PartRow

__all__ = [
    "UNAVAILABLE",
    "AudienceRow",
    "AuditRow",
    "AuditorRow",
    "ChargeRow",
    "ContentRow",
    "EntryRow",
    "ExclusionRow",
    "GroupRow",
    "HeadRow",
    "MandateRow",
    "PartRow",
    "PersonBlockRow",
    "PlatformAccountRow",
    "ReleaseRow",
    "ResearcherRow",
    "RevokedTokenRow",
    "SigningKeyRow",
    "Store",
    "UsedAssertionRow",
]
