"""The wheel contains five whole packages, and nothing else."""

from configparser import ConfigParser
from email import message_from_bytes
from email.message import Message
from pathlib import Path
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement

from tests.lock import ROOT

PACKAGES = {"api", "auditor_client", "openapi", "platform_sim", "privacy"}
SERVER = {"alembic", "authlib", "fastapi", "opendp", "psycopg", "sqlmodel", "uvicorn"}


@pytest.fixture(scope="module")
def names(wheel: Path) -> set[str]:
    with ZipFile(wheel) as archive:
        return set(archive.namelist())


def read(wheel: Path, ending: str) -> bytes:
    with ZipFile(wheel) as archive:
        [name] = [name for name in archive.namelist() if name.endswith(f".dist-info/{ending}")]
        return archive.read(name)


@pytest.fixture(scope="module")
def metadata(wheel: Path) -> Message:
    return message_from_bytes(read(wheel, "METADATA"))


def test_the_wheel_has_exactly_the_five_packages(names: set[str]) -> None:
    tops = {name.partition("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == PACKAGES
    assert len(tops) == len(PACKAGES) + 1


def test_the_packages_are_whole(names: set[str]) -> None:
    on_disk = {
        path.relative_to(ROOT).as_posix()
        for package in PACKAGES
        for path in (ROOT / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert {name for name in names if ".dist-info/" not in name} == on_disk
    assert {f"{package}/py.typed" for package in PACKAGES} <= names
    assert "openapi/openapi.json" in names
    assert "api/db/migrations/env.py" in names
    assert "api/db/migrations/script.py.mako" in names
    assert "api/db/migrations/versions/0001_the_first_tables.py" in names


def test_no_tests_benches_docs_or_leftovers(names: set[str]) -> None:
    parts = {part for name in names for part in name.split("/")}
    assert not parts & {"tests", "bench", "docs", "__pycache__", ".venv", "demo-output"}
    assert not [name for name in names if name.endswith((".pyc", ".sqlite", ".jwk", ".log"))]


def test_there_are_two_commands(wheel: Path) -> None:
    parser = ConfigParser()
    parser.read_string(read(wheel, "entry_points.txt").decode())
    assert parser.sections() == ["console_scripts"]
    assert dict(parser["console_scripts"]) == {
        "auditor": "auditor_client.cli.__main__:main",
        "platform-auditor": "api.operations.__main__:main",
    }


def test_the_service_is_an_extra(metadata: Message) -> None:
    wanted = [Requirement(text) for text in metadata.get_all("Requires-Dist", [])]
    base = {requirement.name for requirement in wanted if requirement.marker is None}
    server = {r.name for r in wanted if r.marker and r.marker.evaluate({"extra": "server"})} - base
    assert not base & SERVER
    assert server >= SERVER
    assert {"logs", "ray", "server", "two-party"} <= set(metadata.get_all("Provides-Extra", []))


def test_the_licence_is_in_it(names: set[str], metadata: Message) -> None:
    assert metadata["License-Expression"] == "Apache-2.0"
    assert any(name.endswith("/licenses/LICENSE") for name in names)
