"""The contract itself: what the code says, valid, and pleasant to read."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from api.app.export_openapi import PATH, export
from api.web.problem_responses import MEDIA_TYPE
from openapi.problems import TABLE

DOCUMENT: dict[str, Any] = json.loads(PATH.read_text())
METHODS = {"get", "post", "put", "patch", "delete"}
OPERATIONS = [
    (method, path, operation)
    for path, item in DOCUMENT["paths"].items()
    for method, operation in item.items()
    if method in METHODS
]
NAMES = [operation["operationId"] for _, _, operation in OPERATIONS]
each = pytest.mark.parametrize(("method", "path", "operation"), OPERATIONS, ids=NAMES)


def test_the_file_is_what_the_code_says() -> None:
    assert PATH.read_text() == export(), "run make openapi"


def test_the_document_is_valid() -> None:
    assert DOCUMENT["openapi"].startswith("3.1")
    assert [str(error) for error in OpenAPIV31SpecValidator(DOCUMENT).iter_errors()] == []


def test_every_operation_has_a_name_of_its_own() -> None:
    assert len(set(NAMES)) == len(NAMES) == 85
    assert all(re.fullmatch(r"[a-z]+(_[a-z0-9]+)+", name) for name in NAMES)


@each
def test_every_operation_says_what_it_does(
    method: str, path: str, operation: dict[str, Any]
) -> None:
    assert len(operation["tags"]) == 1
    assert operation["summary"]
    assert len(operation["description"]) > 10
    assert all(response["description"] for response in operation["responses"].values())


PUBLIC = ("/v1/catalogue", "/v1/ledger/keys", "/healthz", "/readyz", "/oauth/", "/.well-known/")
# For all who can be told apart, each seeing what concerns them.
ANY_ROLE = ("/v1/ledger/", "/v1/applications", "/v1/me", "/v1/webhooks")


def is_public(path: str) -> bool:
    return path.startswith(PUBLIC)


@each
def test_every_protected_operation_names_its_scope(
    method: str, path: str, operation: dict[str, Any]
) -> None:
    if is_public(path) or operation["operationId"] == "send_application":
        assert "security" not in operation
        return
    [need] = operation["security"]
    assert {"401", "403", "429"} <= set(operation["responses"])
    if path.startswith(ANY_ROLE) and operation["operationId"] != "add_cosignature":
        assert need["OAuth2"] == []
        return
    [scope] = need["OAuth2"]
    flow = DOCUMENT["components"]["securitySchemes"]["OAuth2"]["flows"]["clientCredentials"]
    assert scope in flow["scopes"]
    roles = {"regulator": "regulator", "operator": "operator", "ledger": "regulator"}
    role = roles.get(path.split("/")[2], "auditor")
    assert scope == role


@each
def test_problems_are_documented(method: str, path: str, operation: dict[str, Any]) -> None:
    refusals = {s: r for s, r in operation["responses"].items() if s >= "400"}
    if method != "get" or not is_public(path):
        assert [status for status in refusals if status < "500"]
    if path.startswith("/oauth/"):  # RFC 6749 has errors of its own
        return
    for status, refusal in refusals.items():
        schemas = {json.dumps(m["schema"], sort_keys=True) for m in refusal["content"].values()}
        assert MEDIA_TYPE in refusal["content"]
        assert len(schemas) == 1
        codes = re.findall(r"`([a-z-]+)`", refusal["description"])
        assert all(TABLE[code][0] == int(status) for code in codes)
    if "application/json" in operation.get("requestBody", {}).get("content", {}):
        assert {"400", "413", "415", "422"} <= set(refusals)


def schemas(node: object) -> Iterator[dict[str, Any]]:
    if isinstance(node, dict):
        if "schema" in node:
            yield node["schema"]
        for child in node.values():
            yield from schemas(child)
    elif isinstance(node, list):
        for child in node:
            yield from schemas(child)


@each
def test_no_response_is_anything_at_all(method: str, path: str, operation: dict[str, Any]) -> None:
    for status, response in operation["responses"].items():
        assert ("content" in response) == (status != "204")
        found = list(schemas(response))
        assert all(schema.keys() - {"title", "description"} for schema in found)
        assert found or status == "204"


def test_no_property_of_a_component_is_anything_at_all() -> None:
    for name, component in DOCUMENT["components"]["schemas"].items():
        for field, schema in component.get("properties", {}).items():
            typed = schema.keys() & {"type", "$ref", "anyOf", "oneOf", "allOf", "const", "enum"}
            assert typed, f"{name}.{field}"


def test_no_component_is_left_over() -> None:
    text = json.dumps(DOCUMENT)
    unused = [
        name
        for name in DOCUMENT["components"]["schemas"]
        if f'"#/components/schemas/{name}"' not in text
    ]
    assert unused == []


@each
def test_parameters_are_described_and_bounded(
    method: str, path: str, operation: dict[str, Any]
) -> None:
    parameters = operation.get("parameters", [])
    in_path = {p["name"] for p in parameters if p["in"] == "path"}
    assert in_path == set(re.findall(r"{(\w+)}", path))
    # OpenAPI 3.1, "Parameter Object": such header parameters are ignored.
    ignored = {"accept", "content-type", "authorization"}
    assert not [p for p in parameters if p["in"] == "header" and p["name"].lower() in ignored]
