"""Schemathesis against the real server: no server error, and nothing outside of the contract.

On PostgreSQL, which is the stricter of the two about what it stores.
"""

import copy
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlmodel import col, select

from api.db import EntryRow
from api.platforms.interfaces import Platform
from platform_sim import SimulatedPlatform, World
from tests.conftest import new_postgresql
from tests.contract import signing
from tests.contract.test_document import DOCUMENT, METHODS
from tests.system.raw import Raw, usernames
from tests.system.scene import Scene, set_scene
from tests.world import deployed

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]
COMMAND = str(Path(sys.executable).parent / "schemathesis")
CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
    "response_headers_conformance",
)
HOW = (
    *("--checks", ",".join(CHECKS)),
    *("--phases", "examples,coverage,fuzzing"),
    *("--max-examples", "3", "--continue-on-failure", "--no-shrink", "--request-timeout", "20"),
    *("--warnings", "off", "--generation-database", "none", "--no-color"),
)
NO_CACHE = "PYTHONDONTWRITEBYTECODE"  # a second start is much faster without it
TAGS = {
    "auditor": {
        *("public", "contents", "audiences", "audits", "two-party", "studies", "budget", "ledger"),
        "OAuth 2",
    },
    "regulator": {"regulator", "operator", "budget", "ledger"},
}
NOWHERE = "0" * 30


@pytest.fixture(scope="module")
def scene(postgresql: str, platform: Platform) -> Iterator[Scene]:
    assert isinstance(platform.people, SimulatedPlatform)
    unhurried = {"requests_per_minute": 10**6, "burst": 10**6}
    with deployed(new_postgresql(postgresql), platform, **unhurried) as running:
        yield set_scene(running, platform.people.world)


def narrowed(scene: Scene, role: str) -> dict[str, Any]:
    """The routes of a role, with identifiers of things that are there: else all would be 404."""
    document = copy.deepcopy(DOCUMENT)
    ids = known_ids(scene)
    for path, item in list(document["paths"].items()):
        for method in METHODS & item.keys():
            if not TAGS[role] & set(item[method]["tags"]):
                del item[method]
                continue
            for parameter in item[method].get("parameters", []):
                if parameter["name"] in ids:
                    parameter["schema"] = {"enum": ids[parameter["name"]]}
        if not item:
            del document["paths"][path]
    for component in document["components"]["schemas"].values():
        for name in component.get("properties", {}).keys() & ids.keys():
            if "const" not in component["properties"][name]:
                component["properties"][name] = {"enum": ids[name]}
    real: dict[str, Any] = with_real(document, {name: known[0] for name, known in ids.items()})
    return real


def with_real(node: Any, ids: dict[str, str]) -> Any:
    """Examples too are about things that are there."""
    if isinstance(node, list):
        return [with_real(each, ids) for each in node]
    if not isinstance(node, dict):
        return node
    real = ids | {"contents": [ids["content_id"]] * 2}
    return {
        name: real[name]
        if name in real and isinstance(value, type(real[name]))
        else with_real(value, ids)
        for name, value in node.items()
    }


def known_ids(scene: Scene) -> dict[str, list[str]]:
    opened, sealed = (
        [audience(scene.me, scene.world, seal)["id"] for _ in range(4)] for seal in (False, True)
    )
    found = {
        "content_id": [scene.content["id"]],
        "audience_id": [*sealed, *opened],
        "audit_id": [scene.audit["id"]],
        "auditor_id": [scene.auditor_id],
        "mandate_id": [scene.me.get("/v1/budget").json()["mandates"][0]["id"]],
    }
    return {name: [*ids, f"{name[:-3]}_{NOWHERE}"] for name, ids in found.items()}


def audience(me: Raw, world: World, seal: bool) -> dict[str, Any]:
    names = usernames(world, 6)
    return me.audience({"g0": names[:3], "g1": names[3:]}, seal=seal)


@pytest.mark.parametrize("role", TAGS)
def test_no_request_is_a_server_error_and_every_answer_is_in_the_contract(
    scene: Scene, tmp_path: Path, role: str
) -> None:
    who = {"auditor": scene.me, "regulator": scene.regulator}[role]
    # What a role sees of itself is in the answers, so only what it sends is narrowed.
    sent = narrowed(scene, role)
    sent["components"]["schemas"] |= {
        name: DOCUMENT["components"]["schemas"][name]
        for name in DOCUMENT["components"]["schemas"]
        if not name.endswith(("Draft", "Request"))
    }
    before = signed_entries(scene)
    file = tmp_path / "openapi.json"
    file.write_text(json.dumps(sent))
    found = subprocess.run(
        [COMMAND, "run", str(file), "--url", scene.deployment.url, "--header", header(who), *HOW],
        cwd=tmp_path,
        env={name: value for name, value in os.environ.items() if name != NO_CACHE}
        | signing.environment(who)
        | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 0, found.stdout[-8_000:] + found.stderr[-2_000:]
    assert "Test cases:" in found.stdout
    # Some of what it signed was looked at, and done or refused.
    assert signed_entries(scene) > before


def signed_entries(scene: Scene) -> int:
    """Count the entries that require a signature."""
    kinds = ("charge", "refusal", "auditor", "researcher", "mandate")
    with scene.deployment.service.store.read() as session:
        return len(session.exec(select(EntryRow).where(col(EntryRow.kind).in_(kinds))).all())


def header(who: Raw) -> str:
    return f"Authorization: {who.http.headers['authorization']}"
