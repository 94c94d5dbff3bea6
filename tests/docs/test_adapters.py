"""The guide to adapters: its adapter runs as printed, and gets nothing wrong."""

import os
import re
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from api.platforms.conformance import examine, subject_of
from api.platforms.conformance.subject import array_of
from api.platforms.fault_isolation import PlatformDownError
from api.platforms.files.onnx_platform import OnnxOptions
from api.platforms.http import HttpPlatform
from api.platforms.http.client import AdapterClientOptions
from api.platforms.http.public_facts import Facts
from api.platforms.http.server import CALLS
from tests.world import free_port

ADAPTER = Path(__file__).parents[2] / "docs/examples/adapter.py"
GUIDE = (Path(__file__).parents[2] / "docs/how-to/platforms/write-an-adapter.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", GUIDE, re.DOTALL | re.MULTILINE)


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[AdapterClientOptions]:
    """The guide's adapter, in a process of its own that has nothing of ours."""
    port = free_port()
    environment = {**os.environ, "ADAPTER_TOKEN": "correct horse", "PORT": str(port)}
    process = subprocess.Popen([sys.executable, "-I", str(ADAPTER)], env=environment, cwd=tmp_path)
    try:
        yield AdapterClientOptions(url=f"http://127.0.0.1:{port}", token="correct horse")
    finally:
        process.terminate()
        process.wait()


def reached(connection: AdapterClientOptions) -> HttpPlatform:
    until = time.monotonic() + 60
    while True:
        try:
            return HttpPlatform.at(
                connection.url, token=connection.token, attempts=1, rest_seconds=0
            )
        except PlatformDownError:
            assert time.monotonic() < until
            time.sleep(0.1)


def test_the_adapter_of_the_guide_gets_nothing_wrong(connection: AdapterClientOptions) -> None:
    names = array_of("username", [f"user{i}" for i in range(0, 900, 30)])
    with closing(reached(connection)) as platform:
        subject = subject_of(platform, {"username": names}, connection=connection)
        found = list(examine(subject))
    assert [each for each in found if each.outcome in ("failed", "warning")] == []
    tried = {each.check for each in found if each.outcome == "ok"}
    assert {"match-is-stable", "score-does-not-depend-on-the-batch", "sample-is-random"} <= tried
    assert {"strangers-are-refused", "garbage-is-refused"} <= tried


def test_the_facts_of_the_guide_are_facts() -> None:
    [shown] = blocks("json")
    digests = re.sub(r"sha256:…[^\"]*", "sha256:" + 64 * "0", shown)
    facts = Facts.model_validate_json(digests)
    assert facts.scores
    assert facts.logs


def test_the_settings_of_the_guide_are_settings() -> None:
    by_http, as_files = (tomllib.loads(block) for block in blocks("toml"))
    assert by_http["platform"] == "http"
    assert AdapterClientOptions(**by_http["platform_options"])
    assert as_files["platform"] == "onnx"
    assert OnnxOptions(**as_files["platform_options"])


def test_the_guide_names_every_call() -> None:
    table = set(re.findall(r"^\| `(\w+)` \|", GUIDE, re.MULTILINE)) - {"http", "onnx"}
    assert table == set(CALLS)
