"""Scraping logs: a reader of the process's output learns no name and no score."""

import io
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from fastapi.testclient import TestClient

from api.app.app import create_app
from api.app.container import build_container
from api.db import Store
from api.db.schema import migrate
from api.platforms.interfaces import Platform
from api.telemetry.logging import JsonLines
from platform_sim import SimulatedPlatform, World
from tests.attacks.conftest import REAL
from tests.attacks.outside import HISTOGRAM, run
from tests.system.adapters import GOSSIP, Faulty, Gossips
from tests.system.raw import SALT, csv, raw, request_for, usernames
from tests.world import Deployment, deployed, make_settings, sqlite_url

# Words that only private data have: the adapter puts them into its errors.
PRIVATE = ("gossip.victim", "471147114711", "0.123456789", GOSSIP)


class Quoting(Faulty):
    """Besides, cannot say which model it is once it has scored, and quotes somebody."""

    @property
    def model_digest(self) -> str:
        if self.seen:
            raise RuntimeError(GOSSIP)
        return super().model_digest


@pytest.fixture(scope="module")
def gossiping(
    tmp_path_factory: pytest.TempPathFactory, platform: Platform, world: World
) -> Iterator[Deployment]:
    """A platform whose adapter breaks on certain people and quotes them."""
    assert isinstance(platform.people, SimulatedPlatform)
    assert platform.scores is not None
    scores = Quoting(platform.scores, victim=int(world.directory.holders("username")[0]))
    faulty = Platform("gossiping", Gossips(platform.people), scores)
    url = sqlite_url(tmp_path_factory.mktemp("gossiping"))
    settings = REAL | {"lease_seconds": 0.001}
    with deployed(url, faulty, **settings) as running:
        yield running


@contextmanager
def scraped(formatter: logging.Formatter) -> Iterator[io.StringIO]:
    """All that is logged meanwhile, at every level, by everybody."""
    text = io.StringIO()
    handler = logging.StreamHandler(text)
    handler.setFormatter(formatter)
    root = logging.getLogger()
    before = root.level
    root.setLevel(logging.DEBUG)
    root.addHandler(handler)
    try:
        yield text
    finally:
        root.removeHandler(handler)
        root.setLevel(before)


def cause_trouble(deployment: Deployment, world: World) -> list[str]:
    """Errors at matching and at scoring; the names that were uploaded."""
    me, names = raw(deployment, deployment.auditor()), usernames(world, 10)
    audience = me.audience({"g0": names})
    for title in ("raises", "words", "down"):
        body = request_for(me.content(title=title), audience, kind=HISTOGRAM, epsilon="0.01")
        assert me.submit(body).is_success
        run(deployment)
    opened = me.audience({"g0": [*names, "gossip.victim"]}, seal=False)
    me.post(f"/v1/audiences/{opened['id']}/seal", {"salt": SALT})
    me.put(opened["id"], "g0", csv([*names, "two words"]))
    me.get(f"/v1/audiences/{names[0]}", params={"name": names[1]})
    return names


def leaks(text: str, names: list[str]) -> set[str]:
    return {word for word in (*PRIVATE, *names) if word in text}


def test_our_logs_hold_nothing_private(gossiping: Deployment, world: World) -> None:
    with scraped(JsonLines()) as text:
        names = cause_trouble(gossiping, world)
    lines = text.getvalue()
    assert '"event": "audit.error"' in lines
    assert '"exception": "RuntimeError"' in lines
    assert leaks(lines, names) == set()


def test_a_failed_start_is_reported_without_secrets(tmp_path: Path, platform: Platform) -> None:
    assert platform.scores is not None
    scores = Quoting(platform.scores, seen=[np.array([471147114711])])
    url = sqlite_url(tmp_path)
    migrate(Store(url))
    service = build_container(
        make_settings(url, "http://127.0.0.1:1"), Platform("mute", platform.people, scores)
    )
    with scraped(JsonLines()) as text, pytest.raises(RuntimeError), TestClient(create_app(service)):
        pass
    assert '"event": "start.failed"' in text.getvalue()
    assert leaks(text.getvalue(), []) == set()


def test_ordinary_logs_would_hold_it(gossiping: Deployment, world: World) -> None:
    """The twin: the formatter that everybody uses, which prints messages of exceptions."""
    with scraped(logging.Formatter("%(asctime)s %(name)s %(message)s")) as text:
        names = cause_trouble(gossiping, world)
    assert leaks(text.getvalue(), names) >= {"gossip.victim", "471147114711", "0.123456789"}
