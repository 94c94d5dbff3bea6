"""Callers who are not who they should be: refused with a problem, and nothing changes."""

import json
import time
from collections.abc import Iterator
from itertools import product
from typing import Any

import httpx2
import pytest
from joserfc import jwt
from joserfc.jwk import OKPKey

from api.app.export_openapi import PATH
from api.identity.access_tokens import TYPE
from openapi.resources import RELEASE
from tests.system.raw import SALT, SIGNED, Raw, raw, refused, request_for, unchanged
from tests.system.scene import Scene

pytestmark = pytest.mark.long_on_postgresql

METHODS = ("get", "post", "put", "delete")
NOWHERE = "0" * 30


def protected() -> Iterator[tuple[str | None, str, str]]:
    """Every operation that needs a token: its scope (None is any), method and path."""
    for path, operations in json.loads(PATH.read_text())["paths"].items():
        for method in METHODS:
            for need in operations.get(method, {}).get("security", []):
                for name in ("audience", "audit", "content"):
                    path = path.replace(f"{{{name}_id}}", f"{name}_{NOWHERE}")
                path = path.replace("{label}", "g0").replace("{number}", "0")
                yield next(iter(need["OAuth2"]), None), method.upper(), path


def send(who: Raw, method: str, path: str) -> httpx2.Response:
    return who.call(method, path, json={} if method == "POST" else None)


def signed(scene: Scene, key: OKPKey | None = None, **changes: object) -> str:
    """An access token as the service would make it, but for the changes."""
    url, own = scene.deployment.url, scene.deployment.service.auth.keys.current("access-token")
    [person] = [r for r in scene.deployment.regulator.researchers.list() if r.name == "Ada"][:1]
    claims: dict[str, Any] = {
        "iss": url,
        "aud": url,
        "sub": person.id,
        "client_id": person.id,
        "scope": "auditor",
        "iat": int(time.time()),
        "exp": int(time.time()) + 600,
        "jti": "a-token-of-a-test",
    }
    header = {"typ": TYPE, "alg": "Ed25519", "kid": own.kid}
    return jwt.encode(header, claims | changes, key or own, algorithms=["Ed25519"])


def test_the_scene_reads_a_release(scene: Scene) -> None:
    """The refusals below mean something: the owner is not refused."""
    found = scene.me.get(f"/v1/audits/{scene.audit['id']}/release")
    assert RELEASE.validate_json(found.content).audit_id == scene.audit["id"]
    assert raw(scene.deployment, signed(scene)).get("/v1/budget").is_success


@pytest.mark.parametrize("header", [None, "Bearer", "Basic YTpi", "token"])
def test_every_protected_route_needs_a_bearer_token(scene: Scene, header: str | None) -> None:
    headers = {} if header is None else {"authorization": header}
    with httpx2.Client(base_url=scene.deployment.url, headers=headers) as client:
        for _, method, path in protected():
            answer = send(Raw(client), method, path)
            refused(answer, "unauthenticated", "Bearer <token>")
            assert answer.headers["www-authenticate"].startswith("Bearer")


@pytest.mark.parametrize("token", ["abc", "a.b.c", "e30.e30.", "é.é.é", "x" * 20_000])
def test_a_malformed_token_is_refused(scene: Scene, token: str) -> None:
    headers = {b"authorization": f"Bearer {token}".encode()}
    answer = httpx2.get(f"{scene.deployment.url}/v1/budget", headers=headers)
    refused(answer, "unauthenticated", "access token")


def test_an_unknown_an_expired_and_a_foreign_token_are_refused(scene: Scene) -> None:
    past = int(time.time()) - 1_000
    cases = {
        signed(scene, OKPKey.generate_key("Ed25519")): "signature is wrong",
        signed(scene, iat=past, exp=past + 600): "has expired",
        signed(scene, aud="https://elsewhere.example"): "not meant for this service",
        signed(scene, sub=f"researcher_{NOWHERE}"): "no longer registered",
        signed(scene, scope="regulator"): "role changed",
    }
    with unchanged(scene.deployment.service.store):
        for token, words in cases.items():
            answer = raw(scene.deployment, token).post("/v1/contents", {"kind": "job"})
            refused(answer, "unauthenticated", words)


def test_every_route_refuses_every_other_role(scene: Scene) -> None:
    people = {"auditor": scene.me, "regulator": scene.regulator, "operator": scene.operator}
    with unchanged(scene.deployment.service.store):
        for (role, who), (scope, method, path) in product(people.items(), protected()):
            if scope in (role, None):
                continue
            answer = send(who, method, path)
            problem = refused(answer, "forbidden", scope)
            assert problem["needed_scope"] == scope
            assert f'scope="{scope}"' in answer.headers["www-authenticate"]


def belongings(scene: Scene) -> list[tuple[str, str, dict[str, Any]]]:
    """Every way to name something that belongs to one auditor."""
    content, audit = scene.content["id"], scene.audit["id"]
    opened, sealed = scene.opened["id"], scene.sealed["id"]
    members = {"content": b"username\nada\n", "headers": {"content-type": "text/csv"}}
    mine, other = scene.request(), scene.other.content()
    wrong_audience = request_for(other, scene.sealed)
    return [
        ("GET", f"/v1/contents/{content}", {}),
        *(("GET", f"/v1/audiences/{audience}", {}) for audience in (opened, sealed)),
        *(("DELETE", f"/v1/audiences/{audience}", {}) for audience in (opened, sealed)),
        ("PUT", f"/v1/audiences/{opened}/groups/g0/members", members),
        ("PUT", f"/v1/audiences/{sealed}/groups/g0/members", members),
        ("DELETE", f"/v1/audiences/{opened}/groups/g0", {}),
        ("DELETE", f"/v1/audiences/{sealed}/groups/g0", {}),
        ("POST", f"/v1/audiences/{opened}/seal", {"json": {"salt": SALT}}),
        ("POST", f"/v1/audiences/{sealed}/seal", {"json": {"salt": SALT}}),
        ("GET", f"/v1/audits/{audit}", {}),
        ("GET", f"/v1/audits/{audit}/events", {}),
        ("GET", f"/v1/audits/{audit}/release", {}),
        ("POST", f"/v1/audits/{audit}/cancel", {}),
        ("POST", "/v1/audits/price", {"json": mine}),
        ("POST", "/v1/audits", {"json": mine}),
        ("POST", "/v1/audits/price", {"json": wrong_audience}),
        ("POST", "/v1/audits", {"json": wrong_audience}),
    ]


def elsewhere(scene: Scene, value: Any) -> Any:
    """The same call about things that are not there at all."""
    text = json.dumps(value, default=lambda data: data.decode())
    for thing in (scene.content, scene.opened, scene.sealed, scene.audit):
        text = text.replace(thing["id"], thing["id"].partition("_")[0] + "_" + NOWHERE)
    return json.loads(text)


def call(who: Raw, method: str, path: str, options: dict[str, Any]) -> httpx2.Response:
    """Signed by the caller where that is needed: it is not for want of it that they are refused."""
    if method == "POST" and path in SIGNED:
        options = {**options, "headers": who.signed(path, options["json"])}
    return who.call(method, path, **options)


def test_what_belongs_to_another_auditor_is_not_there(scene: Scene) -> None:
    calls = belongings(scene)
    with unchanged(scene.deployment.service.store):
        for method, path, options in calls:
            found = refused(call(scene.other, method, path, options), "not-found")
            # Word for word what is said of something that nobody has.
            absent = call(scene.other, method, elsewhere(scene, path), elsewhere(scene, options))
            assert elsewhere(scene, found) == refused(absent, "not-found")


def test_lists_show_only_what_is_ones_own(scene: Scene) -> None:
    newcomer = raw(scene.deployment, scene.deployment.auditor())
    for path in ("/v1/contents", "/v1/audiences", "/v1/audits"):
        assert newcomer.get(path).json() == {"items": [], "next": None}
        assert scene.me.get(path).json()["items"]


def test_another_auditors_mandate_pays_for_nobody_else(scene: Scene) -> None:
    theirs = scene.other.get("/v1/budget").json()["mandates"][0]["id"]
    for mandate_id in (theirs, f"mandate_{NOWHERE}"):
        body = scene.request(mandate_id=mandate_id)
        with unchanged(scene.deployment.service.store):
            refused(scene.me.post("/v1/audits/price", body), "no-mandate", "charged")
            refused(scene.me.submit(body), "no-mandate", "charged")


def test_a_colleague_of_the_same_auditor_shares_everything(scene: Scene) -> None:
    colleague = raw(scene.deployment, scene.deployment.researcher(scene.auditor_id))
    assert colleague.get(f"/v1/audits/{scene.audit['id']}").json()["state"] == "released"
