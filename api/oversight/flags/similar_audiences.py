"""Near-identical audiences, of one auditor or of two, by the sketches of their uploads.

Each audience is compared with the earlier ones that share some of its `_INDEXED` smallest hashes.
Two uploads of similarity J share none of the smallest hashes of their union with probability (1 −
J)^16. At the threshold of 0.9 that is less than 10⁻¹⁵. So no pair above it is missed, and most
pairs are never compared. Sketches are erased with their audience, and their flags with them.
"""

from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal

from sqlmodel import Session, col, select

from api.audiences.similarity_sketches import from_bytes
from api.db import AudienceRow, SketchRow
from api.oversight.thresholds import THRESHOLDS
from api.oversight.time_range import TimeRange
from openapi.resources import Figure, Flag
from privacy.sketch import Hashes, Similarity, similarity

_INDEXED = 16
# If very many are similar, the latest ones are enough to find one.
_REMEMBERED = 64
_COMPARED = 8


@dataclass(frozen=True)
class Upload:
    audience_id: str
    auditor_id: str
    at: datetime
    hashes: Hashes = field(repr=False, compare=False)


def find_near_identical(session: Session, period: TimeRange) -> Iterator[Flag]:
    """Yield a flag for each audience of the period that is similar to an earlier one."""
    for upload, earlier, found in find_similar_pairs(_uploads(session)):
        if upload.at in period:
            yield _flag(upload, earlier, found)


def find_similar_pairs(uploads: list[Upload]) -> Iterator[tuple[Upload, Upload, Similarity]]:
    """Yield each upload that is near-identical to earlier ones, with the most similar of these."""
    holders: dict[int, deque[Upload]] = {}
    for upload in uploads:
        indexed = upload.hashes[:_INDEXED].tolist()
        shared = Counter(holder.audience_id for key in indexed for holder in holders.get(key, ()))
        known = {holder.audience_id: holder for key in indexed for holder in holders.get(key, ())}
        best = max(
            (
                (similarity(upload.hashes, known[name].hashes), known[name])
                for name, _ in shared.most_common(_COMPARED)
            ),
            key=lambda each: (each[0].estimate, each[1].at),
            default=None,
        )
        if best is not None and best[0].estimate >= float(THRESHOLDS.similarity):
            yield upload, best[1], best[0]
        for key in indexed:
            holders.setdefault(key, deque(maxlen=_REMEMBERED)).append(upload)


def _uploads(session: Session) -> list[Upload]:
    query = (
        select(SketchRow, AudienceRow)
        .join(AudienceRow, col(AudienceRow.id) == SketchRow.audience_id)
        .order_by(col(AudienceRow.sealed_at), col(AudienceRow.id))
    )
    return [
        Upload(audience.id, audience.auditor_id, audience.sealed_at, from_bytes(sketch.hashes))
        for sketch, audience in session.exec(query)
        if audience.sealed_at is not None
    ]


def _flag(upload: Upload, earlier: Upload, found: Similarity) -> Flag:
    same = upload.auditor_id == earlier.auditor_id
    whose = "of the same auditor" if same else "of another auditor"
    error = f" (standard error {found.standard_error:.1%})" if found.standard_error else ""
    return Flag(
        pattern="near-identical-audiences",
        at=upload.at,
        explanation=(
            f"{upload.audience_id} resembles {earlier.audience_id}, which was sealed before "
            f"{whose}. Of all their identifiers, {found.estimate:.1%} are in both uploads{error}. "
            "A repeated study, a corrected list, or a common panel can be the reason. So can "
            "the comparison of two lists that differ in a few people, against which noise and "
            "budgets protect. The comparison uses the uploads, never the people found."
        ),
        figures=[
            Figure(
                name="similarity",
                value=_rounded(found.estimate),
                threshold=THRESHOLDS.similarity,
            ),
            Figure(name="standard error", value=_rounded(found.standard_error)),
        ],
        auditor_ids=[upload.auditor_id] if same else [upload.auditor_id, earlier.auditor_id],
        audience_ids=[upload.audience_id, earlier.audience_id],
    )


def _rounded(share: float) -> Decimal:
    return Decimal(f"{share:.4f}".rstrip("0").rstrip("."))
