"""One deployment of a history: its database, its servers and workers, and its clients."""

import base64
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from joserfc.jwk import OKPKey

from api.db import Store
from api.operations.setup import register_first, toml, write_settings
from auditor_client import Regulator
from auditor_client.transport.retries import Retries
from tests.databases import prepare
from tests.histories import client
from tests.histories.children import Child, run_service
from tests.histories.client import Researcher
from tests.histories.databases import Database
from tests.histories.history import Counter
from tests.histories.plan import Plan
from tests.histories.proxy import Proxy, proxied
from tests.world import free_port

LEASE = 1.0
POLL = 0.05
SCORE_SECONDS = 0.1
# Each person can be in four audits or so.
PERSON_CAP = "0.8"
# The budgets of the auditors in turn: the second one is too small for all that is asked.
BUDGETS = ("100", "15")
RESEARCHERS = 2
# Nothing takes this many seconds, not even on a busy machine.
PATIENCE = 240.0
# Set when the harness is told to stop: every wait ends then.
STOP = threading.Event()


class StoppedError(Exception):
    """The harness was told to stop."""


@dataclass
class Deployment:
    """Processes that come and go around one database."""

    folder: Path
    database: Database
    proxy: Proxy
    port: int
    ports: dict[str, int]  # of the probes of each process
    regulator_key: OKPKey
    regulator_id: str
    servers: list[Child]
    workers: list[Child]
    clients: list[Child]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def services(self) -> list[Child]:
        return [*self.servers, *self.workers]

    @cached_property
    def counter(self) -> Counter:
        return Counter(tuple(self.folder / f"history-{child.name}" for child in self.clients))

    @property
    def histories(self) -> list[Path]:
        return [self.folder / f"history-{child.name}" for child in self.clients]

    def begin(self) -> None:
        for child in self.services:
            child.start()
        for child in self.services:
            self.wait_for(child)

    def wait_for(self, child: Child) -> None:
        """Wait until a service has started: one whose database is away then would end."""
        port = self.ports[child.name]
        until(lambda: _answers(port), f"{child.name} to answer")

    def regulator(self) -> Regulator:
        retries = Retries(attempts=10)
        return Regulator(self.url, self.regulator_id, self.regulator_key, retries=retries)

    def enrol(self, plan: Plan, mistake: str | None) -> None:
        """Register auditors with mandates and researchers, and make a client of each researcher."""
        for number, operations in enumerate(plan.operations):
            auditor, member = divmod(number, RESEARCHERS)
            if member == 0:
                auditor_id = self._add_auditor(BUDGETS[auditor % len(BUDGETS)])
            name = f"client-{auditor}-{member}"
            who = self._add_researcher(name, auditor_id, keyless=member > 0)
            given = (who, operations, plan.each, mistake)
            self.clients.append(Child(name, self.folder, client.run, given))

    def _add_auditor(self, budget: str) -> str:
        with self.regulator() as regulator:
            organisation = regulator.auditors.add(f"Lab {secrets.token_hex(4)}")
            regulator.mandates.grant(
                organisation.id,
                purpose="test",
                epsilon_limit=budget,
                valid_from=datetime.now(UTC) - timedelta(days=1),
                valid_until=datetime.now(UTC) + timedelta(days=1),
            )
        return organisation.id

    def _add_researcher(self, name: str, auditor_id: str, *, keyless: bool) -> Researcher:
        key = OKPKey.generate_key("Ed25519")
        public = dict(self.regulator_key.as_dict(private=False))
        with self.regulator() as regulator:
            person = regulator.researchers.add(
                name, auditor_id=auditor_id, jwk=key.as_dict(private=False)
            )
        private = dict(key.as_dict(private=True))
        return Researcher(name, person.id, private, self.url, (self.regulator_id, public), keyless)

    def end(self) -> None:
        for child in [*self.clients, *self.services]:
            child.kill()


@contextmanager
def deployed(folder: Path, database: Database, mistake: str | None) -> Iterator[Deployment]:
    """Prepare a deployment, and end all its processes when the block ends."""
    folder.mkdir()
    store = Store(database.url)
    prepare(store)
    key = OKPKey.generate_key("Ed25519")
    regulator_id = register_first(store, "regulator", key.as_dict(private=False))
    store.close()
    port, ports = free_port(), [free_port() for _ in range(database.servers)]
    probes = [free_port() for _ in range(database.workers)]
    _write_settings(folder, database, port)
    servers = [
        Child(f"server-{number}", folder, run_service, (["serve", "--port", str(own)], mistake))
        for number, own in enumerate(ports)
    ]
    workers = [
        Child(
            f"worker-{number}",
            folder,
            run_service,
            (["worker", "--metrics-port", str(own)], mistake),
        )
        for number, own in enumerate(probes)
    ]
    names = [child.name for child in (*servers, *workers)]
    known = dict(zip(names, (*ports, *probes), strict=True))
    with ExitStack() as stack:
        proxy = stack.enter_context(proxied(port, ports))
        deployment = Deployment(
            folder, database, proxy, port, known, key, regulator_id, servers, workers, []
        )
        stack.callback(deployment.end)
        deployment.begin()
        yield deployment


def _write_settings(folder: Path, database: Database, port: int) -> None:
    file, key = folder / "settings.toml", base64.urlsafe_b64encode(secrets.token_bytes(32))
    url, platform = f"http://127.0.0.1:{port}", "tests.histories.platform:make"
    write_settings(file, database.url, url, key, platform=platform)
    fields = {
        "embedded_worker": database.embedded_worker,
        "lease_seconds": LEASE,
        "poll_seconds": POLL,
        "checkpoint_seconds": 0.2,
        "person_lifetime_rho": PERSON_CAP,
        "requests_per_minute": 1_000_000,
        "burst": 1_000_000,
        "platform_options": {"folder": str(folder), "seconds": SCORE_SECONDS},
    }
    file.write_text(file.read_text() + toml(fields))


def _answers(port: int) -> bool:
    try:
        with urlopen(f"http://127.0.0.1:{port}/healthz", timeout=5):
            return True
    except (URLError, OSError):
        return False


def until(condition: Callable[[], object], what: str, seconds: float = PATIENCE) -> None:
    """Wait for a condition; raise `TimeoutError` if it does not come about."""
    if not came(condition, seconds):
        raise TimeoutError(f"waited too long for {what}")


def came(condition: Callable[[], object], seconds: float) -> bool:
    """Wait for a condition for up to this many seconds; return whether it came about."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        pause(0.02)
    return True


def pause(seconds: float) -> None:
    """Sleep; raise `StoppedError` if the harness is told to stop meanwhile."""
    if STOP.wait(seconds):
        raise StoppedError
