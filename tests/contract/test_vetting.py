"""The contract of vetting: its examples, told as one story, and Schemathesis on its routes."""

import copy
import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from joserfc.jwk import OKPKey
from openapi_schema_validator import OAS31Validator

from api.platforms.interfaces import Platform
from auditor_client.local.keys import plain_jwk
from auditor_client.transport.session import Connection
from auditor_client.transport.signed_requests import Statements
from auditor_client.vetting.client import Applicant
from openapi.resources import (
    AmendmentDraft,
    ApplicationDraft,
    DecisionDraft,
    ErasureDraft,
    MandateChangeDraft,
    MandateStateDraft,
    MediationDraft,
    RemovalDraft,
    WebhookDraft,
    Wire,
    WithdrawalDraft,
)
from tests.conftest import new_postgresql
from tests.contract.test_document import DOCUMENT, METHODS, OPERATIONS
from tests.contract.test_fuzzing import COMMAND, HOW, NO_CACHE
from tests.system.raw import raw
from tests.vetting import applying, new_key, operator
from tests.world import Deployment, deployed

pytestmark = pytest.mark.long

# Those of regulators and operators are in `test_fuzzing`.
TAGS = {"applications", "me", "webhooks"}


@pytest.fixture(scope="module")
def host(postgresql: str, platform: Platform) -> Iterator[Deployment]:
    unhurried = {"requests_per_minute": 10**6, "burst": 10**6, "applications_per_hour": 10**6}
    unhurried |= {"applications_per_day": 10**6, "applications_open": 10**6}
    with deployed(new_postgresql(postgresql), platform, **unhurried) as running:
        yield running


def example(model: type[Wire]) -> dict[str, Any]:
    [shown] = model.model_json_schema()["examples"]
    made: dict[str, Any] = copy.deepcopy(shown)
    return made


def send(
    statements: Statements, path: str, kind: str, model: type[Wire], **real: Any
) -> dict[str, Any]:
    """Post the printed example with replaced identifiers and keys, signed by this caller."""
    body = model.model_validate(example(model) | real)
    headers = statements.headers(kind, body, os.urandom(12).hex())
    answer = statements.transport.send(
        "POST",
        path,
        content=body.model_dump_json(),
        headers=headers | {"content-type": "application/json"},
    )
    conforms(path, answer.status_code, answer.json())
    made: dict[str, Any] = answer.json()
    return made


def conforms(path: str, status: int, body: Any) -> None:
    [operation] = [o for m, p, o in OPERATIONS if (m, p) == ("post", path)]
    schema = operation["responses"][str(status)]["content"]["application/json"]["schema"]
    OAS31Validator(schema | {"components": DOCUMENT["components"]}).validate(body)


def principal(key: OKPKey) -> list[dict[str, Any]]:
    [person] = example(ApplicationDraft)["individuals"]
    return [person | {"jwk": plain_jwk(key)}]


def applied(host: Deployment, key: OKPKey) -> tuple[Applicant, dict[str, Any]]:
    draft = example(ApplicationDraft) | {"individuals": principal(key)}
    applicant, made = Applicant.apply(host.url, key, ApplicationDraft.model_validate(draft))
    host.clients.enter_context(applicant)
    conforms("/v1/applications", 201, made.model_dump(mode="json"))
    return applicant, made.model_dump(mode="json")


def test_the_examples_are_a_story(host: Deployment) -> None:
    key, regulator = new_key(), host.regulator._statements
    _, made = applied(host, key)
    of_it = {"application_id": made["id"]}
    who = made["individuals"][0]["researcher_id"]
    limits = example(DecisionDraft)["mandate"] | {"researcher_ids": [who]}
    decisions = "/v1/regulator/decisions"
    read = host.regulator.applications._read(host.regulator.applications.get(made["id"]))
    granted = {"mandate": limits, "application_digest": read}
    approved = send(regulator, decisions, "decision", DecisionDraft, **of_it, **granted)
    of_mandate = {"mandate_id": approved["mandate_id"]}
    platform_side = operator(host)._statements
    send(platform_side, "/v1/operator/amendments", "amendment", AmendmentDraft, **of_it)
    decided = {"decision": "reject-amendment", "mandate": None, "application_digest": None}
    send(regulator, decisions, "decision", DecisionDraft, **of_it, **decided)
    send(platform_side, "/v1/operator/mediations", "mediation", MediationDraft, **of_it)
    ended = {"outcome": "declined"}
    send(regulator, "/v1/regulator/mediations", "mediation", MediationDraft, **of_it, **ended)
    changes = "/v1/regulator/mandate-changes"
    send(regulator, changes, "mandate-change", MandateChangeDraft, **of_mandate)
    for path, kind in (
        ("suspensions", "suspension"),
        ("resumptions", "resumption"),
        ("terminations", "termination"),
    ):
        send(regulator, f"/v1/regulator/{path}", kind, MandateStateDraft, **of_mandate)
    removals = "/v1/regulator/removals"
    send(regulator, removals, "researcher-removal", RemovalDraft, researcher_id=who)
    send(regulator, "/v1/regulator/erasures", "erasure", ErasureDraft, subject_id=made["id"])


def test_the_other_ends_of_the_story(host: Deployment) -> None:
    key = new_key()
    applicant, made = applied(host, key)
    sent = {"application_id": made["id"], "individuals": [{"jwk": plain_jwk(key)}]}
    path = "/v1/applications/withdrawals"
    send(applicant._applying, path, "application", WithdrawalDraft, **sent)
    answer = raw(host, host.regulator).post("/v1/webhooks", example(WebhookDraft))
    assert answer.status_code == 201
    conforms("/v1/webhooks", 201, answer.json())
    _, made = applied(host, new_key())
    asked = {"application_id": made["id"], "decision": "request-changes", "mandate": None}
    asked |= {"application_digest": None}
    regulator = host.regulator._statements
    send(regulator, "/v1/regulator/decisions", "decision", DecisionDraft, **asked)


def narrowed(ids: dict[str, list[str]]) -> dict[str, Any]:
    """The routes of vetting, with identifiers of things that are there."""
    document = copy.deepcopy(DOCUMENT)
    for path, item in list(document["paths"].items()):
        for method in METHODS & item.keys():
            if not TAGS & set(item[method]["tags"]):
                del item[method]
                continue
            for parameter in item[method].get("parameters", []):
                if parameter["name"] in ids:
                    parameter["schema"] = {"enum": ids[parameter["name"]]}
        if not item:
            del document["paths"][path]
    return document


@pytest.mark.parametrize("role", [pytest.param("regulator", marks=pytest.mark.full), "applicant"])
def test_no_request_is_a_server_error_and_every_answer_is_in_the_contract(
    host: Deployment, tmp_path: Path, role: str
) -> None:
    case = applying(host)
    case.approved()
    waiting = applying(host)
    people: dict[str, Connection] = {
        "regulator": host.regulator,
        "applicant": waiting.applicant,
    }
    ids = {"application_id": [case.id, waiting.id, "application_" + "0" * 30]}
    file = tmp_path / "openapi.json"
    file.write_text(json.dumps(narrowed(ids)))
    token = f"Authorization: {raw(host, people[role]).http.headers['authorization']}"
    found = subprocess.run(
        [COMMAND, "run", str(file), "--url", host.url, "--header", token, *HOW],
        cwd=tmp_path,
        env={name: value for name, value in os.environ.items() if name != NO_CACHE},
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 0, found.stdout[-8_000:] + found.stderr[-2_000:]
