"""Valid calls of every operation, about the objects of one estate."""

import copy
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from secrets import token_hex
from typing import Any

from api.ledger.checkpoints import load_latest
from auditor_client.local.keys import plain_jwk
from openapi.resources import EXAMPLES
from privacy.ledger import notes
from privacy.ledger.key_possession import key_change_bytes
from privacy.ledger.statements import sign
from tests.contract.authorisation.callers import Caller
from tests.contract.authorisation.calls import Call
from tests.contract.authorisation.estates import NEVER
from tests.contract.authorisation.operations import IDENTIFIER, Operation
from tests.contract.test_document import DOCUMENT
from tests.contract.test_examples import resolved
from tests.system.raw import JOB, SALT
from tests.vetting import draft_of, new_key
from tests.world import Deployment

Ids = Mapping[str, tuple[str, ...]]
# Parameters that are needed, and name no object.
CONSTANTS = {"label": "g0", "name": "charges", "old": "1", "new": "2"}
# Kinds of object that a text cursor of a list names.
CURSORS = {
    "list_contents": "content",
    "list_audiences": "audience",
    "list_audits": "audit",
    "list_auditors": "auditor",
    "list_researchers": "researcher",
    "list_mandates": "mandate",
    "list_charges": "audit",
    "list_applications": "application",
}
# Positions in `Estate.ids` of the objects for which an operation has an answer.
UNSEALED, ORDERED, MANY, EMPTIED, DELETED = 1, 2, 3, 4, 5
TWO_PARTY, CHARGED = 1, 2
PREFERRED: dict[str, int] = {
    **dict.fromkeys(("put_members", "seal_audience"), UNSEALED),
    "empty_group": EMPTIED,
    "delete_audience": DELETED,
    **dict.fromkeys(("get_exchange", "exchange_message", "state_opening"), TWO_PARTY),
    **dict.fromkeys(("get_stored_run", "get_stored_messages"), TWO_PARTY),
    "cancel_audit": CHARGED,
    # The last of several, as no other operation changes it afterwards.
    "terminate_mandate": -1,
}


def calls_of(operation: Operation, caller: Caller, place: Deployment, ids: Ids) -> list[Call]:
    """Return valid calls, one for each form of the body; KeyError if an object is missing."""
    path = {name: _parameter(operation, name, ids) for name in _path_names(operation)}
    query = {
        name: _parameter(operation, name, ids)
        for name in operation.identifiers
        if name in ("cursor", "auditor_id", "audience_id")
        and not operation.media_types
        and name not in path
    }
    if operation.name == "prove_consistency":
        query |= {"old": CONSTANTS["old"], "new": CONSTANTS["new"]}
    make = BODIES.get(operation.name)
    bodies = make(caller, ids, place) if make else _examples(operation, ids)
    return [Call(operation, path, query, body) for body in bodies]


def _path_names(operation: Operation) -> list[str]:
    return [part[1:-1] for part in operation.path.split("/") if part.startswith("{")]


def _parameter(operation: Operation, name: str, ids: Ids) -> str:
    if name in CONSTANTS:
        return CONSTANTS[name]
    if name == "cursor":
        return ids[CURSORS[operation.name]][0]
    if name == "number":
        return ids["entry"][0]
    found = ids[name.removesuffix("_id")]
    return found[PREFERRED.get(operation.name, 0) if name in ("audience_id", "audit_id") else 0]


def _examples(operation: Operation, ids: Ids) -> list[Any]:
    """Return the examples of the contract, with identifiers of objects that exist."""
    if not operation.media_types:
        return [None]
    documented = DOCUMENT["paths"][operation.path][operation.method.lower()]
    body = documented["requestBody"]["content"][operation.media_types[0]]
    found = [each["value"] for each in body.get("examples", {}).values()]
    found += resolved(body["schema"]).get("examples", [])
    assert found, f"{operation.name} has a body without an example: add one, or add it to BODIES"
    return [_real(operation, copy.deepcopy(each), ids) for each in found]


def _real(operation: Operation, node: Any, ids: Ids) -> Any:
    if isinstance(node, list):
        return [_real(operation, each, ids) for each in node]
    if isinstance(node, dict):
        return {name: _real(operation, value, ids) for name, value in node.items()}
    if isinstance(node, str) and IDENTIFIER.match(node):
        kind = node.partition("_")[0]
        return ids[kind][PREFERRED.get(operation.name, 0) if kind in ("audit", "mandate") else 0]
    return node


def audit_requests(caller: Caller, ids: Ids, place: Deployment) -> list[dict[str, Any]]:
    """Return one request for each kind of audit, paid by the mandate of the estate."""
    audiences = {"two-party": ORDERED, "envy-freeness": MANY}
    requests = []
    for each in copy.deepcopy(EXAMPLES):
        each |= {
            "audience_id": ids["audience"][audiences.get(each["kind"], 0)],
            "mandate_id": ids["mandate"][0],
        }
        if "content_id" in each:
            each["content_id"] = ids["content"][0]
        if "contents" in each:
            each["contents"] = list(ids["content"])
        if "content_id" in each.get("metric", {}):
            each["metric"]["content_id"] = ids["content"][0]
        requests.append(each)
    return requests


def _batch(caller: Caller, ids: Ids, place: Deployment) -> list[list[dict[str, Any]]]:
    """Return a batch with each field that names an object."""
    requests = audit_requests(caller, ids, place)
    return [[each for each in requests if each["kind"] in ("score-histogram", "most-skewed")]]


def _application(caller: Caller, ids: Ids, place: Deployment) -> list[dict[str, Any]]:
    return [draft_of(caller.key).model_dump(mode="json")]


def _withdrawal(caller: Caller, ids: Ids, place: Deployment) -> list[dict[str, Any]]:
    people = [{"jwk": plain_jwk(caller.key)}]
    return [{"application_id": ids["application"][0], "individuals": people, "withdrawn": True}]


def _mandate(caller: Caller, ids: Ids, place: Deployment) -> list[dict[str, Any]]:
    return [
        {
            "auditor_id": ids["auditor"][0],
            "researcher_ids": [ids["researcher"][0]],
            "purpose": "test",
            "epsilon_limit": "1",
            "valid_from": datetime.now(UTC).isoformat(),
            "valid_until": (datetime.now(UTC) + timedelta(days=1)).isoformat(),
        }
    ]


def _researcher(caller: Caller, ids: Ids, place: Deployment) -> list[dict[str, Any]]:
    name = {"text": "Ada", "salt": "A" * 43 + "="}
    jwk = plain_jwk(new_key())
    return [{"name": name, "role": "auditor", "auditor_id": ids["auditor"][0], "jwk": jwk}]


def _key_change(caller: Caller, ids: Ids, place: Deployment) -> list[dict[str, Any]]:
    """Return a change to the key that the caller has: it is understood, and changes nothing."""
    jwk = plain_jwk(caller.key)
    origin = place.service.origin
    proof = sign(key_change_bytes(origin, caller.researcher_id, jwk), caller.key)
    return [{"jwk": jwk, "proof": proof}]


def _cosignature(caller: Caller, ids: Ids, place: Deployment) -> list[dict[str, Any]]:
    """Return the newest signed head with the regulator's line."""
    regulator = place.regulator
    with place.service.store.read() as session:
        head = load_latest(session)
    assert head
    note = notes.cosign(head.note, regulator.researcher_id, regulator._key, int(time.time()))
    return [{"note": note}]


def _named(caller: Caller) -> dict[str, str]:
    """Return a form of OAuth; `sending` adds an assertion, which works once."""
    return {"client_id": caller.researcher_id}


BODIES: dict[str, Callable[[Caller, Ids, Deployment], list[Any]]] = {
    "upload_content": lambda *_: [JOB],
    "put_members": lambda *_: ["username\nada\n"],
    "seal_audience": lambda *_: [{"salt": SALT}],
    "price_audit": audit_requests,
    "price_audits": _batch,
    "submit_audit": audit_requests,
    "exchange_message": lambda *_: ["x"],
    "register_study": lambda *_: [{"digest": f"sha256:{token_hex(32)}"}],
    "register_researcher": _researcher,
    "grant_mandate": _mandate,
    "send_application": _application,
    "answer_application": _application,
    "withdraw_application": _withdrawal,
    "change_key": _key_change,
    "add_cosignature": _cosignature,
    "issue_token": lambda caller, *_: [_named(caller) | {"grant_type": "client_credentials"}],
    "revoke_token": lambda caller, *_: [_named(caller) | {"token": caller.token or "none"}],
    "register_webhook": lambda *_: [{"url": "https://hooks.example/", "after": NEVER}],
}
