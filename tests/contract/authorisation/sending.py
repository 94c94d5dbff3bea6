"""Sending a call for a caller: with their token, and signed with their key where that is needed."""

import json
import re
from dataclasses import dataclass
from typing import Any

import httpx2
from pydantic import TypeAdapter

import openapi.resources
from openapi.kinds.kind_union import KindUnion
from openapi.problems import PREFIX
from openapi.resources import REQUEST
from tests.contract.authorisation.callers import Caller, assertion
from tests.contract.authorisation.calls import Call
from tests.contract.authorisation.operations import Operation
from tests.contract.test_document import DOCUMENT
from tests.statements import Maker, headers
from tests.world import Deployment

FORM = "application/x-www-form-urlencoded"
# What the signature of each signed operation states.
ACTIONS = {
    "submit_audit": "charge",
    "register_study": "registration",
    "register_auditor": "auditor",
    "register_researcher": "researcher",
    "grant_mandate": "mandate",
    "state_opening": "opening",
    "send_application": "application",
    "answer_application": "application",
    "withdraw_application": "application",
    "decide_application": "decision",
    "mediate_as_regulator": "mediation",
    "mediate_as_operator": "mediation",
    "suspend_mandate": "suspension",
    "resume_mandate": "resumption",
    "terminate_mandate": "termination",
    "change_mandate": "mandate-change",
    "stop_audit_as_regulator": "stop",
    "stop_audit_as_operator": "stop",
    "remove_researcher": "researcher-removal",
    "erase_personal_text": "erasure",
    "ask_for_amendment": "amendment",
    "change_key": "researcher-key",
}


@dataclass(frozen=True)
class Answer:
    """The part of a response that a caller can see."""

    status: int
    code: str
    text: str
    headers: tuple[tuple[str, str], ...]

    def without(self, *identifiers: str) -> "Answer":
        """Return the answer as it is about any object."""
        pattern = "|".join(re.escape(each) for each in identifiers)
        return Answer(self.status, self.code, re.sub(pattern, "…", self.text), self.headers)


def send(http: httpx2.Client, deployment: Deployment, caller: Caller, call: Call) -> Answer:
    sent: dict[str, Any] = {"params": dict(call.query), "headers": dict(caller.headers)}
    if call.media_type == FORM:
        sent["data"] = call.body | assertion(deployment, caller)
    elif call.media_type is not None:
        text = call.body if isinstance(call.body, str) else json.dumps(call.body)
        sent["content"] = text.encode()
        sent["headers"]["content-type"] = call.media_type
    if call.operation.signed:
        sent["headers"] |= _signature(deployment, caller, call)
    return receive(http, call.operation.method, call.url, sent)


def receive(http: httpx2.Client, method: str, url: str, sent: dict[str, Any]) -> Answer:
    """Return the answer. Of a stream that does not end, only the head is read."""
    with http.stream(method, url, **sent) as response:
        kind = response.headers.get("content-type", "")
        endless = response.is_success and kind.startswith("text/event-stream")
        text = "" if endless else response.read().decode(errors="ignore")
    told = json.loads(text).get("type", "") if kind.startswith("application/problem") else ""
    varying = ("date", "content-length")
    shown = tuple(sorted((n, v) for n, v in response.headers.items() if n not in varying))
    return Answer(response.status_code, told.removeprefix(PREFIX), text, shown)


def _signature(deployment: Deployment, caller: Caller, call: Call) -> dict[str, str]:
    action = ACTIONS[call.operation.name]
    applicant = f"applicant:{caller.key.thumbprint()}"
    by = applicant if action == "application" else caller.researcher_id
    maker = Maker(by, caller.key, deployment.service.origin)
    return headers(maker.states(action, _model(call.operation).validate_python(call.body)))


def _model(operation: Operation) -> TypeAdapter[Any] | KindUnion[Any]:
    documented = DOCUMENT["paths"][operation.path][operation.method.lower()]
    schema = documented["requestBody"]["content"]["application/json"]["schema"]
    name = schema.get("$ref", "").rpartition("/")[2].removesuffix("-Input")
    return TypeAdapter(getattr(openapi.resources, name)) if name else REQUEST
