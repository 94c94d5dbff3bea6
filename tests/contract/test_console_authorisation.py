"""Every route of the console, every visitor: signed out, of each role, and signed in no longer."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx2
import pytest
from fastapi.routing import APIRoute

from api.console.rendering import TOKEN_HEADER
from api.console.routing import fallback, routers
from api.console.security.cookies import Cookies
from api.platforms.interfaces import Platform
from tests.contract.authorisation.bodies import audit_requests
from tests.contract.authorisation.callers import Caller
from tests.contract.authorisation.calls import ghost_of
from tests.contract.authorisation.expected import NOT_CONSIDERED
from tests.contract.authorisation.fingerprint import unchanged
from tests.contract.authorisation.routes import served
from tests.contract.authorisation.scene import Scene, set_scene
from tests.contract.authorisation.sending import Answer, receive
from tests.statements import A_FORM
from tests.system.raw import SALT

# For everybody, signed in or not.
PUBLIC = {
    *("", "/", "/sign-in", "/sign-out", "/sign-in/outside", "/sign-in/outside/begin"),
    *("/plan", "/plan/curve", "/static/{digest}/{name:path}", "/{rest:path}"),
}
# Path parameters that name no object.
CONSTANTS = {
    "label": "g0",
    "event": "request-changes",
    "intervention": "suspend",
    "name": "charges",
    "name:path": "console.css",
    "digest": "none",
    "rest:path": "nowhere",
}
FORM = "application/x-www-form-urlencoded"
# Bodies of what a page sends, apart from forms, by path.
JSON = {
    "/audiences": {"groups": ["g0"]},
    "/audiences/{audience_id}/seal": {"salt": SALT},
}
SESSIONS = ("owner", "colleague", "foreigner", "regulator", "operator", "applicant")


@dataclass(frozen=True)
class Page:
    """One route; `role` is None for everybody."""

    method: str
    path: str

    @property
    def role(self) -> str | None:
        """Derived from the address alone: a page that is nowhere listed is for auditors."""
        if self.path in PUBLIC:
            return None
        first = self.path.split("/")[1]
        return first if first in ("regulator", "operator") else "auditor"

    @property
    def parameters(self) -> list[str]:
        return [part.partition("}")[0] for part in self.path.split("{")[1:]]


PAGES = [
    Page(method, route.path.removeprefix("/console"))
    for router in (*routers(), fallback)
    for route in router.routes
    if isinstance(route, APIRoute)
    for method in sorted(route.methods or ())
]
each_page = pytest.mark.parametrize("page", PAGES, ids=lambda each: f"{each.method} {each.path}")


@dataclass(frozen=True)
class Visitor:
    """Somebody with a browser: the cookie of a session or visit, and the token of its forms."""

    name: str
    role: str | None
    caller: Caller
    cookie: str
    token: str


@dataclass(frozen=True)
class Visited:
    scene: Scene
    visitors: tuple[Visitor, ...]

    def visitor(self, name: str) -> Visitor:
        [found] = [each for each in self.visitors if each.name == name]
        return found


@pytest.fixture(scope="module")
def visited(tmp_path_factory: pytest.TempPathFactory, platform: Platform) -> Iterator[Visited]:
    with set_scene(tmp_path_factory.mktemp("console"), platform) as scene:
        people = [_signed_in(scene, scene.caller(name)) for name in SESSIONS]
        stranger = _signed_out(scene, "stranger", None)
        ended = _signed_out(scene, "signed out", _signed_in(scene, scene.caller("owner")))
        yield Visited(scene, (stranger, ended, *people))


def _signed_in(scene: Scene, caller: Caller) -> Visitor:
    """Follow the link that the API makes for this caller."""
    with httpx2.Client(base_url=scene.deployment.url) as browser:
        link = browser.post("/v1/me/console", headers=caller.headers).json()["url"]
        browser.get(link)
        cookies = Cookies.from_settings(scene.deployment.service.settings)
        visit = browser.cookies["console_visit"].strip('"').rpartition(".")[0]
        form = {"code": link.partition("code=")[2], "token": cookies.token(visit)}
        browser.post("/console/sign-in", data=form)
        session = browser.cookies["console_session"].strip('"')
    token = cookies.token(session.rpartition(".")[0])
    return Visitor(caller.name, caller.role, caller, f"console_session={session}", token)


def _signed_out(scene: Scene, name: str, was: Visitor | None) -> Visitor:
    """Return somebody who never signed in, or who signed out and kept the cookie."""
    owner = scene.caller("owner")
    if was is not None:
        headers = {"cookie": was.cookie, TOKEN_HEADER: was.token}
        answer = httpx2.post(f"{scene.deployment.url}/console/sign-out", headers=headers)
        assert answer.status_code == 303, answer.text
        return Visitor(name, None, owner, was.cookie, was.token)
    cookies = Cookies.from_settings(scene.deployment.service.settings)
    with httpx2.Client(base_url=scene.deployment.url) as browser:
        browser.get("/console/sign-in")
        visit = browser.cookies["console_visit"].strip('"')
    token = cookies.token(visit.rpartition(".")[0])
    return Visitor(name, None, owner, f"console_visit={visit}", token)


def look(visited: Visited, who: Visitor, page: Page, ids: dict[str, str]) -> Answer:
    """Send what the page would send, about these objects. Problems are asked for, not pages."""
    path = page.path
    for name in page.parameters:
        path = path.replace(f"{{{name}}}", CONSTANTS.get(name) or ids[name])
    headers = {"cookie": who.cookie, TOKEN_HEADER: who.token, "accept": "application/json"}
    sent: dict[str, Any] = {"headers": headers}
    if page.path in JSON and page.method == "POST":
        sent["json"] = JSON[page.path]
    elif page.method == "PUT":
        sent["content"] = b"username\nada\n"
        headers["content-type"] = "text/csv"
    elif page.method == "POST":
        sent["data"] = {"reasons": "why", "reason": "why", "request": ids.get("request", "")}
        sent["data"] |= {"key": "k" * 12, "signature": A_FORM}
    return receive(visited.scene.http, page.method, f"/console{path}", sent)


def objects(scene: Scene, caller: Caller) -> dict[str, str]:
    """Return what exists for this caller, by the name of the path parameter."""
    own = scene.own(caller)
    ids = {f"{kind}_id": found[0] for kind, found in own.items()}
    ids["number"] = own.get("entry", ("0",))[0]
    if {"content", "audience", "mandate"} <= own.keys():
        ids["request"] = json.dumps(audit_requests(caller, own, scene.deployment)[0])
    return ids


def test_every_route_of_the_console_is_in_the_matrix(visited: Visited) -> None:
    found = served(visited.scene.deployment)
    pages = {(each.method, f"/console{each.path}") for each in PAGES}
    assert {(method, path) for method, path in found if path.startswith("/console")} == pages


@each_page
def test_nobody_of_another_role_gets_in(visited: Visited, page: Page) -> None:
    if page.role is None:
        return
    everything = objects(visited.scene, visited.scene.caller("regulator"))
    wrong = []
    with unchanged(visited.scene.deployment.service.store):
        for who in visited.visitors:
            if who.role != page.role:
                answer = look(visited, who, page, everything)
                expected = "unauthenticated" if who.role is None else "forbidden"
                if answer.code != expected:
                    wrong.append((who.name, expected, answer.status, answer.text[:300]))
    assert not wrong


@each_page
def test_callers_with_the_role_are_admitted(visited: Visited, page: Page) -> None:
    """A form without a good signature is `unsigned`, which is found after the role."""
    wrong = []
    for who in visited.visitors:
        if who.role == page.role and page.role is not None:
            answer = look(visited, who, page, objects(visited.scene, who.caller))
            refused = NOT_CONSIDERED - {"unsigned", "invalid-request"}
            if answer.code in refused or answer.status >= 500:
                wrong.append((who.name, answer.status, answer.text[:300]))
    assert not wrong


OF_AUDITORS = [page for page in PAGES if page.role == "auditor"]


@pytest.mark.parametrize(
    "page",
    [page for page in OF_AUDITORS if {"audience_id", "audit_id"} & set(page.parameters)],
    ids=lambda each: f"{each.method} {each.path}",
)
def test_a_foreign_object_is_like_one_that_does_not_exist(visited: Visited, page: Page) -> None:
    wrong = []
    scene = visited.scene
    [name] = {"audience_id", "audit_id"} & set(page.parameters)
    with unchanged(scene.deployment.service.store):
        for who in map(visited.visitor, ("owner", "colleague", "foreigner")):
            for foreign in scene.foreign(who.caller, name.removesuffix("_id")):
                ghost = ghost_of(foreign)
                found, absent = (
                    look(visited, who, page, {name: each}).without(foreign, ghost)
                    for each in (foreign, ghost)
                )
                if found != absent or found.code != "not-found":
                    wrong.append((who.name, found, absent))
    assert not wrong
