"""Result of a released audit, analysed by the SDK from the API's answer to its owner.

Names of groups are unknown here. Labels stand for them, and the browser that uploaded the audience
replaces them with the names.
"""

import json
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import Any

from pyarrow import BufferOutputStream, csv
from sqlmodel import Session

from api.audits import queries as audits
from api.console.results.readings import Reading, read
from api.console.security.current_user import PageRequest
from api.contents import queries as contents
from api.kernel.errors import NotFoundError, NotSignedError
from api.mandates.queries import get_budget
from auditor_client.kinds.presentation import Tolerance
from auditor_client.kinds.protocol import Result
from auditor_client.kinds.registry import auditor_kind
from auditor_client.kinds.report_page import render
from auditor_client.local.saved_receipt import FORMAT, verify_release
from auditor_client.reporting.price_sentences import both_relations, noise_of_parts
from openapi.resources import RELEASE, Audit, Content, InclusionProof

# Altair uses pandas as soon as a thread has begun to import it, so it is imported completely first.
with suppress(ImportError):
    import_module("pandas")

_KEPT = 64


@dataclass(frozen=True)
class ResultPage:
    """Content of a released audit's page; `files` are the downloads that its kind offers."""

    contents: tuple[Content, ...]
    labels: tuple[str, ...]
    reading: Reading
    tolerance: Tolerance | None
    alpha: float
    privacy: tuple[str, ...]
    rules: tuple[str, ...]
    files: frozenset[str]
    release: Any
    buys: int | None


def load_result_page(
    visit: PageRequest, session: Session, audit: Audit, alpha: float | None, delta: float
) -> ResultPage:
    """Return the whole page; without an alpha, judge by the kind's default."""
    result = _result(visit, session, audit)
    kind = auditor_kind(audit.kind)
    judged = kind.judgement(alpha, delta).alpha
    return ResultPage(
        result.contents,
        tuple(group.label for group in getattr(result.release, "groups", ())),
        _read(_body(visit, audit), _kept(result.contents), judged, delta),
        kind.tolerance,
        judged,
        _privacy(result),
        tuple(getattr(result.release, "rules", ())),
        _files(result),
        result.release,
        _buys(result),
    )


def build_report(
    visit: PageRequest, session: Session, audit: Audit, alpha: float | None, delta: float
) -> str:
    """Return the SDK's report."""
    return render(_result(visit, session, audit), alpha=alpha, delta=delta)


def result_of(visit: PageRequest, session: Session, audit: Audit) -> Result[Any]:
    """Return a released audit as the SDK holds it, for another audit that follows from it."""
    return _result(visit, session, audit)


def build_receipt_file(visit: PageRequest, session: Session, audit: Audit) -> str:
    """Return a receipt file as the SDK saves it, without names."""
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


def build_table(visit: PageRequest, session: Session, audit: Audit) -> bytes:
    """Return the noisy numbers as CSV."""
    result = _result(visit, session, audit)
    if "data" not in _files(result):
        raise NotFoundError("This kind of audit has no table. All its numbers are in release.json.")
    sink = BufferOutputStream()
    csv.write_csv(result.table(), sink)
    return bytes(sink.getvalue())


def _body(visit: PageRequest, audit: Audit) -> bytes:
    return audits.get_release(visit.console.parts.store, visit.caller, audit.id)


def _result(visit: PageRequest, session: Session, audit: Audit) -> Result[Any]:
    """Return the audit as the SDK holds it, with its receipt verified by our own published keys."""
    parts = visit.console.parts
    keys = parts.signing_keys.published()
    mandates = get_budget(session, visit.caller).mandates
    release: Any = verify_release(_body(visit, audit), keys)
    return auditor_kind(audit.kind).result(
        release=release,
        keys=keys,
        audit=audit,
        contents=tuple(
            contents.get_content(session, visit.caller, name) for name in audit.request.content_ids
        ),
        mandate=next((each for each in mandates if each.id == audit.mandate_id), None),
        url=parts.settings.issuer,
    )


def _proof(visit: PageRequest, session: Session, audit: Audit) -> InclusionProof | None:
    try:
        return audits.prove_release(session, visit.caller, audit.id)
    except NotSignedError:
        return None


def _buys(result: Result[Any]) -> int | None:
    """Return the number of further audits at this price that the mandate can pay for."""
    mandate, debit = result.mandate, result.release.price.debit
    return int(mandate.remaining // debit) if mandate and debit else None


def _kept(shown: tuple[Content, ...]) -> tuple[str, ...]:
    """Return contents in a form that a cache can compare."""
    return tuple(content.model_dump_json() for content in shown)


@lru_cache(maxsize=_KEPT)
def _read(body: bytes, shown: tuple[str, ...], alpha: float, delta: float) -> Reading:
    """Return the reading of a release: its bytes never change, so it is analysed once."""
    release: Any = RELEASE.validate_json(body)
    contents = tuple(Content.model_validate_json(each) for each in shown)
    result = auditor_kind(release.kind).result(release=release, keys={}, contents=contents)
    return read(result, alpha, delta)


def _privacy(result: Result[Any]) -> tuple[str, ...]:
    """Return the privacy promise to everybody in the audience."""
    price = result.release.price
    return both_relations(price), *noise_of_parts(price)


def _files(result: Result[Any]) -> frozenset[str]:
    # Sums that the auditor decrypted are on the machine that ran the audit.
    table = set[str]() if auditor_kind(result.kind).decrypted_here else {"data"}
    return frozenset({"report"} | table)
