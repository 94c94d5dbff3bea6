"""The locks in step with pyproject.toml, and the checker that says when it is not."""

import re
from pathlib import Path

import pytest

from tests import lock


@pytest.fixture
def copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the files, which the checker looks at instead."""
    for name in ("pyproject.toml", lock.FULL.file, lock.DEMO.file):
        (tmp_path / name).write_text((lock.ROOT / name).read_text())
    monkeypatch.setattr(lock, "ROOT", tmp_path)
    return tmp_path


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert re.search(old, text)
    path.write_text(re.sub(old, new, text, count=1))


def test_the_locks_are_in_step() -> None:
    assert lock.drift() == []
    assert len(lock.FULL.versions()) > 2 * len(lock.DEMO.versions()) > 100


@pytest.mark.parametrize("file", [lock.FULL.file, lock.DEMO.file])
def test_every_locked_file_has_a_hash(file: str) -> None:
    lines = (lock.ROOT / file).read_text().splitlines()
    pinned = [n for n, line in enumerate(lines) if line[:1].isalnum()]
    assert all("==" in lines[n] and "--hash=sha256:" in lines[n + 1] for n in pinned)


def test_a_new_requirement_is_missed(copy: Path) -> None:
    change(copy / "pyproject.toml", r'"fastapi>=', '"a-new-one>=1.1",\n    "fastapi>=')
    assert lock.drift() == ["a-new-one>=1.1"]


def test_a_requirement_of_the_base_and_of_the_developers_counts_too(copy: Path) -> None:
    change(copy / "pyproject.toml", r'"rich>=14"', '"rich>=14", "a-new-one"')
    change(copy / "pyproject.toml", r'"ruff>=[0-9.]+"', '"ruff>=99"')
    assert lock.drift() == ["a-new-one", "ruff>=99"]


def test_a_raised_bound_is_missed(copy: Path) -> None:
    change(copy / "pyproject.toml", r"pyarrow>=\d+", "pyarrow>=9999")
    assert lock.drift() == ["pyarrow>=9999"]


@pytest.mark.parametrize("file", [lock.FULL.file, lock.DEMO.file])
def test_a_package_that_fell_out_of_a_lock_is_missed(copy: Path, file: str) -> None:
    change(copy / file, r"(?m)^opendp==.*\n( .*\n)*", "")
    assert {name.partition("=")[0].rstrip(">") for name in lock.drift()} == {"opendp"}


def test_a_version_that_only_the_demo_has_is_found(copy: Path) -> None:
    change(copy / lock.DEMO.file, r"(?m)^rich==\S+", "rich==9999")
    assert lock.drift() == ["rich==9999"]


def test_what_builds_the_project_is_in_both_locks(copy: Path) -> None:
    change(copy / "pyproject.toml", r'"hatchling>=[0-9.]+"', '"hatchling>=9999"')
    assert lock.drift() == ["hatchling>=9999"]


def test_names_are_compared_as_pip_compares_them(copy: Path) -> None:
    change(copy / "pyproject.toml", r"pydantic-settings", "Pydantic_Settings")
    assert lock.drift() == []
