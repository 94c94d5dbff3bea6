"""Many uploads at once: a few wait for each other, the others are refused, nobody else waits."""

import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import httpx2
import pyarrow as pa
import pytest
from sqlmodel import col, select

from api.db import PartRow
from api.platforms.interfaces import Persons, Platform
from tests.conftest import new_postgresql
from tests.durability.processes import until
from tests.durability.slow_platform import SlowPlatform
from tests.system.raw import SALT, Raw, csv, raw
from tests.world import Deployment, deployed

# More than the server has threads.
MANY, AT_ONCE = 44, 2
# Uploads and sealings that one auditor may have in progress.
IN_PROGRESS = 2 * AT_ONCE


class HeldPeople(SlowPlatform):
    """Matching, and saying who confirmed, wait until let go; how many wait is counted."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, 0.0)
        self.let_go = threading.Event()
        self.lock = threading.Lock()
        self.now = self.most = 0

    def match(self, kind: str, identifiers: pa.Array) -> Persons:
        self.hold()
        return super().match(kind, identifiers)

    def confirmed(self, code: str) -> Persons:
        self.hold()
        return super().confirmed(code)

    def hold(self) -> None:
        with self.lock:
            self.now += 1
            self.most = max(self.most, self.now)
        assert self.let_go.wait(60)
        with self.lock:
            self.now -= 1


@pytest.fixture
def people(tmp_path: Path) -> HeldPeople:
    return HeldPeople(tmp_path)


@pytest.fixture
def busy(postgresql: str, people: HeldPeople) -> Iterator[Deployment]:
    """On PostgreSQL, where writers do not wait for each other anyhow."""
    platform = Platform("held", people=people, scores=people)
    settings = {"uploads_at_once": AT_ONCE, "console": False, "embedded_worker": False}
    with deployed(new_postgresql(postgresql), platform, **settings) as running:
        yield running


def unmatched(busy: Deployment) -> bool:
    """Whether a part that was accepted is not matched yet."""
    with busy.service.store.read() as session:
        claimed = select(PartRow.number).where(col(PartRow.claim).is_not(None))
        return session.exec(claimed).first() is not None


def done(working: list[Future[httpx2.Response]]) -> int:
    return sum(each.done() for each in working)


@pytest.mark.parametrize("step", ["upload", "seal"])
def test_a_few_wait_and_the_others_are_refused_at_once(
    busy: Deployment, people: HeldPeople, step: str
) -> None:
    me = raw(busy, busy.auditor())
    draft = {"groups": ["g0"], "confirmed": True}
    made = [me.made("/v1/audiences", draft)["id"] for _ in range(MANY)]
    if step == "seal":
        people.let_go.set()
        for each in made:
            assert me.put(each, "g0", csv(["ada"])).is_success
        until(lambda: not unmatched(busy), "all parts to be matched")
        people.let_go.clear()
        people.most = 0
    wide = httpx2.Limits(max_connections=None)
    headers, patience = me.http.headers, httpx2.Timeout(60)
    with (
        httpx2.Client(base_url=busy.url, headers=headers, timeout=patience, limits=wide) as many,
        ThreadPoolExecutor(MANY) as clients,
    ):

        def work(audience_id: str) -> httpx2.Response:
            if step == "upload":
                return Raw(many).put(audience_id, "g0", csv(["ada"]))
            return Raw(many).post(f"/v1/audiences/{audience_id}/seal", {"salt": SALT})

        working = [clients.submit(work, each) for each in made]
        try:
            until(lambda: people.now == AT_ONCE, f"some to {step}")
            until(lambda: done(working) == MANY - IN_PROGRESS, "the others to be refused")
            assert len(me.get("/v1/audiences").json()["items"]) == MANY
        finally:
            people.let_go.set()
        answers = Counter(each.result().status_code for each in working)
        assert answers == {200: IN_PROGRESS, 429: MANY - IN_PROGRESS}
        for refused in (each.result() for each in working if not each.result().is_success):
            assert int(refused.headers["retry-after"]) > 0
    # Number of parts accepted and matched concurrently.
    assert people.most <= (2 if step == "upload" else 1) * AT_ONCE
