"""The worker's handling of an audit that does not finish."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from api.audits.queue import worker
from api.db import AuditRow
from api.kinds.context import in_process_context
from api.platforms.interfaces import Platform
from tests.one_model import OneModel
from tests.world import deployed, sqlite_url


def test_an_audit_that_kills_its_workers_fails_at_last(tmp_path: Path, platform: Platform) -> None:
    with deployed(sqlite_url(tmp_path), platform, embedded_worker=False) as deployment:
        auditor = deployment.auditor()
        content = auditor.contents.upload(kind="job", title="Engineer")
        audience = auditor.audiences.sample("gender", {"woman": 20, "man": 20})
        poison, fine = (
            auditor.audits.submit(auditor.audits.request(content, audience, bins=2, epsilon=0.1))
            for _ in range(2)
        )
        store = deployment.service.store
        with store.write() as session:
            row = session.get_one(AuditRow, poison.id)
            row.claims = worker.MAX_CLAIMS
            session.add(row)
        for _ in range(2):
            deployment.service.worker().run_one()
        assert auditor.audits.state(poison.id).failure == "internal"
        assert auditor.audits.state(fine.id).state == "released"
        assert auditor.audits.state(fine.id).finished_at is not None
        [mandate] = auditor.budget().mandates
        assert mandate.spent == poison.price.debit + fine.price.debit


def test_an_audit_that_was_given_back_keeps_none_of_its_auditors_others(
    tmp_path: Path, platform: Platform
) -> None:
    """One worker lives, so that one audit of an auditor may run at a time."""

    class Down(OneModel):
        def score(self, *asked: Any) -> NDArray[np.float64]:
            raise ConnectionError

    with deployed(
        sqlite_url(tmp_path), platform, embedded_worker=False, lease_seconds=60
    ) as deployment:
        auditor = deployment.auditor()
        content = auditor.contents.upload(kind="job", title="Engineer")
        audience = auditor.audiences.sample("gender", {"woman": 20, "man": 20})
        request = auditor.audits.request(content, audience, bins=2, epsilon=0.1)
        first, second = (auditor.audits.submit(request) for _ in range(2))
        at_work = deployment.service.worker()
        down = in_process_context(replace(platform, scores=Down()))
        assert replace(at_work, platform=down.platform, engine=down.engine).run_one()
        assert auditor.audits.state(first.id).state == "running"
        assert at_work.run_one()
        assert auditor.audits.state(second.id).state == "released"


def test_scores_of_two_models_are_not_released(tmp_path: Path, platform: Platform) -> None:
    class Retrained(OneModel):
        version = 0

        @property
        def model_digest(self) -> str:
            return "sha256:" + 64 * str(self.version)

        def score(self, _: Any, persons: NDArray[np.int64], *__: Any) -> NDArray[np.float64]:
            self.version += bool(len(persons))
            return np.full(len(persons), 0.5)

    changing = replace(platform, scores=Retrained())
    with deployed(sqlite_url(tmp_path), changing, embedded_worker=False) as deployment:
        auditor = deployment.auditor()
        content = auditor.contents.upload(kind="job", title="Engineer")
        audience = auditor.audiences.sample("gender", {"woman": 20, "man": 20})
        audit = auditor.audits.submit(auditor.audits.request(content, audience, bins=2, epsilon=1))
        assert deployment.service.worker().run_one()
        with deployment.service.store.read() as session:
            row = session.get_one(AuditRow, audit.id)
            assert (row.state, row.attempts) == ("running", 1)


def test_what_is_shown_of_the_end_of_an_audit_is_whole_seconds(
    tmp_path: Path, platform: Platform
) -> None:
    with deployed(sqlite_url(tmp_path), platform) as deployment:
        auditor = deployment.auditor()
        content = auditor.contents.upload(kind="job", title="Engineer")
        audience = auditor.audiences.sample("gender", {"woman": 20, "man": 20})
        audit = auditor.audits.run(content, audience, bins=2, epsilon=0.1, progress=False)
        ended = auditor.audits.state(audit.id).finished_at
        assert ended is not None
        assert (ended.microsecond, audit.release.released_at.microsecond) == (0, 0)
        # A sample of exact size: noise of twice the scale for the same price.
        [part] = audit.release.price.parts
        assert part.noise_scale >= 20
