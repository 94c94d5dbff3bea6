"""Gate before the application. A request passes three checks in order: caller, body, slot.

A new token or session is verified before its body is read. A request without one may have only a
small body. While a body is read here, its request holds no slot and no thread, but a permit for the
bodies of unknown callers, or of researchers. Uploaded parts and two-party messages are streamed,
and hold a slot of their class meanwhile.

A request returns its slot and its permit when its answer begins, so that a client who does not read
keeps neither. Exports keep theirs: they are computed while they are sent. ADR 24 has the reasons.
"""

import asyncio
import re
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, AsyncExitStack
from typing import Any

from fastapi.concurrency import run_in_threadpool
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.app.admission import PROBES, Admission, Refusal, class_of, classify, is_probe
from api.app.callers import (
    Known,
    KnownCallers,
    PresentedCredential,
    SessionReader,
    credential_of,
    network_key,
)
from api.app.capacity import Capacity
from api.app.early_shedding import EarlyShedding, WholeRequest
from api.audits.queue.backlog import Backlog
from api.db import UNAVAILABLE
from api.identity.caller import Caller
from api.identity.metadata import REVOCATION_PATH, TOKEN_PATH
from api.identity.roles import authenticate_early
from api.kernel.errors import ApiError, UnauthenticatedError
from api.kernel.settings import Settings
from api.web.body_limit import (
    LimitedBody,
    announced_length,
    drain,
    has_body,
    replay_body,
    too_large,
)
from api.web.problem_responses import database_unavailable, respond
from api.web.waiting import hold_slot

# Requests whose bodies need no credential in the headers: they carry their own proof, or their
# sender is not known yet.
_PUBLIC = (
    ("POST", TOKEN_PATH),
    ("POST", REVOCATION_PATH),
    ("POST", "/v1/applications"),
    ("POST", "/console/sign-in"),
)
# Bodies that are streamed to their readers, if their sender is known.
_STREAMED = re.compile(r"/audiences/[^/]+/groups/[^/]+/members$|^/v1/audits/[^/]+/exchange$")
_PLANNER = re.compile(r"^/console/plan(/curve)?$")
# Classes with their own limits on concurrent writes or computations.
_PLACED = ("uploads", "exchanges")
_READS = ("GET", "HEAD", "OPTIONS")
_UNAUTHENTICATED = 401


class Gate:
    """Middleware that refuses a request before any work is done for it, or admits it."""

    def __init__(
        self,
        app: ASGIApp,
        settings: Settings,
        authenticate: Callable[..., Any],
        sessions: SessionReader | None = None,
        early: EarlyShedding | None = None,
        backlog: Backlog | None = None,
    ) -> None:
        capacity = Capacity.from_settings(settings)
        self.app = app
        self.settings = settings
        self._authenticate = authenticate
        self._sessions = sessions
        self._backlog = backlog or Backlog()
        self._admission = Admission(capacity.shares)
        self._callers = KnownCallers()
        self._writes = _permits(capacity.writes)
        self._reads = _permits(capacity.reads)
        if early is not None:
            early.judge, early.may_shed = self._refuse_before_parsing, self._may_shed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or is_probe(scope):
            return await self.app(scope, receive, send)
        scope.setdefault("state", {})
        try:
            known = await self._recognise(scope)
            self._shed_quotes(scope, known)
            receive = await self._body(scope, receive, known)
            return await self._serve(scope, receive, send, known)
        except ConnectionAbortedError:  # the client disconnected before its body was complete
            return None
        except (ApiError, *UNAVAILABLE) as error:
            refusal = error if isinstance(error, ApiError) else database_unavailable(error)
            return await self._refuse(refusal, scope, receive, send)

    async def _recognise(self, scope: Scope) -> Known | None:
        """Return the researcher of a request: cached, or verified if the credential is new.

        The route verifies every credential again after admission, so shed requests cost no
        verification. Before a body is read, a verification that is not fresh is repeated. A request
        without a body whose credential is wrong continues as an unknown caller's: its path may need
        no credential, and otherwise the route refuses it.
        """
        if (scope["method"], scope["path"]) in _PUBLIC:
            return None
        credential, reads_body = credential_of(scope, self._sessions), has_body(scope)
        if reads_body:
            self._refuse_early(scope, credential)
        if credential is None:
            return None
        known = self._callers.find(credential)
        if known is not None:
            self._shed_quotes(scope, known)
            if not reads_body or self._callers.is_fresh(known):
                return known
            self._callers.forget(credential)
        slots = self._slots_to_verify(scope, known)
        try:
            with slots:
                async with hold_slot(self._reads["new-credentials"]):
                    caller = await run_in_threadpool(self._verify, scope, credential)
        except UnauthenticatedError:
            if reads_body:
                raise
            return None
        return None if caller is None else self._callers.learn(credential, caller)

    def _slots_to_verify(self, scope: Scope, known: Known | None) -> AbstractContextManager[None]:
        """Hold a slot of unknown callers, or one of the researcher of a known credential.

        So a flood of forged tokens keeps no known researcher from sending a body.
        """
        if known is None:
            return self._admission["new-credentials"].hold(network_key(scope))
        return self._admission["bodies"].hold(known.key)

    def _shed_quotes(self, scope: Scope, known: Known | None) -> None:
        """Refuse a quote while audits that are under way need every slot, permit or worker.

        A service that quotes more audits than it can run has no time left to run any.
        """
        if known is not None and classify(scope, known.role) == "quotes":
            refusal = self._refusal_of_quote(known)
            if refusal is not None:
                raise refusal

    def _refusal_of_quote(self, known: Known | None) -> Refusal | None:
        slots = self._admission["quotes"]
        shed = slots.are_taken or self._writes["requests"].locked()
        if known is not None and known.auditor_id is not None:
            shed = shed or self._backlog.has_share(known.auditor_id)
        return slots.overloaded() if shed else None

    def _may_shed(self) -> bool:
        charges = self._writes["requests"].locked() or self._backlog.is_current
        return charges or self._admission.may_refuse

    def _refuse_before_parsing(self, request: WholeRequest) -> Refusal | None:
        """Return the refusal of a request that would be shed; None if it takes the usual path.

        A new credential is verified first. Pages of the console and probes take the usual path.
        """
        path, credential = request.path, request.credential
        known = None if credential is None else self._callers.find(credential)
        new = credential is not None and known is None
        if new or path in PROBES or path.startswith("/console"):
            return None
        name = class_of(request.method, path, known.role if known else None)
        if name == "quotes" and (refusal := self._refusal_of_quote(known)) is not None:
            return refusal
        return self._admission[name].refusal(known.key if known else request.network_key)

    def _forget(self, scope: Scope) -> None:
        """Remove a credential that a route refused from the cache: its next body is not read."""
        credential = credential_of(scope, self._sessions)
        if credential is not None:
            self._callers.forget(credential)

    def _refuse_early(self, scope: Scope, credential: PresentedCredential | None) -> None:
        """Refuse a body without a credential, and one that is too large for any caller."""
        self._refuse_large(scope, self._largest(scope))
        # A page of the console asks its visitor to sign in.
        if credential is None and not _is_page(scope):
            raise UnauthenticatedError(
                "Send an access token: Authorization: Bearer <token>.", sent=False
            )

    def _verify(self, scope: Scope, credential: PresentedCredential) -> Caller | None:
        """Return the caller, in a thread; None if a session has ended."""
        if credential.is_session:
            return self._sessions.caller(credential.secret) if self._sessions else None
        return authenticate_early(self._authenticate, scope["state"], credential.secret)

    async def _body(self, scope: Scope, receive: Receive, known: Known | None) -> Receive:
        """Return a `receive` of the body, after its size was checked."""
        if not has_body(scope):
            return receive
        limit = self._largest(scope)
        if known is None:
            limit = min(self.settings.max_body_bytes, self.settings.anonymous_body_bytes)
        self._refuse_large(scope, limit)
        body = LimitedBody(receive, limit, self.settings)
        if known is None:
            slots = self._admission["anonymous-bodies"].hold(network_key(scope))
        elif _is_streamed(scope):
            return body.next
        else:
            slots = self._admission["bodies"].hold(known.key)
        with slots:
            return replay_body(await body.read(), receive)

    def _largest(self, scope: Scope) -> int:
        """Return the largest body that any caller may send to this path."""
        settings = self.settings
        return settings.max_part_bytes if _is_streamed(scope) else settings.max_body_bytes

    def _refuse_large(self, scope: Scope, limit: int) -> None:
        if announced_length(scope) > limit:
            raise too_large(limit)

    async def _serve(self, scope: Scope, receive: Receive, send: Send, known: Known | None) -> None:
        """Call the application with a slot and with a permit to write or to read."""
        name = classify(scope, known.role if known else None)
        key = known.key if known else network_key(scope)
        async with AsyncExitStack() as stack:
            stack.enter_context(self._admission[name].hold(key))
            permits = self._permits_of(scope, name)
            if permits is not None:
                await stack.enter_async_context(hold_slot(permits))

            async def sending(message: Message) -> None:
                if message["type"] == "http.response.start":
                    if message["status"] == _UNAUTHENTICATED:
                        self._forget(scope)
                    if name != "exports":
                        await stack.aclose()
                await send(message)

            await self.app(scope, receive, sending)

    def _permits_of(self, scope: Scope, name: str) -> asyncio.Semaphore | None:
        """Return the permits of which a request of this class needs one, if any."""
        if name == "sign-in":
            return self._writes[name]
        if scope["method"] in _READS:
            # The planner computes in processes, with slots of its own, and uses no thread.
            return None if _PLANNER.search(scope["path"]) else self._reads.get(name)
        return None if name in _PLACED else self._writes.get(name, self._writes["requests"])

    async def _refuse(self, error: ApiError, scope: Scope, receive: Receive, send: Send) -> None:
        if has_body(scope) and (error.headers.get("Connection") or not await drain(receive)):
            error.headers["Connection"] = "close"
        await respond(error, scope["path"])(scope, receive, send)


def _permits(numbers: Mapping[str, int]) -> dict[str, asyncio.Semaphore]:
    return {name: asyncio.Semaphore(number) for name, number in numbers.items()}


def _is_page(scope: Scope) -> bool:
    path: str = scope["path"]
    return path.startswith("/console/")


def _is_streamed(scope: Scope) -> bool:
    return _STREAMED.search(scope["path"]) is not None
