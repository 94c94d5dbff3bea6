"""Rules that hold between what clients were answered and what the database says in the end."""

import json
from base64 import b64decode
from collections import defaultdict
from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import product
from typing import Any

from tests.histories.evidence import CHARGES, SUBMITS, Call, Evidence
from tests.histories.plan import Does

# Refusals that a client of this harness can get from a service without a fault.
EXPECTED: dict[Does, tuple[str, ...]] = {
    Does.PRICE: ("audience-not-sealed",),
    Does.SUBMIT: ("budget-exhausted", "audience-not-sealed"),
    Does.SUBMIT_TWICE: ("budget-exhausted", "audience-not-sealed"),
    Does.SUBMIT_WITHOUT_KEY: ("budget-exhausted", "audience-not-sealed"),
    Does.CANCEL: ("not-cancellable",),
    Does.FETCH: ("not-released",),
    Does.ERASE: ("conflict",),
}
RANKS = {"charged": 0, "running": 1, "released": 2, "failed": 2, "cancelled": 2}
FINAL = 2


def violations(evidence: Evidence) -> Iterator[str]:
    yield from _refusals(evidence)
    yield from _keys(evidence)
    yield from _keyless(evidence)
    yield from _submissions(evidence)
    yield from _releases(evidence)
    yield from _states(evidence)
    yield from _cancellations(evidence)
    yield from _lists(evidence)
    yield from _belongings(evidence)


def _refusals(evidence: Evidence) -> Iterator[str]:
    """Every operation has an answer that is to be expected, and no fault is an internal error."""
    for event in evidence.lost:
        if event.said["code"] == "internal":
            yield f"{event.client}/{event.number} ({event.does}) met an internal error"
    for call in evidence.calls:
        if call.answer is None:
            yield f"{call} has no answer"
        elif call.code and call.code not in EXPECTED.get(call.does, ()):
            yield f"{call} was refused: {call.said}"


def _keys(evidence: Evidence) -> Iterator[str]:
    """Every audit in the database is of a key that a client sent, and no refused key paid."""
    sent = {call.asked["key"] for call in evidence.of(*SUBMITS)}
    keyless = {_asked(call.asked["request"]) for call in evidence.of(Does.SUBMIT_WITHOUT_KEY)}
    refused = {call.asked["key"] for call in evidence.of(*SUBMITS) if call.code}
    for audit in evidence.snapshot.audits.values():
        if audit.idempotency_key not in sent and _asked(json.loads(audit.request)) not in keyless:
            yield f"{audit.id} was charged under {audit.idempotency_key}, which nobody sent"
        if audit.idempotency_key in refused:
            yield f"{audit.id} was charged under {audit.idempotency_key}, which was refused"
    seen: dict[str, list[str]] = defaultdict(list)
    for audit in evidence.snapshot.audits.values():
        seen[audit.idempotency_key].append(audit.id)
    for key, audits in seen.items():
        if len(audits) > 1:
            yield f"{key} was charged {len(audits)} times: {audits}"


def _keyless(evidence: Evidence) -> Iterator[str]:
    """A request whose key was left to the SDK is paid once, however often its client died."""
    charged: dict[tuple[str, float], list[str]] = defaultdict(list)
    for audit in evidence.snapshot.audits.values():
        charged[_asked(json.loads(audit.request))].append(audit.id)
    for call in evidence.of(Does.SUBMIT_WITHOUT_KEY):
        audits = charged[_asked(call.asked["request"])]
        if len(audits) > 1:
            yield f"{call} has no key and was charged {len(audits)} times: {audits}"
        if call.is_done and call.said["audit_id"] not in audits:
            yield f"{call} was acknowledged as {call.said['audit_id']}, which is lost"
        if call.code and audits:
            yield f"{call} was refused, and charged as {audits}"


def _asked(request: Mapping[str, Any]) -> tuple[str, float]:
    """Return what tells a request from all others that have no key."""
    return request["content_id"], float(request["bins"]["edges"][1])


def _submissions(evidence: Evidence) -> Iterator[str]:
    """Every acknowledged submission is there, and its key always got the same answer."""
    answers: dict[str, set[str]] = defaultdict(set)
    charges = {row.audit_id: row for row in evidence.snapshot.charges.values()}
    for call in evidence.done(*SUBMITS):
        key, audit_id = call.asked["key"], call.said["audit_id"]
        answers[key].update(each["answer"] for each in (call.said, call.said.get("other")) if each)
        audit = evidence.snapshot.audits.get(audit_id)
        if audit is None:
            yield f"{call} was acknowledged as {audit_id}, which is lost"
        elif audit.idempotency_key != key:
            yield f"{call} sent {key}; {audit_id} has the key {audit.idempotency_key}"
        elif audit_id not in charges or charges[audit_id].debit != Fraction(call.said["debit"]):
            yield f"{call} was answered a debit of {call.said['debit']}, which was not charged"
    for key, different in answers.items():
        if len(different) > 1:
            yield f"{key} got {len(different)} different answers"


def _releases(evidence: Evidence) -> Iterator[str]:
    """Everybody who fetched a release got the same bytes: those that are stored."""
    bodies: dict[str, set[bytes]] = defaultdict(set)
    for call in evidence.done(Does.FETCH):
        bodies[call.asked["audit_id"]].add(b64decode(call.said["body"]))
    for audit_id, different in bodies.items():
        stored = evidence.snapshot.releases.get(audit_id)
        if len(different) > 1:
            yield f"{audit_id} was delivered with {len(different)} different bodies"
        elif stored is None or {stored.body} != different:
            yield f"{audit_id} was delivered with other bytes than are stored"


def _states(evidence: Evidence) -> Iterator[str]:
    """Every audit is over, and no client saw its state go back."""
    for audit in evidence.snapshot.audits.values():
        if audit.state not in ("released", "cancelled"):
            yield f"{audit.id} is {audit.state} in the end ({audit.failure})"
    for audit_id, seen in _observed(evidence).items():
        for (earlier, was), (later, then) in product(seen, seen):
            backwards = RANKS[then] < RANKS[was] or (RANKS[was] == FINAL and then != was)
            if earlier.done < later.sent and backwards:
                yield f"{audit_id} was {was} in {earlier} and {then} in {later}"
                break


def _observed(evidence: Evidence) -> dict[str, list[tuple[Call, str]]]:
    """Return the states of each audit that clients saw, with the call that showed it."""
    seen: dict[str, list[tuple[Call, str]]] = defaultdict(list)
    for call in evidence.done(Does.GET, Does.CANCEL):
        seen[call.asked["audit_id"]].append((call, call.said["state"]))
    for call in evidence.done(Does.FETCH):
        seen[call.asked["audit_id"]].append((call, "released"))
    for call in evidence.done(Does.LIST):
        for audit_id, state in call.said["states"].items():
            seen[audit_id].append((call, state))
    return seen


def _cancellations(evidence: Evidence) -> Iterator[str]:
    """An acknowledged cancellation lasts; an audit that nobody cancelled is not cancelled."""
    asked = {call.asked["audit_id"] for call in evidence.of(Does.CANCEL)}
    for call in evidence.done(Does.CANCEL):
        audit = evidence.snapshot.audits.get(call.asked["audit_id"])
        if audit is None or audit.state != "cancelled":
            yield f"{call} was acknowledged, and the audit is {audit and audit.state}"
        if call.said["again"] == "cancelled":
            yield f"{call} was acknowledged a second time"
    for audit in evidence.snapshot.audits.values():
        if audit.state == "cancelled" and audit.id not in asked:
            yield f"{audit.id} is cancelled, and nobody asked for it"


def _lists(evidence: Evidence) -> Iterator[str]:
    """A list has every audit of the auditor that was acknowledged before it was asked for."""
    submitted = list(evidence.done(*CHARGES))
    for call in evidence.done(Does.LIST):
        for earlier in submitted:
            own = earlier.auditor == call.auditor and earlier.done < call.sent
            if own and earlier.said["audit_id"] not in call.said["states"]:
                yield f"{call} does not have {earlier.said['audit_id']} of {earlier}"


def _belongings(evidence: Evidence) -> Iterator[str]:
    """Contents, sealed audiences and erasures that were acknowledged are as they were."""
    for call in evidence.done(Does.CONTENT):
        content = evidence.contents.get(call.said["content_id"])
        if content is None or content.digest != call.said["digest"]:
            yield f"the content of {call} is lost or another one"
    for call in evidence.done(Does.SAMPLE, Does.UPLOAD, Does.SEAL):
        audience = evidence.audiences.get(call.said["audience_id"])
        if audience is None or audience.commitment != call.said["commitment"]:
            yield f"the audience of {call} is lost or another one"
    erased: dict[str, float] = {}
    for call in evidence.done(Does.ERASE):
        audience = evidence.audiences.get(call.asked["audience_id"])
        if audience is None or audience.state != "erased":
            yield f"{call} was acknowledged, and the audience is {audience and audience.state}"
        erased[call.asked["audience_id"]] = call.done
    for call in evidence.done(Does.SUBMIT, Does.SUBMIT_TWICE):
        if call.sent > erased.get(call.asked["request"]["audience_id"], float("inf")):
            yield f"{call} was charged on an audience that was erased before"
