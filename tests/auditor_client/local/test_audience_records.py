import stat
from pathlib import Path

import pytest

from auditor_client.errors import ProfileError
from auditor_client.local.audience_records import Record, load_record, names_for, save_record
from tests.auditor_client.examples import AUDIENCE_ID
from tests.refusals import refuses


def test_a_record_comes_back_in_another_process(home: Path) -> None:
    record = Record(
        {"g0": "männer", "g1": "frauen"}, b"\x00salt", "sha256:00", {"g0": 100, "g1": 7}
    )
    save_record(AUDIENCE_ID, record)
    assert load_record(AUDIENCE_ID) == record
    (path,) = (home / "audiences").iterdir()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_an_audience_of_another_machine_has_no_names() -> None:
    assert load_record(AUDIENCE_ID) is None
    assert names_for(AUDIENCE_ID) == {}


@pytest.mark.parametrize("name", ["../profiles", "audience_", "audience_" + "b" * 30 + "/x"])
def test_an_identifier_is_never_a_path(name: str) -> None:
    with pytest.raises(ProfileError):
        save_record(name, Record({}))


def test_the_salt_is_not_printed() -> None:
    assert "secret" not in repr(Record({}, b"secret"))


def test_a_broken_record_is_reported(home: Path) -> None:
    save_record(AUDIENCE_ID, Record({}))
    (home / "audiences" / f"{AUDIENCE_ID}.json").write_text("{}")
    with refuses(ProfileError, "unreadable"):
        load_record(AUDIENCE_ID)
