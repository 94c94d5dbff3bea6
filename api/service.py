"""One deployment's parts, built once and handed to every route."""

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated, cast

from fastapi import Depends, Request
from sqlmodel import Session

from api.auth import Auth
from api.platform import Platform
from api.settings import Settings
from api.store import Store
from api.worker import Worker


@dataclass(frozen=True)
class Service:
    settings: Settings
    store: Store
    platform: Platform
    auth: Auth
    # Set when an audit was charged, so that an embedded worker need not wait for its next look.
    charged: threading.Event = field(default_factory=threading.Event)

    def worker(self) -> Worker:
        return Worker(self.store, self.platform, self.auth.keys, self.settings)


def _service(request: Request) -> Service:
    return cast("Service", request.app.state.service)


ServiceDep = Annotated[Service, Depends(_service)]


def _reading(service: ServiceDep) -> Iterator[Session]:
    with service.store.read() as session:
        yield session


ReadDep = Annotated[Session, Depends(_reading)]
