"""Quota of unpaid matching: the identifiers that one auditor may have matched in a day.

Matching costs no budget, and a part may be sent repeatedly. The quota bounds how often the platform
is asked on an auditor's behalf. It counts the upload, never the matches (R2), in the transaction
that accepts the part: across processes, and again for a part that is sent again.
"""

import math
from datetime import timedelta

from sqlalchemy import bindparam, text
from sqlmodel import Session

from api.kernel.clock import now
from api.kernel.errors import MatchingQuotaError
from api.kernel.hard_limits import LEAST_OF_A_PART
from api.kernel.settings import Settings

# The stored day never goes back: processes whose clocks differ at midnight must not reset each
# other. It is one statement, so that two parts of one auditor cannot both pass where only one may.
_COUNTED = text(
    "INSERT INTO matching_quotas (auditor_id, day, identifiers)"
    " VALUES (:auditor, :day, :identifiers)"
    " ON CONFLICT (auditor_id) DO UPDATE SET day = CASE"
    " WHEN excluded.day > matching_quotas.day THEN excluded.day ELSE matching_quotas.day END,"
    " identifiers = excluded.identifiers + CASE"
    " WHEN excluded.day > matching_quotas.day THEN 0 ELSE matching_quotas.identifiers END"
    " RETURNING identifiers"
).bindparams(bindparam("auditor"), bindparam("day"), bindparam("identifiers"))


def count(session: Session, auditor_id: str, identifiers: int, settings: Settings) -> None:
    """Count a part against the auditor's quota of this day (UTC), or refuse it.

    A refusal rolls the transaction back, so a refused part does not count.
    """
    at, limit = now(), settings.identifiers_per_day
    counted = max(identifiers, LEAST_OF_A_PART)
    asked = {"auditor": auditor_id, "day": at.date().isoformat(), "identifiers": counted}
    used = session.connection().execute(_COUNTED, asked).scalar_one()
    if used <= limit:
        return
    midnight = at.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
    wait = math.ceil((midnight - at).total_seconds())
    raise MatchingQuotaError(
        f"The part counts as {counted} identifiers. {max(0, limit - used + counted)} of"
        f" {limit} are left today. A part counts as at least {LEAST_OF_A_PART} each time it is"
        f" sent. Nothing was stored. Send it after midnight UTC, in {wait} s.",
        headers={"Retry-After": str(wait)},
        limit=limit,
    )
