"""One deployment's parts, built once and handed to every route."""

import asyncio
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Annotated, cast

from fastapi import Depends, Request
from sqlmodel import Session

from api import standing
from api.auth import Auth
from api.following import Following
from api.ledger.checkpoints import Checkpointer
from api.limits import Buckets
from api.operation.presence import Presence
from api.platform import Platform
from api.settings import Settings, ledger_origin
from api.shift import Shift
from api.store import Store
from api.submissions import Submissions
from api.two_party.runs import Runs
from api.vetting.calendar import Calendar
from api.webhooks.pushing import Pusher
from api.webhooks.sending import Sender
from api.worker import Worker


@dataclass(frozen=True)
class Service:
    settings: Settings
    store: Store
    platform: Platform
    auth: Auth
    # Applications come from addresses, not from people that are known.
    strangers: Buckets = field(default_factory=lambda: Buckets(1, 1))
    # Set when an audit was charged, so that an embedded worker need not wait for its next look.
    charged: threading.Event = field(default_factory=threading.Event)

    # Two-party runs that are under way in this process.
    runs: Runs = field(default_factory=Runs)

    @cached_property
    def following(self) -> Following:
        """Who waits for the next state of an audit."""
        return Following(partial(standing.states, self.store))

    @cached_property
    def submissions(self) -> Submissions:
        """Where audits are charged."""
        return Submissions(self.store, self.platform, self.settings)

    @cached_property
    def uploads(self) -> asyncio.Semaphore:
        """Held by who reads a part or seals an audience: the others wait in line, and no thread."""
        return asyncio.Semaphore(self.settings.uploads_at_once)

    @cached_property
    def shift(self) -> Shift:
        """The embedded worker's, where there is one."""
        return Shift(self.worker(), self.charged)

    @property
    def origin(self) -> str:
        return ledger_origin(self.settings)

    def checkpointer(self) -> Checkpointer:
        return Checkpointer(
            self.store, self.auth.keys, self.origin, self.settings.checkpoint_seconds
        )

    @property
    def calendar(self) -> Calendar:
        return Calendar.of(self.settings)

    def pusher(self) -> Pusher:
        sender = Sender(private=self.settings.webhook_private_hosts)
        return Pusher(self.store, self.auth.keys, sender, self.settings.poll_seconds)

    def presence(self, *, serves: bool = True) -> Presence:
        return Presence(self.store, serves, works=not serves or self.settings.embedded_worker)

    def worker(self) -> Worker:
        parts = self.store, self.platform, self.auth.keys, self.settings
        return Worker(*parts, moved=self.following.moved)


async def _service(request: Request) -> Service:
    return cast("Service", request.app.state.service)


ServiceDep = Annotated[Service, Depends(_service)]


def _reading(service: ServiceDep) -> Iterator[Session]:
    with service.store.read() as session:
        yield session


ReadDep = Annotated[Session, Depends(_reading)]
