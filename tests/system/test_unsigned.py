"""Requests and decisions of a person need their own signature; without it nothing happens."""

import json
import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
from sqlmodel import select

from api.db import EntryRow, PersonalRow, StatementRow
from openapi.resources import Personal
from privacy.ledger.statements import commit
from tests.statements import A_FORM, Maker, headers, new_key
from tests.system.raw import SIGNED, Raw, raw, refused, request_for, unchanged
from tests.system.scene import Scene, wait
from tests.world import Deployment

pytestmark = pytest.mark.long_on_postgresql

PATHS = sorted(SIGNED)
OTHER_ACTION = {
    "charge": "mandate",
    "registration": "charge",
    "auditor": "charge",
    "researcher": "auditor",
    "mandate": "auditor",
}


def maker_of(who: Raw) -> Maker:
    assert who.statements
    return Maker(who.statements._maker, who.statements._key, who.statements.origin())


def asker(scene: Scene, path: str) -> Raw:
    return scene.regulator if path.startswith("/v1/regulator") else scene.me


def body_of(scene: Scene, path: str) -> dict[str, Any]:
    """A good request to this path."""
    jwk = new_key().as_dict(private=False)
    name = Personal.fresh("Ada").model_dump()
    bodies: dict[str, dict[str, Any]] = {
        "/v1/audits": scene.request(),
        "/v1/studies": {"digest": f"sha256:{secrets.token_hex(32)}"},
        "/v1/regulator/auditors": {"name": "Lab"},
        "/v1/regulator/researchers": {"name": name, "auditor_id": scene.auditor_id, "jwk": jwk},
        "/v1/regulator/mandates": {
            "auditor_id": scene.auditor_id,
            "purpose": "test",
            "epsilon_limit": "1",
            "valid_from": "2026-01-01T00:00:00Z",
            "valid_until": "2099-01-01T00:00:00Z",
        },
    }
    return bodies[path]


def size(deployment: Deployment) -> int:
    with deployment.service.store.read() as session:
        return len(session.exec(select(EntryRow.number)).all())


Wrong = Callable[[Maker, str, dict[str, Any], str], dict[str, str]]


def by_another_key(maker: Maker, action: str, body: dict[str, Any], key: str) -> dict[str, str]:
    return headers(replace(maker, key=new_key()).states(action, parsed(action, body), key))


def in_anothers_name(maker: Maker, action: str, body: dict[str, Any], key: str) -> dict[str, str]:
    other = f"researcher_{'0' * 30}"
    return headers(replace(maker, by=other).states(action, parsed(action, body), key))


def of_another_body(maker: Maker, action: str, body: dict[str, Any], key: str) -> dict[str, str]:
    changes: dict[str, dict[str, Any]] = {
        "charge": {"epsilon": "0.999999"},
        "registration": {"digest": f"sha256:{'0' * 64}"},
        "auditor": {"name": "Laboratory"},
        "researcher": {"name": Personal.fresh("Ada").model_dump()},
        "mandate": {"epsilon_limit": "0.999999"},
    }
    return headers(maker.states(action, parsed(action, body | changes[action]), key))


def of_other_bins(maker: Maker, action: str, body: dict[str, Any], key: str) -> dict[str, str]:
    """Numbers are in a statement by the digest of the whole request only."""
    changed = body | ({"bins": {"edges": [0, 1]}} if action == "charge" else {})
    stated = maker.states(action, parsed(action, changed), key)
    return headers(stated) if action == "charge" else by_another_key(maker, action, body, key)


def of_another_action(maker: Maker, action: str, body: dict[str, Any], key: str) -> dict[str, str]:
    """The very same words, said for another purpose."""
    stated = maker.states(action, parsed(action, body), key)
    same = maker.signed(OTHER_ACTION[action], stated.body, key)
    return headers(same)


def for_another_platform(
    maker: Maker, action: str, body: dict[str, Any], key: str
) -> dict[str, str]:
    elsewhere = replace(maker, origin="elsewhere.example/v1/ledger")
    return headers(elsewhere.states(action, parsed(action, body), key))


def under_another_key(maker: Maker, action: str, body: dict[str, Any], key: str) -> dict[str, str]:
    """An observer of a request cannot submit it again."""
    stated = maker.states(action, parsed(action, body), f"{key}-before")
    return headers(stated) | {"Idempotency-Key": key}


def long_ago(maker: Maker, action: str, body: dict[str, Any], key: str) -> dict[str, str]:
    old = replace(maker, at=time.time() - 601)
    return headers(old.states(action, parsed(action, body), key))


def a_mere_form(_: Maker, __: str, ___: dict[str, Any], key: str) -> dict[str, str]:
    return {"Idempotency-Key": key, "Statement-Signature": A_FORM}


WRONG: list[Wrong] = [
    by_another_key,
    in_anothers_name,
    of_another_body,
    of_other_bins,
    of_another_action,
    for_another_platform,
    under_another_key,
    long_ago,
    a_mere_form,
]


def parsed(action: str, body: dict[str, Any]) -> Any:
    [form] = [form for known, form in SIGNED.values() if known == action]
    return form.validate_python(body)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: wrong.__name__)
def test_what_its_maker_did_not_sign_is_refused_and_leaves_nothing(
    scene: Scene, path: str, wrong: Wrong
) -> None:
    who, body, action = asker(scene, path), body_of(scene, path), SIGNED[path][0]
    sent = wrong(maker_of(who), action, body, secrets.token_hex(8))
    before = size(scene.deployment)
    with unchanged(scene.deployment.service.store):
        refused(who.post(path, body, headers=sent), "unsigned", "Nothing was done")
    assert size(scene.deployment) == before
    # Nothing is wrong with it but the signature.
    if path != "/v1/audits":
        assert who.state(path, body).is_success


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    "signature",
    [None, "", "..", "a..", "..b", "a.b", "a.b.c", "a..b..c", "a..b=", "a..é", "a.." + "b" * 2_000],
)
def test_a_signature_that_is_none_is_an_invalid_request(
    scene: Scene, path: str, signature: str | None
) -> None:
    sent = {"Idempotency-Key": b"a-key-for-nothing"}
    sent |= {} if signature is None else {"Statement-Signature": signature.encode()}
    with unchanged(scene.deployment.service.store):
        answer = asker(scene, path).post(path, body_of(scene, path), headers=sent)
        refused(answer, "invalid-request", "Statement-Signature")


def test_a_colleague_cannot_repeat_what_i_signed(scene: Scene) -> None:
    body = scene.request()
    signed = scene.me.signed("/v1/audits", body, "mine-and-not-yours")
    colleague = raw(scene.deployment, scene.deployment.researcher(scene.auditor_id))
    with unchanged(scene.deployment.service.store):
        refused(colleague.post("/v1/audits", body, headers=signed), "unsigned")
    mine = scene.me.post("/v1/audits", body, headers=signed)
    assert mine.status_code == 202
    wait(scene.me, mine.json()["id"])
    with unchanged(scene.deployment.service.store):
        refused(colleague.post("/v1/audits", body, headers=signed), "unsigned")
        # Whereas I may ask again what became of it.
        assert scene.me.post("/v1/audits", body, headers=signed).json()["id"] == mine.json()["id"]


def test_a_key_is_good_for_one_decision(scene: Scene) -> None:
    path, key = "/v1/regulator/mandates", "for-one-mandate-only"
    body = body_of(scene, path)
    assert scene.regulator.state(path, body, key).is_success
    before = size(scene.deployment)
    with unchanged(scene.deployment.service.store):
        again = scene.regulator.state(path, body, key)
        refused(again, "idempotency-conflict", f"entry {before - 1}")
        other = scene.regulator.state(path, body | {"epsilon_limit": "2"}, key)
        refused(other, "idempotency-conflict", f"entry {before - 1}", "Nothing was done")
        for path in ("/v1/regulator/auditors", "/v1/regulator/researchers"):
            refused(scene.regulator.state(path, body_of(scene, path), key), "idempotency-conflict")
    assert size(scene.deployment) == before
    # Keys are everybody's own.
    answer = scene.me.submit(scene.request(), key)
    assert answer.status_code == 202
    wait(scene.me, answer.json()["id"])


def test_what_is_refused_leaves_its_key_free(scene: Scene) -> None:
    path, key = "/v1/regulator/researchers", "a-key-of-a-refusal"
    body = body_of(scene, path)
    before = size(scene.deployment)
    with unchanged(scene.deployment.service.store):
        nobody = scene.regulator.state(path, body | {"auditor_id": f"auditor_{'0' * 30}"}, key)
        refused(nobody, "not-found")
    assert size(scene.deployment) == before
    assert scene.regulator.state(path, body, key).is_success
    taken = body | {"name": Personal.fresh("Eve").model_dump()}
    with unchanged(scene.deployment.service.store):
        refused(scene.regulator.state(path, taken), "conflict", "registered already")
    assert size(scene.deployment) == before + 1


def test_a_refused_audit_leaves_its_key_free(scene: Scene) -> None:
    auditor = scene.deployment.auditor(epsilon="1")
    me = raw(scene.deployment, auditor)
    body = request_for(me.content(), me.audience({"g0": ["ada"]}), size_epsilon="0")
    with unchanged(scene.deployment.service.store):
        refused(me.submit(body, "a-key-of-a-refusal"), "epsilon-above-mandate")
    answer = me.submit(body | {"epsilon": "0.5"}, "a-key-of-a-refusal")
    assert answer.status_code == 202
    wait(me, answer.json()["id"])  # what comes next compares everything


def test_the_ledger_holds_what_was_signed_and_no_personal_text(scene: Scene) -> None:
    path, name = "/v1/regulator/researchers", f"Somebody-{secrets.token_hex(8)}"
    personal = Personal.fresh(name)
    body = body_of(scene, path) | {"name": personal.model_dump()}
    answer = scene.regulator.state(path, body, "the-key-of-somebody")
    assert answer.is_success
    with scene.deployment.service.store.read() as session:
        entries = session.exec(select(EntryRow)).all()
        assert entries
        assert not [e for e in entries if name in e.text or personal.salt in e.text]
        made = session.get_one(StatementRow, (maker_of(scene.regulator).by, "the-key-of-somebody"))
        [stated] = [
            e
            for e in scene.deployment.regulator.ledger.entries("researcher")
            if e.number == made.number
        ]
        assert stated.statement
        [commitment] = stated.statement.body["name"].values()
        kept = session.get_one(PersonalRow, commitment)
        assert commit(kept.text, kept.salt) == commitment
        assert kept.text == name
    assert stated.facts["researcher_id"] == answer.json()["id"]


def test_the_same_text_with_the_same_salt_is_kept_once(scene: Scene) -> None:
    """Nobody's client should do so, and it harms nobody."""
    path, name = "/v1/regulator/researchers", Personal.fresh("Ada").model_dump()
    for _ in range(2):
        body = body_of(scene, path) | {"name": name}
        assert scene.regulator.state(path, body).is_success


DEEP: Any = {"a": [[[[[[[[[]]]]]]]]]}


@pytest.mark.parametrize("odd", [1.5, 2**60, 1e300, "\ud800", DEEP], ids=lambda odd: repr(odd)[:9])
def test_what_no_verifier_would_read_does_not_get_into_the_ledger(
    scene: Scene, odd: object
) -> None:
    path = "/v1/regulator/researchers"
    body = body_of(scene, path)
    body |= {"jwk": body["jwk"] | {"odd": odd}}
    sent = {"Idempotency-Key": "a-key-for-oddities", "Statement-Signature": A_FORM}
    with suppress(ValueError):  # not everything can be signed
        sent = scene.regulator.signed(path, body)
    with unchanged(scene.deployment.service.store):
        sent |= {"content-type": "application/json"}
        answer = scene.regulator.call("POST", path, content=json.dumps(body), headers=sent)
    assert answer.status_code == 422, answer.text
