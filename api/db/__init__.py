"""Database of the service."""

from api.db.bulk_writes import change, change_all, insert
from api.db.engine import SERVING_LIMITS, UNAVAILABLE, Store, end_read
from api.db.lookups import find, find_all, find_one
from api.db.tables.audiences import AudienceRow, ContentRow, GroupRow, MatchingQuotaRow, PartRow
from api.db.tables.balances import (
    ChargedPeopleRow,
    ExclusionRow,
    PersonBlockRow,
    PlatformAccountRow,
)
from api.db.tables.charges import AuditRow, ChargeRow, CourseRow, MandateRow, ReleaseRow
from api.db.tables.identity import (
    AuditorRow,
    ResearcherRow,
    RevokedTokenRow,
    SigningKeyRow,
    UsedAssertionRow,
)
from api.db.tables.kinds import KindCheckRow
from api.db.tables.ledger import (
    CheckpointRow,
    EntryRow,
    LedgerEndRow,
    PersonalRow,
    StatementRow,
    TreeHashRow,
)
from api.db.tables.processes import ProcessRow
from api.db.tables.rates import RateBucketRow
from api.db.tables.sessions import ConsoleSessionRow, SignInCodeRow
from api.db.tables.sketches import SketchRow
from api.db.tables.two_party import MessageRow, OrderRow, RunRow
from api.db.tables.vetting import (
    ApplicationEventRow,
    ApplicationRow,
    IndividualRow,
    PersonalSubjectRow,
    WebhookRow,
)

__all__ = [
    "SERVING_LIMITS",
    "UNAVAILABLE",
    "ApplicationEventRow",
    "ApplicationRow",
    "AudienceRow",
    "AuditRow",
    "AuditorRow",
    "ChargeRow",
    "ChargedPeopleRow",
    "CheckpointRow",
    "ConsoleSessionRow",
    "ContentRow",
    "CourseRow",
    "EntryRow",
    "ExclusionRow",
    "GroupRow",
    "IndividualRow",
    "KindCheckRow",
    "LedgerEndRow",
    "MandateRow",
    "MatchingQuotaRow",
    "MessageRow",
    "OrderRow",
    "PartRow",
    "PersonBlockRow",
    "PersonalRow",
    "PersonalSubjectRow",
    "PlatformAccountRow",
    "ProcessRow",
    "RateBucketRow",
    "ReleaseRow",
    "ResearcherRow",
    "RevokedTokenRow",
    "RunRow",
    "SignInCodeRow",
    "SigningKeyRow",
    "SketchRow",
    "StatementRow",
    "Store",
    "TreeHashRow",
    "UsedAssertionRow",
    "WebhookRow",
    "change",
    "change_all",
    "end_read",
    "find",
    "find_all",
    "find_one",
    "insert",
]
