"""A deployment of real processes that can be killed, and the ledger that they leave behind."""

import base64
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from joserfc.jwk import OKPKey
from sqlmodel import col, select

from api.app.container import Container, build_container
from api.db import AuditRow, ChargeRow, EntryRow, MandateRow, ReleaseRow, ResearcherRow, Store
from api.identity.caller import Caller, load_caller
from api.kernel.settings import load_settings
from api.operations.setup import register_first, toml, write_settings
from api.platforms.interfaces import Platform
from auditor_client import Auditor, Regulator
from auditor_client.transport.retries import Retries
from openapi.resources import ScoreHistogramRequest
from tests.databases import prepare
from tests.durability import slow_platform
from tests.world import free_port, serving

LEASE = 1.0
PATIENCE = 60.0
# A size that is known: one audit of this costs 2 · 0.5 and nothing for its sizes.
EPSILON = "0.5"
PRICE = Fraction(1)

Process = subprocess.Popen[bytes]


@dataclass
class Host:
    """Settings, a database and a folder to signal through; processes come and go."""

    folder: Path
    store: Store
    port: int
    regulator_key: OKPKey
    regulator_id: str
    stack: ExitStack
    processes: list[Process] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    # --- processes

    def start(self, *command: str) -> Process:
        config = str(self.folder / "settings.toml")
        line = [sys.executable, "-m", "api.operations.cli", *command, "--config", config]
        log = self.stack.enter_context((self.folder / "log").open("ab"))
        process = subprocess.Popen(line, stdout=log, stderr=log)
        self.processes.append(process)
        return process

    def serve(self) -> Process:
        process = self.start("serve", "--port", str(self.port))
        until(lambda: self.ready(process), "the API to answer")
        return process

    @contextmanager
    def serving(self) -> Iterator[Container]:
        """The API in this process, where the test does not kill it: quicker to start."""
        service = build_container(load_settings(self.folder / "settings.toml"), self.platform())
        with serving(service, self.port):
            yield service

    def platform(self, folder: Path | None = None) -> Platform:
        return slow_platform.make(str(folder or self.folder))

    def ready(self, process: Process) -> bool:
        assert process.poll() is None, (self.folder / "log").read_text()
        try:
            with urlopen(f"{self.url}/readyz"):
                return True
        except (URLError, ConnectionError):
            return False

    def worker(self) -> Process:
        return self.start("worker")

    def stop(self) -> None:
        """Kill every process that is left, each by its own id."""
        for process in self.processes:
            process.kill()
        for process in self.processes:
            process.wait()

    # --- people

    def auditor(self, budget: Fraction = Fraction(100)) -> Auditor:
        """A researcher of a new auditor with a mandate."""
        with Regulator(self.url, self.regulator_id, self.regulator_key) as regulator:
            organisation = regulator.auditors.add(f"Lab {secrets.token_hex(4)}")
            regulator.mandates.grant(
                organisation.id,
                purpose="test",
                epsilon_limit=str(float(budget)),
                valid_from=datetime.now(UTC) - timedelta(days=1),
                valid_until=datetime.now(UTC) + timedelta(days=1),
            )
            key = OKPKey.generate_key("Ed25519")
            public = key.as_dict(private=False)
            person = regulator.researchers.add("Ada", auditor_id=organisation.id, jwk=public)
        retries = Retries(attempts=12)
        return self.stack.enter_context(Auditor(self.url, person.id, key, retries=retries))

    # --- signals of the slow platform

    def hold(self) -> None:
        (self.folder / "hold").touch()

    def let_go(self) -> None:
        (self.folder / "hold").unlink()

    def began(self, process: Process | None = None) -> int:
        """Count the calls to score that have begun (in one process)."""
        pattern = f"began-{process.pid if process else '*'}-*"
        return len(list(self.folder.glob(pattern)))

    def scorers(self) -> set[str]:
        """The processes that have scored."""
        return {path.name.split("-")[1] for path in self.folder.glob("began-*")}


@contextmanager
def hosted(
    folder: Path, database_url: str, seconds: float = 0.0, **settings: object
) -> Iterator[Host]:
    """A migrated database and settings without an embedded worker; nothing runs yet."""
    store = Store(database_url)
    prepare(store)
    regulator = OKPKey.generate_key("Ed25519")
    regulator_id = register_first(store, "regulator", regulator.as_dict(private=False))
    port = free_port()
    key = base64.urlsafe_b64encode(secrets.token_bytes(32))
    file = folder / "settings.toml"
    platform = "tests.durability.slow_platform:make"
    write_settings(file, database_url, f"http://127.0.0.1:{port}", key, platform=platform)
    fields = {
        "embedded_worker": False,
        "lease_seconds": LEASE,
        "poll_seconds": 0.05,
        "requests_per_minute": 1_000_000,
        "burst": 1_000_000,
        **settings,
        "platform_options": {"folder": str(folder), "seconds": seconds},
    }
    file.write_text(file.read_text() + toml(fields))
    with ExitStack() as stack:
        stack.callback(store.close)
        host = Host(folder, store, port, regulator, regulator_id, stack)
        stack.callback(host.stop)
        yield host


def request(auditor: Auditor) -> ScoreHistogramRequest:
    """An audit at `PRICE` on a fresh sample."""
    content = auditor.contents.upload(kind="job", title="Engineer", text="Build bridges.")
    audience = auditor.audiences.sample("gender", {"woman": 30, "man": 40})
    return auditor.audits.request(content, audience, bins=2, epsilon=EPSILON)


def caller_of(store: Store, auditor: Auditor) -> Caller:
    """The researcher as the service knows them."""
    [mandate] = auditor.budget().mandates
    with store.read() as session:
        query = select(ResearcherRow).where(ResearcherRow.auditor_id == mandate.auditor_id)
        caller = load_caller(session, session.exec(query).one().id)
    assert caller is not None
    return caller


def until(condition: Callable[[], object], what: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, f"waited too long for {what}"
        time.sleep(0.02)


def kill(process: Process) -> None:
    """kill -9: no goodbye, no clean-up."""
    process.send_signal(signal.SIGKILL)
    process.wait()


@dataclass(frozen=True)
class StoredAudits:
    """Everything the database says about money and releases."""

    states: dict[str, str]
    charges: list[ChargeRow]
    mandates: list[MandateRow]
    releases: list[ReleaseRow]
    entries: list[EntryRow]

    @classmethod
    def of(cls, store: Store) -> "StoredAudits":
        with store.read() as session:
            return cls(
                {row.id: row.state for row in session.exec(select(AuditRow))},
                list(session.exec(select(ChargeRow))),
                list(session.exec(select(MandateRow))),
                list(session.exec(select(ReleaseRow))),
                list(session.exec(select(EntryRow).order_by(col(EntryRow.number)))),
            )

    def entries_of(self, kind: str) -> list[EntryRow]:
        return [entry for entry in self.entries if entry.kind == kind]

    def check(self) -> None:
        """Check the invariants that hold after any event."""
        for mandate in self.mandates:
            kept = [c for c in self.charges if c.mandate_id == mandate.id and not c.refunded_at]
            assert mandate.spent == sum((c.debit for c in kept), Fraction(0))
            assert mandate.spent <= mandate.limit
        assert sorted(c.audit_id for c in self.charges) == sorted(self.states)
        assert {r.audit_id for r in self.releases} == {
            audit for audit, state in self.states.items() if state == "released"
        }
        refunded = {c.audit_id for c in self.charges if c.refunded_at}
        assert refunded == {a for a, state in self.states.items() if state == "cancelled"}
        for kind, count in (
            ("charge", len(self.charges)),
            ("release", len(self.releases)),
            ("refund", len(refunded)),
        ):
            assert len(self.entries_of(kind)) == count
        assert [entry.number for entry in self.entries] == list(range(len(self.entries)))
