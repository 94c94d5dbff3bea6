"""What a released audit says, read by the SDK's own analysis from what the API gives its owner.

Names of groups are not known here: labels stand for them, and the browser that uploaded the
audience puts the names in.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from pyarrow import BufferOutputStream, csv
from sqlmodel import Session

from api.console.visits import Visit
from api.errors import NotFoundError, NotSignedError
from api.routes import audits, contents, oversight
from auditor_client import charts, report, wording
from auditor_client.finished import FinishedAudit
from auditor_client.kinds import KINDS, AnyResult
from auditor_client.measured import Share, measured_gaps, measured_shares
from auditor_client.receipts import FORMAT, verify_release
from openapi.models import RELEASE, Audit, Content, InclusionProof

_KEPT = 64


@dataclass(frozen=True)
class Bin:
    """One row of the table: a bin's name, each group's share, and the measured gap."""

    name: str
    shares: tuple[float, ...]
    gap: float


@dataclass(frozen=True)
class HistogramFound:
    """The result page of a score histogram, in words, numbers and pictures."""

    verdict: str
    headline: str
    words: tuple[str, ...]
    labels: tuple[str, ...]
    bins: tuple[Bin, ...]
    pictures: tuple[tuple[dict[str, Any], str], ...]
    privacy: tuple[str, ...]


@dataclass(frozen=True)
class Found:
    """What a page shows of a released audit."""

    contents: tuple[Content, ...]
    histogram: HistogramFound | None
    numbers: dict[str, Any]
    release: Any
    buys: int | None


def found_in(visit: Visit, session: Session, audit: Audit, alpha: float, delta: float) -> Found:
    result = _result(visit, session, audit)
    histogram = _histogram(_body(visit, session, audit), alpha, delta)
    numbers = {} if isinstance(result, FinishedAudit) else result.numbers()
    return Found(result.contents, histogram, numbers, result.release, _buys(result))


def report_of(visit: Visit, session: Session, audit: Audit, alpha: float, delta: float) -> str:
    """The SDK's report of a score histogram."""
    result = _result(visit, session, audit)
    if not isinstance(result, FinishedAudit):
        raise NotFoundError("reports are of score histograms; use `auditor analyse` for others")
    return report.render(result, alpha=alpha, delta=delta)


def receipt_of(visit: Visit, session: Session, audit: Audit) -> str:
    """A receipt file as the SDK saves it, without names."""
    result = _result(visit, session, audit)
    proof = _proof(visit, session, audit)
    document = {
        "format": FORMAT,
        "url": result.url,
        "receipt": result.receipt,
        "keys": result.keys,
        "names": {},
        "contents": [content.model_dump(mode="json") for content in result.contents],
        "proof": proof and proof.model_dump(mode="json"),
    }
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def table_of(visit: Visit, session: Session, audit: Audit) -> bytes:
    """The noisy counts as CSV."""
    result = _result(visit, session, audit)
    if not isinstance(result, FinishedAudit):
        raise NotFoundError("tables are of score histograms; release.json has all numbers")
    sink = BufferOutputStream()
    csv.write_csv(result.frame(), sink)
    return bytes(sink.getvalue())


def _body(visit: Visit, session: Session, audit: Audit) -> bytes:
    return bytes(audits.get_release(audit.id, visit.caller, session).body)


def _result(visit: Visit, session: Session, audit: Audit) -> AnyResult:
    """The audit as the SDK holds it, its receipt verified against our own published keys."""
    service = visit.console.service
    keys = service.auth.keys.published()
    mandates = oversight.get_budget(visit.caller, session).mandates
    release: Any = verify_release(_body(visit, session, audit), keys)
    return KINDS[audit.kind](
        release=release,
        keys=keys,
        audit=audit,
        contents=tuple(
            contents.get_content(name, visit.caller, session) for name in audit.request.content_ids
        ),
        mandate=next((each for each in mandates if each.id == audit.mandate_id), None),
        url=service.settings.issuer,
    )


def _proof(visit: Visit, session: Session, audit: Audit) -> InclusionProof | None:
    try:
        return audits.prove_release(audit.id, visit.caller, session)
    except NotSignedError:
        return None


def _buys(result: AnyResult) -> int | None:
    """How many more audits at this price the mandate pays for."""
    mandate, debit = result.mandate, result.release.price.debit
    return int(mandate.remaining // debit) if mandate and debit else None


@lru_cache(maxsize=_KEPT)
def _histogram(body: bytes, alpha: float, delta: float) -> HistogramFound | None:
    """What a release says: it is always the same bytes, so it is analysed once."""
    release: Any = RELEASE.validate_json(body)
    if release.kind != FinishedAudit.kind:
        return None
    audit = FinishedAudit(release=release, keys={})
    gap, shares = audit.fairness_gap(delta), measured_shares(audit)
    return HistogramFound(
        verdict=gap.verdict(alpha),
        headline=wording.headline(gap, alpha),
        words=(wording.explanation(gap, alpha), wording.driver(audit, gap), wording.definition()),
        labels=tuple(audit.counts),
        bins=tuple(_bins(audit, shares)),
        pictures=(
            (
                charts.verdict_chart(gap, alpha).to_dict(),
                "The interval of the fairness gap, and the gap that is tolerated.",
            ),
            (
                charts.share_chart(audit, shares).to_dict(),
                "Shares per bin of scores, with limits that hold for each share alone with 95 %.",
            ),
            (
                charts.gap_chart(audit, shares, alpha).to_dict(),
                "The measured gap of each bin, noise included; the verdict allows for it.",
            ),
        ),
        privacy=tuple(wording.privacy(audit)),
    )


def _bins(audit: FinishedAudit, shares: Sequence[Share]) -> Iterator[Bin]:
    by_cell = {(share.group, share.bin): share.share for share in shares}
    rows = zip(audit.bin_names(), measured_gaps(shares), strict=True)
    for number, (name, gap) in enumerate(rows):
        yield Bin(name, tuple(by_cell[label, number] for label in audit.counts), gap)
