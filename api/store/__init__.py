"""What the service remembers."""

from api.store.accounts import AuditRow, ChargeRow, MandateRow, ReleaseRow
from api.store.engine import UNAVAILABLE, Store
from api.store.identity import (
    AuditorRow,
    ResearcherRow,
    RevokedTokenRow,
    SigningKeyRow,
    UsedAssertionRow,
)
from api.store.ledger import (
    CheckpointRow,
    EntryRow,
    HeadRow,
    PersonalRow,
    StatementRow,
    TreeHashRow,
)
from api.store.limits import ExclusionRow, PersonBlockRow, PlatformAccountRow
from api.store.sketches import SketchRow
from api.store.uploads import AudienceRow, ContentRow, GroupRow, PartRow
from api.store.vetting import (
    ApplicationEventRow,
    ApplicationRow,
    IndividualRow,
    PersonalSubjectRow,
    WebhookRow,
)

__all__ = [
    "UNAVAILABLE",
    "ApplicationEventRow",
    "ApplicationRow",
    "AudienceRow",
    "AuditRow",
    "AuditorRow",
    "ChargeRow",
    "CheckpointRow",
    "ContentRow",
    "EntryRow",
    "ExclusionRow",
    "GroupRow",
    "HeadRow",
    "IndividualRow",
    "MandateRow",
    "PartRow",
    "PersonBlockRow",
    "PersonalRow",
    "PersonalSubjectRow",
    "PlatformAccountRow",
    "ReleaseRow",
    "ResearcherRow",
    "RevokedTokenRow",
    "SigningKeyRow",
    "SketchRow",
    "StatementRow",
    "Store",
    "TreeHashRow",
    "UsedAssertionRow",
    "WebhookRow",
]
