"""People's own keys: changed by themselves, taken away by a regulator, named in the access log."""

import json
import logging
from pathlib import Path
from typing import Any

import httpx2
import pytest
from joserfc.jwk import OKPKey

from api.app.access_log import log as access
from api.identity.caller import Caller
from api.kernel.errors import UnsignedError as UnsignedNowError
from api.telemetry.logging import JsonLines
from auditor_client import Auditor, Regulator
from auditor_client.errors import (
    AuthenticationError,
    ConflictError,
    NotFoundError,
    UnsignedError,
)
from auditor_client.ledger import verify_file
from auditor_client.local.keys import plain_jwk
from auditor_client.transport.signed_requests import Statements
from openapi.resources import REQUEST, KeyChangeDraft, Me, ResearcherDraft
from privacy.ledger.statements import payload, sign
from tests.durability.processes import until
from tests.refusals import refuses
from tests.statements import A_FORM, Maker
from tests.system.raw import raw, refused, request_for, unchanged
from tests.system.scene import operator_of
from tests.system.test_ledger import trust_of
from tests.vetting import applying, new_key
from tests.world import Deployment


def at(deployment: Deployment, researcher_id: str, key: OKPKey) -> Auditor:
    return deployment.clients.enter_context(Auditor(deployment.url, researcher_id, key))


def test_a_researcher_changes_their_key(deployment: Deployment) -> None:
    auditor = deployment.auditor()
    before, old = auditor.me(), auditor._key
    new = new_key()
    changed = auditor.change_key(new)
    assert changed.id == before.id
    assert changed.key_thumbprint == new.thumbprint() != before.key_thumbprint
    assert auditor.me() == changed  # with a token by the new key
    assert auditor.budget().mandates
    entry = next(iter(deployment.regulator.ledger.entries()))
    assert (entry.kind, entry.facts["key_thumbprint"]) == ("researcher-key", new.thumbprint())
    assert entry.statement is not None
    assert entry.statement.by == before.id
    # The old key opens nothing any more, and signs nothing.
    with pytest.raises(AuthenticationError):
        at(deployment, before.id, old).me()
    stale = Statements(auditor._transport, auditor._public, before.id, old)
    with pytest.raises(UnsignedError):
        stale.post("/v1/me/key", "researcher-key", change_of(auditor, new_key()), Me)
    assert auditor.change_key(new_key()).id == before.id


def change_of(auditor: Auditor, new: OKPKey, **other: Any) -> KeyChangeDraft:
    """A change whose proof says what it must, but for what is told."""
    said = {"researcher": auditor.me().id, "key": new, "action": "researcher-key-proof", **other}
    origin = other.get("origin") or auditor._statements.origin()
    jwk = plain_jwk(new)
    stated = payload(origin, said["action"], said["researcher"], new.thumbprint(), {"jwk": jwk})
    return KeyChangeDraft(jwk=jwk, proof=sign(stated, said["key"]))


@pytest.mark.parametrize(
    "wrong",
    [
        {"key": new_key()},
        {"researcher": "researcher_" + "0" * 30},
        {"action": "researcher-key"},
        {"origin": "elsewhere.example/v1/ledger"},
    ],
    ids=["another key", "another person", "another purpose", "another platform"],
)
def test_the_new_key_must_be_held_by_its_owner(
    deployment: Deployment, wrong: dict[str, Any]
) -> None:
    auditor = deployment.auditor()
    before = auditor.me()
    body = change_of(auditor, new_key(), **wrong)
    with refuses(UnsignedError, "key-not-proven"):
        auditor._statements.post("/v1/me/key", "researcher-key", body, Me)
    assert auditor.me() == before


def test_a_key_belongs_to_one_person(deployment: Deployment) -> None:
    ada, grace = deployment.auditor(), deployment.auditor()
    with refuses(ConflictError, "registered-already"):
        ada.change_key(grace._key)
    assert ada.me().key_thumbprint == ada._key.thumbprint()


def test_a_private_key_is_never_taken(deployment: Deployment) -> None:
    me = raw(deployment, deployment.auditor())
    jwk = {name: str(each) for name, each in new_key().as_dict(private=True).items()}
    headers = {"Idempotency-Key": "k" * 12, "Statement-Signature": A_FORM}
    body = {"jwk": jwk, "proof": A_FORM}
    assert me.post("/v1/me/key", body, headers=headers).status_code == 422


def test_an_applicant_has_no_key_to_change(deployment: Deployment) -> None:
    case = applying(deployment)
    with refuses(ConflictError, "key-of-an-applicant"):
        case.applicant.change_key(new_key())


@pytest.mark.parametrize("meanwhile", ["researcher-key", "researcher-removal"])
def test_nothing_is_charged_by_a_key_that_was_taken_away_meanwhile(
    deployment: Deployment, tmp_path: Path, meanwhile: str
) -> None:
    """The request was let in and its signature found good, and then somebody else wrote first."""
    auditor, service = deployment.auditor(), deployment.service
    me = raw(deployment, auditor)
    request = REQUEST.validate_python(request_for(me.content(), me.audience({"g0": ["ada"]})))
    who = auditor.me()
    maker = Maker(who.id, auditor._key, service.origin)
    statement = maker.states("charge", request)
    if meanwhile == "researcher-removal":
        deployment.regulator.researchers.remove(who.id, "left")
    else:
        auditor.change_key(new_key())
    caller = Caller(who.id, who.name, "auditor", who.auditor_id)
    with unchanged(service.store), refuses(UnsignedNowError, "former-key"):
        service.submissions.submit(caller, request, statement)

    def covered() -> int:
        export = deployment.regulator.ledger.export(tmp_path / "all.jsonl")
        return verify_file(export, trust_of(deployment)).counts[meanwhile]

    until(covered, "a signed head")


def test_operators_and_regulators_are_people_too(deployment: Deployment) -> None:
    who = operator_of(deployment).get("/v1/me").json()
    assert (who["role"], who["auditor_id"]) == ("operator", None)
    assert deployment.regulator.me().role == "regulator"


def second_regulator(deployment: Deployment) -> Regulator:
    key = new_key()
    made = deployment.regulator.researchers.add(
        "Second", role="regulator", jwk=key.as_dict(private=False)
    )
    return deployment.clients.enter_context(Regulator(deployment.url, made.id, key))


def test_who_is_removed_is_out_at_once(deployment: Deployment) -> None:
    auditor = deployment.auditor()
    who = auditor.me().id
    token = raw(deployment, auditor)
    assert token.get("/v1/budget").is_success
    removed = deployment.regulator.researchers.remove(who, "left the organisation")
    assert removed.removed_at is not None
    refused(token.get("/v1/budget"), "unauthenticated", "no longer registered")
    with pytest.raises(AuthenticationError):
        at(deployment, who, auditor._key).budget()
    entry = next(iter(deployment.regulator.ledger.entries()))
    assert entry.kind == "researcher-removal"
    assert entry.statement is not None
    assert entry.statement.body["researcher_id"] == who
    assert "left the organisation" not in entry.model_dump_json()
    listed = {each.id: each for each in deployment.regulator.researchers.list()}
    assert listed[who].removed_at == removed.removed_at
    with refuses(ConflictError, "removed-already"):
        deployment.regulator.researchers.remove(who, "again")


def test_regulators_remove_each_other_and_not_themselves(deployment: Deployment) -> None:
    other = second_regulator(deployment)
    assert other.auditors.list()
    with refuses(ConflictError, "removal-of-oneself"):
        other.researchers.remove(other.me().id, "me")
    deployment.regulator.researchers.remove(other.me().id, "left")
    with pytest.raises(AuthenticationError):
        other.auditors.list()
    with pytest.raises(NotFoundError):
        deployment.regulator.researchers.remove("researcher_" + "0" * 30, "who?")
    case = applying(deployment)
    with refuses(ConflictError, "nothing-to-remove"):
        deployment.regulator.researchers.remove(case.applicant.me().id, "too early")


def test_the_access_log_names_the_person(deployment: Deployment) -> None:
    lines: list[dict[str, Any]] = []

    class Keeping(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(json.loads(JsonLines().format(record)))

    handler, level = Keeping(), access.level
    access.addHandler(handler)
    access.setLevel(logging.INFO)
    try:
        auditor = deployment.auditor()
        who = auditor.me().id
        me = raw(deployment, auditor)
        assert me.get("/v1/regulator/mandates").status_code == 403
        assert httpx2.get(f"{deployment.url}/v1/catalogue").is_success
        assert raw(deployment, "no token").get("/v1/budget").status_code == 401
    finally:
        access.removeHandler(handler)
        access.setLevel(level)
    named = [line for line in lines if line.get("researcher") == who]
    assert {line["route"] for line in named} == {"/v1/me", "/v1/regulator/mandates"}
    assert {line["status"] for line in named} == {200, 403}
    strangers = [line for line in lines if line["route"] in ("/v1/catalogue", "/v1/budget")]
    assert strangers
    assert not any("researcher" in line for line in strangers)


def test_a_regulator_cannot_register_an_applicant() -> None:
    with pytest.raises(ValueError, match="role"):
        ResearcherDraft.model_validate(
            {"name": {"text": "a", "salt": "A" * 22}, "role": "applicant"}
        )


def test_the_offline_verifier_follows_all_of_this(deployment: Deployment, tmp_path: Path) -> None:
    deployment.service.checkpointer().once()
    path = deployment.regulator.ledger.export(tmp_path / "all.jsonl")
    found = verify_file(path, trust_of(deployment))
    assert found.counts["researcher-key"] >= 2
    assert found.counts["researcher-removal"] >= 2
