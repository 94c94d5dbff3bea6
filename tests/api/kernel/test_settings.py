"""Settings: the environment over the file, unknown keys refused, secrets never shown."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from api.kernel.settings import Settings, load_settings
from api.operations.setup import write_settings

SECRET = "c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0LTMyYnl0ZXM"
PASSWORD = "hunter2"
DATABASE = f"postgresql+psycopg://auditor:{PASSWORD}@db.example/auditor"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "platform-auditor.toml"
    write_settings(file, DATABASE, "https://audit.example/", SECRET.encode())
    return file


def add(path: Path, text: str) -> Path:
    path.write_text(path.read_text() + text)
    return path


def test_a_written_file_is_read_back_and_only_its_owner_may(path: Path) -> None:
    settings = load_settings(path)
    assert settings.database_url == DATABASE
    assert settings.issuer == "https://audit.example"
    assert settings.key_encryption_key.get_secret_value() == SECRET
    assert path.stat().st_mode & 0o777 == 0o600
    with pytest.raises(FileExistsError):
        write_settings(path, DATABASE, "https://audit.example", b"other")


@pytest.mark.parametrize(
    "line", ["lease_second = 3.0", "noise_scale = 0.1", "[outside_issuer]\nisuer = 'x'"]
)
def test_an_unknown_key_is_refused(path: Path, line: str) -> None:
    with pytest.raises(ValidationError):
        load_settings(add(path, line + "\n"))


@pytest.mark.parametrize(
    "line",
    [
        "lease_seconds = 0.0",
        "lease_seconds = 1e9",
        "poll_seconds = 0",
        "members_kept_days = 31",
        "requests_per_minute = 0",
        "burst = 0",
        "max_members = 0",
        "issuer = 'audit.example'",
        "trusted_proxies = ['proxy.internal']",
        "heartbeat_seconds = 0",
        "heartbeat_seconds = 60",
        "metrics_port = 0",
    ],
)
def test_a_value_out_of_its_range_is_refused(path: Path, line: str) -> None:
    name = line.partition(" ")[0]
    kept = [text for text in path.read_text().splitlines() if not text.startswith(name)]
    path.write_text("\n".join([*kept, line]) + "\n")
    with pytest.raises(ValidationError):
        load_settings(path)


def test_the_environment_comes_before_the_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add(path, "lease_seconds = 3.0\nburst = 7\n")
    monkeypatch.setenv("PLATFORM_AUDITOR_LEASE_SECONDS", "9")
    monkeypatch.setenv("PLATFORM_AUDITOR_DATABASE_URL", "sqlite:///other.sqlite")
    monkeypatch.setenv("PLATFORM_AUDITOR_PLATFORM_OPTIONS", '{"people": 5}')
    settings = load_settings(path)
    assert (settings.lease_seconds, settings.burst) == (9, 7)
    assert settings.database_url == "sqlite:///other.sqlite"
    assert settings.platform_options == {"people": 5}
    assert load_settings(path, lease_seconds=2).lease_seconds == 2


def test_a_part_of_an_issuer_can_come_from_the_environment(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLATFORM_AUDITOR_OUTSIDE_ISSUER__ISSUER", "https://id.example")
    monkeypatch.setenv("PLATFORM_AUDITOR_OUTSIDE_ISSUER__AUDIENCE", "audit")
    outside = load_settings(path).outside_issuer
    assert outside is not None
    assert (outside.issuer, outside.claim) == ("https://id.example", "sub")


def test_everything_may_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValidationError):
        load_settings()
    monkeypatch.setenv("PLATFORM_AUDITOR_DATABASE_URL", DATABASE)
    monkeypatch.setenv("PLATFORM_AUDITOR_ISSUER", "http://127.0.0.1:8000")
    monkeypatch.setenv("PLATFORM_AUDITOR_KEY_ENCRYPTION_KEY", SECRET)
    assert load_settings().database_url == DATABASE


def test_settings_do_not_change(path: Path) -> None:
    settings = load_settings(path)
    with pytest.raises(ValidationError):
        settings.lease_seconds = 1  # type: ignore[misc]


def test_secrets_are_not_shown(path: Path) -> None:
    settings = load_settings(path)
    for shown in (repr(settings), str(settings), f"{settings!r}"):
        assert SECRET not in shown
        assert PASSWORD not in shown
    assert SECRET not in settings.model_dump_json()


@pytest.mark.parametrize("changes", [{"lease_seconds": "soon"}, {"isuer": "x"}, {"issuer": 5}])
def test_a_complaint_about_one_setting_does_not_show_another(
    path: Path, changes: dict[str, Any]
) -> None:
    with pytest.raises(ValidationError) as complaint:
        load_settings(path, **changes)
    assert SECRET not in str(complaint.value)
    assert PASSWORD not in str(complaint.value)


def test_a_misspelt_secret_is_not_printed_either() -> None:
    with pytest.raises(ValidationError) as complaint:
        Settings(key_encription_key=SECRET, database_url=DATABASE)  # type: ignore[call-arg]
    assert SECRET not in str(complaint.value)
    assert PASSWORD not in str(complaint.value)
