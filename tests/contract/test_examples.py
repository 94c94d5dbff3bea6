"""Every example of a request body in the contract is valid, and runs as printed.

Only identifiers are replaced by those of things that are there.
"""

import json
import time
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from openapi_schema_validator import OAS31Validator

from api.platforms.interfaces import Platform
from platform_sim import SimulatedPlatform
from privacy.ledger import notes
from tests.contract.test_document import DOCUMENT, OPERATIONS
from tests.system.raw import SIGNED, Raw, usernames
from tests.system.scene import Scene, set_scene
from tests.world import deployed, sqlite_url


def bodies() -> Iterator[tuple[str, str, str, str, Any]]:
    """Operation, method, path, media type and example of every body, but OAuth's forms."""
    for method, path, operation in OPERATIONS:
        for media_type, body in operation.get("requestBody", {}).get("content", {}).items():
            if path.startswith("/oauth/"):  # an assertion is good for a minute, and once
                continue
            found = [example["value"] for example in body.get("examples", {}).values()]
            found += resolved(body["schema"]).get("examples", [])
            for example in found:
                yield operation["operationId"], method.upper(), path, media_type, example


def resolved(schema: dict[str, Any]) -> dict[str, Any]:
    name = schema.get("$ref", "").rpartition("/")[2]
    component: dict[str, Any] = DOCUMENT["components"]["schemas"].get(name, schema)
    return component


def test_every_json_body_has_an_example() -> None:
    shown = {name for name, *_ in bodies()}
    wanted = {
        operation["operationId"]
        for _, path, operation in OPERATIONS
        # A message of a two-party run is of its own keys, and none can be printed.
        if "requestBody" in operation
        and not path.startswith("/oauth/")
        and operation["operationId"] != "exchange_message"
    }
    assert shown == wanted
    assert len(wanted) == 32


def test_every_example_of_a_schema_is_valid() -> None:
    for name, component in DOCUMENT["components"]["schemas"].items():
        whole = {"$ref": f"#/components/schemas/{name}", "components": DOCUMENT["components"]}
        for example in component.get("examples", []):
            OAS31Validator(whole).validate(example)
        for field, schema in component.get("properties", {}).items():
            for example in schema.get("examples", []):
                checked = schema | {"components": DOCUMENT["components"]}
                errors = list(OAS31Validator(checked).iter_errors(example))
                assert not errors, f"{name}.{field}: {errors}"


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory, platform: Platform) -> Iterator[Scene]:
    """A service that compares hidden audiences, too."""
    assert isinstance(platform.people, SimulatedPlatform)
    url = sqlite_url(tmp_path_factory.mktemp("sqlite"))
    with deployed(url, platform, two_party_candidates=10_000) as running:
        yield set_scene(running, platform.people.world)


def with_real_ids(scene: Scene, example: Any) -> Any:
    if isinstance(example, list):
        return [with_real_ids(scene, each) for each in example]
    if not isinstance(example, dict):
        return example
    real = {
        "content_id": scene.content["id"],
        "audience_id": scene.sealed["id"],
        "auditor_id": scene.auditor_id,
        "contents": [scene.content["id"], scene.content["id"]],
    }
    if "note" in example:
        real["note"] = cosigned(scene)
    if example.get("kind") == "two-party":
        names = usernames(scene.world, 3)
        real["audience_id"] = scene.me.audience({"g0": names}, ordered=True)["id"]
        real["metric"] = with_real_ids(scene, example["metric"])
    if example.get("kind") == "envy-freeness":
        # 21 targets with 32 arms, each person in one of their audits.
        names = usernames(scene.world, 800)
        real["audience_id"] = scene.me.audience({"g0": names}, consented=True)["id"]
    return {name: real.get(name, value) for name, value in example.items()}


def cosigned(scene: Scene) -> str:
    """The newest signed head, with a regulator's line."""
    scene.deployment.service.checkpointer().once()
    regulator = scene.deployment.regulator
    head = scene.regulator.get("/v1/ledger/checkpoint").json()["note"]
    return notes.cosign(head, regulator._researcher_id, regulator._key, int(time.time()))


# Vetting is a story, told in `test_vetting`: what one asks makes the next possible.
VETTING = ("/v1/applications", "/v1/me", "/v1/webhooks", "/v1/regulator", "/v1/operator")
RUN = [body for body in bodies() if body[2] in SIGNED or not body[2].startswith(VETTING)]


def send(who: Raw, method: str, path: str, media_type: str, body: Any) -> httpx2.Response:
    content = body if isinstance(body, str) else json.dumps(body)
    headers = {"content-type": media_type} | (who.signed(path, body) if path in SIGNED else {})
    return who.call(method, path, content=content, headers=headers)


@pytest.mark.parametrize(
    ("name", "method", "path", "media_type", "example"),
    RUN,
    ids=[f"{name}-{media_type}" for name, _, _, media_type, _ in RUN],
)
def test_every_example_runs(
    scene: Scene, name: str, method: str, path: str, media_type: str, example: Any
) -> None:
    regulators = path.startswith("/v1/regulator") or name == "add_cosignature"
    who = scene.regulator if regulators else scene.me
    path = path.replace("{audience_id}", scene.opened["id"]).replace("{label}", "g0")
    answer = send(who, method, path, media_type, with_real_ids(scene, example))
    assert answer.is_success, answer.text
    [documented] = [o for _, _, o in OPERATIONS if o["operationId"] == name]
    schema = documented["responses"][str(answer.status_code)]["content"]["application/json"][
        "schema"
    ]
    OAS31Validator(schema | {"components": DOCUMENT["components"]}).validate(answer.json())
