"""What the service remembers."""

from api.store.accounts import AuditRow, ChargeRow, CourseRow, MandateRow, ReleaseRow
from api.store.console import ConsoleSessionRow, SignInCodeRow
from api.store.engine import SERVING_LIMITS, UNAVAILABLE, Store, commit_reading
from api.store.finding import find, find_all, find_one
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
from api.store.limits import (
    ChargedPeopleRow,
    ExclusionRow,
    PersonBlockRow,
    PlatformAccountRow,
)
from api.store.processes import ProcessRow
from api.store.rates import RateBucketRow
from api.store.sketches import SketchRow
from api.store.two_party import MessageRow, OrderRow, RunRow
from api.store.uploads import AudienceRow, ContentRow, GroupRow, MatchingQuotaRow, PartRow
from api.store.vetting import (
    ApplicationEventRow,
    ApplicationRow,
    IndividualRow,
    PersonalSubjectRow,
    WebhookRow,
)
from api.store.writing import change, change_all, insert

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
    "HeadRow",
    "IndividualRow",
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
    "commit_reading",
    "find",
    "find_all",
    "find_one",
    "insert",
]
