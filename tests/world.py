"""The real thing, started for a test: a service on a socket, its database, and its people."""

import base64
import os
import secrets
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import uvicorn
from joserfc.jwk import OKPKey
from starlette.types import ASGIApp

from api.app.app import create_app
from api.app.compose import make_simulated_platform
from api.app.container import Container, build_container
from api.db import Store
from api.kernel.settings import Settings
from api.kinds.context import AuditContext, in_process_context
from api.operations.setup import register_first
from api.platforms.interfaces import Platform
from auditor_client import Auditor, Regulator
from tests.databases import prepare


@dataclass
class Deployment:
    """One running service, and a regulator who knows it."""

    url: str
    service: Container
    regulator: Regulator
    operator_id: str
    operator_key: OKPKey
    clients: ExitStack

    def auditor(self, epsilon: str = "100", **mandate: Any) -> Auditor:
        """A new auditor with one researcher and a mandate; `epsilon="0"` for none."""
        organisation = self.regulator.auditors.add(f"Lab {secrets.token_hex(4)}")
        if epsilon != "0":
            self.grant(organisation.id, epsilon, **mandate)
        return self.researcher(organisation.id)

    def researcher(self, auditor_id: str) -> Auditor:
        key = OKPKey.generate_key("Ed25519")
        person = self.regulator.researchers.add(
            name="Ada", auditor_id=auditor_id, jwk=key.as_dict(private=False)
        )
        return self.clients.enter_context(Auditor(self.url, person.id, key))

    def grant(self, auditor_id: str, epsilon: str, **mandate: Any) -> None:
        window = {
            "valid_from": datetime.now(UTC) - timedelta(days=1),
            "valid_until": datetime.now(UTC) + timedelta(days=1),
        }
        self.regulator.mandates.grant(
            auditor_id=auditor_id, purpose="test", epsilon_limit=epsilon, **(window | mandate)
        )


_GIVEN: set[int] = set()


def free_port() -> int:
    """Return a port that was not given before: its user may start to listen later.

    It is below the system's ephemeral ports (and above Ray's); every process of pytest has its own.
    """
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    while True:
        port = 20_000 + 3_000 * (worker % 4) + secrets.randbelow(3_000)
        if port not in _GIVEN and _is_free(port):
            _GIVEN.add(port)
            return port


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def make_settings(database_url: str, url: str, **overrides: Any) -> Settings:
    fast = {"lease_seconds": 2.0, "poll_seconds": 0.05, "checkpoint_seconds": 0.1}
    key = base64.urlsafe_b64encode(secrets.token_bytes(32)).decode()
    settings = Settings(
        database_url=database_url, issuer=url, key_encryption_key=key, **(fast | overrides)
    )
    if "person_lifetime_rho" in overrides:
        return settings
    # Tests ask for counts with hardly any noise on them, of the same few people: more than anybody
    # may bear. No setting can do this.
    return settings.model_copy(update={"person_lifetime_rho": Decimal(1_000_000)})


@contextmanager
def serving(service: Container, port: int) -> Iterator[None]:
    """The service on a real socket, in a thread."""
    with listening(create_app(service), port):
        yield


@contextmanager
def listening(app: ASGIApp, port: int, **options: Any) -> Iterator[None]:
    config = uvicorn.Config(
        app, host="127.0.0.1", port=port, log_config=None, server_header=False, **options
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive(), "the service did not start"
            time.sleep(0.01)
        yield
    finally:
        server.should_exit = True
        thread.join()


@contextmanager
def deployed(
    database_url: str, on: Platform | AuditContext, **overrides: Any
) -> Iterator[Deployment]:
    """A migrated, running deployment with a regulator and an operator."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    settings = make_settings(database_url, url, **overrides)
    store = Store(database_url)
    prepare(store)
    keys = {role: OKPKey.generate_key("Ed25519") for role in ("regulator", "operator")}
    ids = {
        role: register_first(store, role, key.as_dict(private=False)) for role, key in keys.items()
    }
    store.close()
    context = on if isinstance(on, AuditContext) else in_process_context(on)
    service = build_container(settings, context.platform, context.engine)
    # A busy machine makes parts late: tests after that need not wait for ten minutes.
    service.matcher.pace.level_seconds = 1.0
    with serving(service, port), ExitStack() as clients:
        regulator = clients.enter_context(Regulator(url, ids["regulator"], keys["regulator"]))
        yield Deployment(url, service, regulator, ids["operator"], keys["operator"], clients)


def sqlite_url(folder: Path) -> str:
    return f"sqlite:///{folder / 'service.sqlite'}"


def small_platform(*, bias: bool = False) -> Platform:
    return make_simulated_platform(bias=bias, people=6_000, seed=7)
