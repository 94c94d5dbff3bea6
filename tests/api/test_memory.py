"""What an audit takes is not more than what was said of it, by what was declared alone."""

import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from api.audits import KINDS, AudienceFacts
from api.audits.envy import Terms, fleet_of
from api.audits.envy_freeness import ARM_BYTES
from api.memory import BATCH_BYTES, needed_bytes
from api.platform import Platform
from openapi.models import REQUEST
from privacy.membership import Membership
from tests.api.test_bias_size import LOG, asked
from tests.logs.parquet import ParquetLogs


def peak(work: Callable[[], object]) -> int:
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_rows_that_are_compared_are_counted_in_full(tmp_path: Path) -> None:
    people, each = 30_000, 4
    rng = np.random.default_rng(1)
    count = people * each
    rows = {
        "person": np.repeat(np.arange(people), each),
        "score": rng.random(count),
        "outcome": np.where(rng.random(count) < 0.5, 1.0, 0.0),
        "query": rng.integers(0, 9, count).astype(float),
    }
    pl.DataFrame(rows).write_parquet(tmp_path / "jobs.parquet")
    nobody: Any = None
    platform = Platform("logs", people=nobody, logs=ParquetLogs(tmp_path, {"jobs": LOG}))
    halves = Membership((np.arange(0, people, 2), np.arange(1, people, 2)), 1)
    request, kind = asked(rows_per_person=each, places=3), KINDS["bias-size"]
    facts = AudienceFacts(("g0", "g1"), 1, None, members=people)
    question = kind.question(request, facts)
    needed = needed_bytes(kind, request, facts, question) - BATCH_BYTES
    taken = peak(lambda: kind.reduce(request, question, [], halves, platform))
    assert needed / 4 < taken < needed


def test_what_is_known_of_arms_is_counted_in_full() -> None:
    terms = Terms(delta=0.001, epsilon=0.05, alpha=0.2, bounds="tight", ceiling=5_000)
    targets, arms = 300, 60
    taken = peak(lambda: fleet_of(terms, arms, targets))
    assert taken < targets * (arms + 1) * ARM_BYTES < 16 * taken


def test_an_ordinary_audit_of_millions_fits() -> None:
    """What is allowed to be uploaded can be audited in the memory that is allowed by default."""
    request: Any = REQUEST.validate_python(
        {
            "kind": "score-histogram",
            "content_id": "content_" + "0" * 30,
            "audience_id": "audience_" + "0" * 30,
            "bins": {"edges": np.linspace(0, 1, 101).tolist()},
            "epsilon": "1",
        }
    )
    kind = KINDS["score-histogram"]
    facts = AudienceFacts(("g0", "g1"), 1, None, members=20_000_000)
    assert needed_bytes(kind, request, facts, kind.question(request, facts)) < 4 * 2**30
