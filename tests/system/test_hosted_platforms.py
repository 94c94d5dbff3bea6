"""Audits of platforms hosted as real ones are, by HTTP and as files: the same verdicts."""

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from api.app.compose import export_platform_files
from api.platforms.http import OnnxPlatform, digest_of
from api.platforms.interfaces import Platform
from platform_sim import SOFTWARE_JOB, SimulatedPlatform, recruit
from tests.api.platforms.http.adapters import over_http
from tests.system.adapters import GOSSIP
from tests.system.raw import raw, refused
from tests.world import deployed, sqlite_url


@contextmanager
def through(way: str, platform: Platform, folder: Path) -> Iterator[Platform]:
    """The same platform as the service would reach it."""
    if way == "http":
        with over_http(platform, people_per_call=500) as far:
            yield far
        return
    files = export_platform_files(platform, folder)
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


class Refusing:
    """People who are not sampled, in one way or another."""

    def __init__(self, inner: Any) -> None:
        self.inner, self.how = inner, ""

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def offers(self) -> Any:
        if self.how == "offers":
            raise OSError(GOSSIP)
        return self.inner.offers()

    def sample(self, attribute: str, sizes: Any, rng: Any) -> Any:
        if self.how == "sample":
            raise OSError(GOSSIP)
        drawn = self.inner.sample(attribute, sizes, rng)
        return {"woman": drawn["woman"]} if self.how == "half of it" else drawn


@pytest.mark.parametrize("way", ["http", "in process"])
def test_a_sample_that_the_platform_does_not_draw_is_an_outage(
    way: str, platform: Platform, tmp_path: Path
) -> None:
    refusing = Refusing(platform.people)
    few = replace(platform, people=refusing, logs=None, policies=None)
    body = {
        "attribute": "gender",
        "groups": [
            {"label": f"g{n}", "value": v, "size": 9} for n, v in enumerate(("woman", "man"))
        ],
    }
    with ExitStack() as stack:
        far = stack.enter_context(over_http(few, facts_seconds=0)) if way == "http" else few
        deployment = stack.enter_context(deployed(sqlite_url(tmp_path), far, console=False))
        me = raw(deployment, deployment.auditor())
        assert me.post("/v1/audiences/samples", body).is_success
        for refusing.how in ("sample", "half of it", "offers"):
            answer = me.post("/v1/audiences/samples", body)
            refused(answer, "unavailable")
            assert GOSSIP not in answer.text
            assert "retry-after" in answer.headers


@pytest.mark.full
@pytest.mark.parametrize("way", ["http", "onnx"])
def test_the_demo_runs_through_either(way: str, tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "api.operations.cli",
        "demo",
        "--folder",
        str(tmp_path / "demo"),
    ]
    done = subprocess.run(
        [*command, "--through", way], capture_output=True, text=True, timeout=280, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.findall(r"Verdict\s+(\w+)", done.stdout) == ["fair", "unfair"]
