"""The gate alone, in front of an application that answers at once or waits."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from starlette.types import Receive, Scope, Send

from api.app import callers
from api.app.callers import PresentedCredential
from api.app.capacity import Capacity
from api.app.gate import Gate
from api.audits.queue.backlog import MOST_WAITING, Backlog
from api.identity.caller import Caller
from api.kernel.errors import UnauthenticatedError
from api.web import waiting
from openapi.resources import Role
from tests.api.app.asgi import Request, announced, settle, started
from tests.world import make_settings

ROLES: dict[str, Role] = {"ada": "auditor", "bob": "auditor", "olga": "operator"}
SETTINGS = make_settings("sqlite://", "http://127.0.0.1:1", body_seconds=0.5)
SMALL, LARGE = SETTINGS.anonymous_body_bytes, SETTINGS.max_body_bytes
SHARES = Capacity.from_settings(SETTINGS).shares
WRITES = Capacity.from_settings(SETTINGS).writes
READS = Capacity.from_settings(SETTINGS).reads
SIGN_IN = ("/oauth/token", "/oauth/revoke", "/console/sign-in")


def caller_of(name: str) -> Caller:
    """Return the caller of a token or session `<name>-<number>`."""
    name = name.partition("-")[0]
    if name not in ROLES:
        raise UnauthenticatedError("Nobody knows this token.")
    role = ROLES[name]
    return Caller(name, name, role, "auditor_x" if role == "auditor" else None)


class Sessions:
    """Sessions whose cookie is `signed:<secret>`."""

    def secret(self, scope: Scope) -> str | None:
        cookie = dict(scope["headers"]).get(b"cookie", b"").decode()
        return cookie.removeprefix("signed:") if cookie.startswith("signed:") else None

    def caller(self, secret: str) -> Caller | None:
        return None if secret == "ended" else caller_of(secret)


class App:
    """An application that answers at once, or when it is told to."""

    def __init__(self, *, waits: bool = False) -> None:
        self.go_on = asyncio.Event()
        self.in_progress = 0
        self.most_bytes = 0
        if not waits:
            self.go_on.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if "content-length" in {key.decode() for key, _ in scope["headers"]}:
            message = await receive()
            self.most_bytes = max(self.most_bytes, len(message["body"]))
        self.in_progress += 1
        await self.go_on.wait()
        self.in_progress -= 1
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})


def gate(app: Callable[..., Any], backlog: Backlog | None = None) -> Gate:
    return Gate(app, SETTINGS, caller_of, Sessions(), backlog=backlog)


def run(test: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(test, 60))


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


def session(secret: str) -> dict[str, str]:
    return {"cookie": f"signed:{secret}"}


def strangers(number: int, method: str, path: str, **options: Any) -> list[Request]:
    """As many requests, each from a network of its own."""
    return [
        Request(method, path, network=f"198.51.100.{each}", **options) for each in range(number)
    ]


def test_who_does_not_read_the_answer_keeps_no_slot() -> None:
    async def attack() -> None:
        door = gate(App())
        held = [
            started(request, door)
            for request in strangers(
                2 * SHARES["anonymous"].total, "GET", "/openapi.json", reads=False
            )
        ]
        await settle()
        assert await Request("GET", "/openapi.json").to(door) == 200
        for path in SIGN_IN:
            assert await Request("POST", path).to(door) == 200
        for task in held:
            task.cancel()

    run(attack())


def test_who_does_not_read_the_answer_keeps_no_write_permit() -> None:
    async def attack() -> None:
        door = gate(App())
        unread = [
            started(Request("POST", "/v1/audits", bearer("ada"), reads=False), door)
            for _ in range(2 * WRITES["requests"])
        ]
        await settle()
        assert await Request("POST", "/v1/audits", bearer("bob")).to(door) == 200
        for task in unread:
            task.cancel()

    run(attack())


@pytest.mark.parametrize("path", ["/v1/audits/price", "/v1/audits/prices"])
def test_quotes_are_shed_while_charges_need_every_permit(path: str) -> None:
    """Audits that are under way come before those that have not begun."""

    async def overload() -> None:
        app = App(waits=True)
        door = gate(app)
        charges = [
            started(Request("POST", "/v1/audits", bearer("ada")), door)
            for _ in range(WRITES["requests"])
        ]
        await settle()
        quote = Request("POST", path, announced(2, **bearer("bob")))
        assert await quote.to(door) == 503  # nothing of its body has arrived
        assert b"retry-after" in dict(quote.answered[0]["headers"])
        app.go_on.set()
        assert await asyncio.gather(*charges) == [200] * WRITES["requests"]
        assert await Request("POST", path, bearer("bob")).to(door) == 200

    run(overload())


@pytest.mark.parametrize("path", ["/v1/audits/price", "/v1/audits/prices"])
def test_quotes_are_shed_while_audits_of_the_auditor_wait_for_workers(path: str) -> None:
    async def overload() -> None:
        backlog = Backlog()
        door = gate(App(), backlog)
        assert await Request("POST", path, bearer("ada")).to(door) == 200
        backlog.record({"auditor_x": MOST_WAITING})
        assert await Request("POST", path, bearer("bob")).to(door) == 503
        assert await Request("POST", path, bearer("olga")).to(door) == 200, "an operator"
        assert await Request("POST", "/v1/audits", bearer("bob")).to(door) == 200, "not a quote"
        backlog.record({"auditor_y": MOST_WAITING})
        assert await Request("POST", path, bearer("bob")).to(door) == 200

    run(overload())


def test_few_quotes_are_made_at_a_time() -> None:
    async def overload() -> None:
        app = App(waits=True)
        door = gate(app)
        most = SHARES["quotes"].total
        asked = [Request("POST", "/v1/audits/price", bearer("ada")) for _ in range(3 * most)]
        quotes = [started(each, door) for each in asked]
        await settle()
        assert await Request("GET", "/v1/audits", bearer("bob")).to(gate(App())) == 200
        app.go_on.set()
        statuses = await asyncio.gather(*quotes)
        assert statuses.count(200) == most
        assert set(statuses) <= {200, 429, 503}

    run(overload())


def test_a_credential_that_a_route_refuses_is_forgotten() -> None:
    """It may have been revoked since it was verified: its next body is not read."""

    async def revoked() -> None:
        statuses = iter([200, 401])

        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            await send({"type": "http.response.start", "status": next(statuses), "headers": []})
            await send({"type": "http.response.body", "body": b""})

        door = gate(app)
        assert await Request("GET", "/v1/me", bearer("ada")).to(door) == 200
        assert await Request("GET", "/v1/me", bearer("ada")).to(door) == 401
        ROLES.pop("ada")
        try:
            waiting_body = Request("POST", "/v1/audits", announced(9, **bearer("ada")))
            assert await waiting_body.to(door) == 401
        finally:
            ROLES["ada"] = "auditor"

    run(revoked())


@pytest.mark.parametrize("fresh", [True, False])
def test_a_body_is_read_while_its_verification_is_fresh(
    monkeypatch: pytest.MonkeyPatch, fresh: bool
) -> None:
    """A token that was revoked ten seconds ago has no body read."""
    verified = []

    def verify(name: str) -> Caller:
        verified.append(name)
        return caller_of(name)

    async def revoked() -> None:
        clock = iter([0.0, callers.FRESH_SECONDS - 0.001 if fresh else callers.FRESH_SECONDS])
        door = Gate(App(), SETTINGS, verify, Sessions())
        door._callers = callers.KnownCallers(clock=lambda: next(clock))
        assert await Request("GET", "/v1/me", bearer("ada")).to(door) == 200
        assert await Request("GET", "/v1/me", bearer("ada")).to(door) == 200
        monkeypatch.delitem(ROLES, "ada")
        if fresh:
            sent = Request("POST", "/v1/audits", announced(9, **bearer("ada"))).send(b"123456789")
            assert await sent.to(door) == 200  # the route refuses it: this application does not
            assert len(verified) == 1
        else:
            unsent = Request("POST", "/v1/audits", announced(9, **bearer("ada")))
            assert await unsent.to(door) == 401
            assert len(verified) == 2

    run(revoked())


def test_a_verification_that_is_repeated_waits_for_no_stranger() -> None:
    async def attack() -> None:
        app = App(waits=True)
        door = gate(app)
        seconds = iter([0.0, 60.0, 60.0])
        door._callers = callers.KnownCallers(clock=lambda: next(seconds))
        door._callers.learn(PresentedCredential("Bearer ada"), caller_of("ada"))
        slots = door._admission["new-credentials"]
        for each in range(SHARES["new-credentials"].total):
            slots.take(f"network:{each}")
        app.go_on.set()
        sent = Request("POST", "/v1/audits", announced(2, **bearer("ada"))).send(b"{}")
        assert await sent.to(door) == 200

    run(attack())


@pytest.mark.parametrize("path", SIGN_IN)
def test_sign_in_has_a_share_of_its_own(path: str) -> None:
    async def overload() -> None:
        app = App(waits=True)
        door = gate(app)
        total = SHARES["anonymous"].total
        held = [started(request, door) for request in strangers(2 * total, "GET", "/openapi.json")]
        charges = [
            started(Request("POST", "/v1/audits", bearer(f"ada-{each}")), door) for each in range(6)
        ]
        await settle()
        assert app.in_progress == READS["anonymous"] + WRITES["requests"]
        signing_in = started(Request("POST", path), door)
        await settle()
        app.go_on.set()
        assert await signing_in == 200
        statuses = await asyncio.gather(*held, *charges)
        assert statuses.count(503) == total

    run(overload())


def test_a_write_permit_that_does_not_become_free_ends_in_a_refusal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(waiting, "PATIENCE", 0.05)

    async def overload() -> None:
        app = App(waits=True)
        door = gate(app)
        permits = WRITES["requests"]
        door._callers.learn(PresentedCredential("Bearer ada"), caller_of("ada"))
        asked = [Request("POST", "/v1/audits", bearer("ada")) for _ in range(permits + 1)]
        tasks = [started(request, door) for request in asked]
        [refused], others = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        assert await refused == 503
        answered = asked[tasks.index(refused)].answered
        assert b"retry-after" in dict(answered[0]["headers"])
        assert await Request("POST", "/v1/audits", bearer("bob")).to(door) == 503
        app.go_on.set()
        assert await asyncio.gather(*others) == [200] * permits

    run(overload())


# --- bodies


@pytest.mark.parametrize("path", [*SIGN_IN, "/v1/applications"])
@pytest.mark.parametrize(
    "headers", [{}, bearer("forged"), bearer("ada"), {"cookie": "forged"}, session("ada")]
)
def test_a_public_body_is_small_whatever_its_headers_say(
    path: str, headers: dict[str, str]
) -> None:
    async def send() -> None:
        app = App()
        large = Request("POST", path, announced(SMALL + 1) | headers).send(b"x")
        assert await large.to(gate(app)) == 413
        assert app.most_bytes == 0
        unannounced = Request("POST", path, {"transfer-encoding": "chunked"} | headers)
        unannounced.send(b"x" * SMALL, more=True).send(b"x" * SMALL)
        assert await unannounced.to(gate(app)) == 413
        assert app.most_bytes == 0
        assert await Request("POST", path, announced(9) | headers).send(b"x").to(gate(app)) == 200

    run(send())


@pytest.mark.parametrize("path", ["/console/audits", "/console/audiences/a/seal"])
@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 413),
        ({"cookie": "forged"}, 413),
        (bearer("ada"), 413),
        (session("ended"), 413),
        (session("ada"), 200),
    ],
)
def test_a_page_accepts_a_large_body_of_a_signed_in_person(
    path: str, headers: dict[str, str], status: int
) -> None:
    async def send() -> None:
        request = Request("POST", path, announced(SMALL + 1) | headers).send(b"x" * (SMALL + 1))
        assert await request.to(gate(App())) == status
        larger = Request("POST", path, announced(LARGE + 1) | headers).send(b"x")
        assert await larger.to(gate(App())) == 413

    run(send())


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/v1/applications/a/versions"),
        ("POST", "/v1/applications/withdrawals"),
        ("PUT", "/v1/applications"),
        ("POST", "/oauth/token/x"),
        ("POST", "/v1/audits"),
        ("PUT", "/v1/audiences/a/groups/g/members"),
        ("POST", "/v1/audits/a/exchange"),
    ],
)
def test_the_body_of_every_other_request_waits_for_its_token(method: str, path: str) -> None:
    async def send() -> None:
        app = App()
        for headers in ({}, bearer("forged")):
            unread = Request(method, path, announced(100) | headers)
            unread.send(b"x", more=True)
            began = asyncio.get_running_loop().time()
            assert await unread.to(gate(app)) == 401
            # What was sent is drained for a second, and no body is waited for.
            assert asyncio.get_running_loop().time() - began < 5
        assert app.most_bytes == 0
        known = Request(method, path, announced(100) | bearer("ada")).send(b"x")
        assert await known.to(gate(app)) == 200

    run(send())


def test_slow_bodies_of_strangers_take_places_of_their_own() -> None:
    async def attack() -> None:
        door, share = gate(App()), SHARES["anonymous-bodies"]
        mine = [Request("POST", "/oauth/token", announced(9)) for _ in range(share.per_caller + 3)]
        slow = [started(request, door) for request in mine]
        await asyncio.sleep(0)
        # Nobody else waits for them, nor does anything else of the same network.
        other = Request("POST", "/oauth/token", announced(1), network="192.0.2.2").send(b"x")
        assert await other.to(door) == 200
        assert await Request("GET", "/v1/catalogue").to(door) == 200
        known = Request("POST", "/v1/audits", announced(1) | bearer("ada")).send(b"x")
        assert await known.to(door) == 200
        assert await asyncio.gather(*slow) == [408] * share.per_caller + [429] * 3

    run(attack())


def test_slow_bodies_of_all_strangers_are_bounded() -> None:
    async def attack() -> None:
        door, total = gate(App()), SHARES["anonymous-bodies"].total
        asked = strangers(total + 3, "POST", "/oauth/token", headers=announced(9))
        statuses = await asyncio.gather(*(request.to(door) for request in asked))
        assert statuses == [408] * total + [503] * 3

    run(attack())


def test_slow_bodies_of_one_researcher_are_bounded() -> None:
    async def attack() -> None:
        door, share = gate(App()), SHARES["bodies"]
        slow = [
            started(Request("POST", "/v1/audits", announced(9) | bearer(f"ada-{each}")), door)
            for each in range(share.per_caller + 3)
        ]
        statuses = await asyncio.gather(*slow)
        assert statuses.count(429) == 3
        assert statuses.count(408) == share.per_caller

    run(attack())


# --- who is served before whom


def test_a_researcher_is_one_caller_from_the_first_request_of_each_token() -> None:
    async def overload() -> None:
        app = App(waits=True)
        door, most = gate(app), SHARES["requests"].per_caller
        tasks = [
            started(Request("GET", "/v1/me", bearer(f"ada-{each}")), door)
            for each in range(most + 5)
        ]
        await settle()
        assert app.in_progress == READS["requests"]
        app.go_on.set()
        assert sorted(await asyncio.gather(*tasks)) == [200] * most + [429] * 5

    run(overload())


@pytest.mark.parametrize(
    ("path", "headers"),
    [("/v1/operator/stops", bearer("olga")), ("/console/regulator/stops", session("olga"))],
)
def test_operators_wait_neither_for_strangers_nor_for_charges(
    path: str, headers: dict[str, str]
) -> None:
    """The token says nothing of a role: it is an outside issuer's, or a session's secret."""

    async def overload() -> None:
        app = App(waits=True)
        door = gate(app)
        busy = [
            started(request, door)
            for request in strangers(SHARES["anonymous"].total, "GET", "/openapi.json")
        ]
        busy += [
            started(Request("POST", "/v1/audits", bearer(who)), door)
            for who in ("ada", "bob")
            for _ in range(SHARES["requests"].per_caller)
        ]
        await settle()
        before = app.in_progress
        stop = started(Request("POST", path, headers), door)
        await settle()
        assert app.in_progress == before + 1
        app.go_on.set()
        assert await stop == 200
        await asyncio.gather(*busy)

    run(overload())


def test_few_reads_run_at_a_time_and_operators_do_not_wait_for_them() -> None:
    async def overload() -> None:
        app = App(waits=True)
        door = gate(app)
        reads = [
            started(Request("GET", "/v1/me", bearer(who)), door)
            for who in ("ada", "bob")
            for _ in range(9)
        ]
        reads += [started(request, door) for request in strangers(9, "GET", "/openapi.json")]
        await settle()
        assert app.in_progress == READS["requests"] + READS["anonymous"]
        planner = started(Request("GET", "/console/plan/curve"), door)
        watching = started(Request("GET", "/v1/operator/stops", bearer("olga")), door)
        await settle()
        assert app.in_progress == READS["requests"] + READS["anonymous"] + 2
        app.go_on.set()
        assert {await planner, await watching, *await asyncio.gather(*reads)} == {200}

    run(overload())


def test_a_read_whose_answer_begins_gives_its_permit_back() -> None:
    """A client that does not read its answer keeps nobody else from reading."""

    async def attack() -> None:
        door = gate(App())
        unread = [
            started(Request("GET", "/v1/me", bearer("ada"), reads=False), door)
            for _ in range(2 * READS["requests"])
        ]
        await settle()
        assert await Request("GET", "/v1/me", bearer("bob")).to(door) == 200
        for task in unread:
            task.cancel()

    run(attack())


def test_forged_tokens_take_no_slot_of_researchers() -> None:
    async def attack() -> None:
        app = App(waits=True)
        door = gate(app)
        total = SHARES["anonymous"].total
        forged = [
            started(request, door)
            for each in range(total)
            for request in strangers(1, "GET", "/v1/me", headers=bearer(f"forged-{each}"))
        ]
        await settle()
        known = [started(Request("GET", "/v1/me", bearer("bob")), door) for _ in range(5)]
        await settle()
        app.go_on.set()
        assert await asyncio.gather(*known) == [200] * 5
        await asyncio.gather(*forged)

    run(attack())
