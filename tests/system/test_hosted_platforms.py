"""Audits of platforms hosted as real ones are, by HTTP and as files: the same verdicts."""

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from api.compose import exported
from api.hosting import OnnxPlatform, digest_of
from api.platform import Platform
from platform_sim import SOFTWARE_JOB, SimulatedPlatform, recruit
from tests.api.hosting.adapters import over_http
from tests.world import deployed, sqlite_url


@contextmanager
def through(way: str, platform: Platform, folder: Path) -> Iterator[Platform]:
    """The same platform as the service would reach it."""
    if way == "http":
        with over_http(platform, people_per_call=500) as far:
            yield far
        return
    files = exported(platform, folder)
    loaded = OnnxPlatform.load(**files)
    assert loaded.scores
    paths = [Path(files["model"]), Path(files["reader_files"]["stems"])]
    assert loaded.scores.model_digest == digest_of(paths)
    yield loaded


@pytest.mark.parametrize("way", ["http", "onnx"])
@pytest.mark.parametrize("verdict", ["fair", "unfair"])
def test_the_verdicts_are_those_of_the_demo(
    way: str, verdict: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    platform = request.getfixturevalue("platform" if verdict == "fair" else "biased_platform")
    assert isinstance(platform.people, SimulatedPlatform)
    platform = replace(platform, logs=None, policies=None)
    frame = recruit(platform.people.world, 1_200, seed=4)
    with (
        through(way, platform, tmp_path) as hosted,
        deployed(sqlite_url(tmp_path), hosted, console=False) as deployment,
    ):
        auditor = deployment.auditor()
        content = auditor.contents.upload(**SOFTWARE_JOB)
        audience = auditor.audiences.upload(frame, id="email", by="gender", where="qualified")
        audit = auditor.audits.run(content, audience, bins=10, epsilon=1.0, progress=False)
        assert audit.fairness_gap(delta=0.05).verdict(alpha=0.2) == verdict
        assert hosted.scores
        assert audit.release.model_digest == hosted.scores.model_digest


@pytest.mark.long
@pytest.mark.parametrize("way", ["http", "onnx"])
def test_the_demo_runs_through_either(way: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "api.cli", "demo", "--folder", str(tmp_path / "demo")]
    done = subprocess.run(
        [*command, "--through", way], capture_output=True, text=True, timeout=280, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.findall(r"Verdict\s+(\w+)", done.stdout) == ["fair", "unfair"]
