"""Health: operators hear of a platform that is slower than it declares."""

from typing import Any

import pytest

from api.audits.queue.heartbeats import Process
from api.db import ProcessRow
from api.health.probes import _adapter, _overload, _pace
from api.kernel.clock import now
from api.telemetry.metrics import IN_PROGRESS, LATE_AUDITS, LATE_PARTS, SHED, adapter_call
from api.telemetry.process_counters import Figures, RequestCounts, compute_figures


def process(late: int = 0, **figures: Any) -> Process:
    row = ProcessRow(
        id="process_1",
        host="here",
        pid=1,
        version="1",
        serves=True,
        works=True,
        started_at=now(),
        seen_at=now(),
        figures={},
    )
    return Process(row, Figures(late=late, **figures), lost=False)


@pytest.mark.parametrize(("shed", "state"), [(0, "well"), (1, "well"), (2, "watch")])
def test_requests_that_were_shed_are_to_be_looked_at(shed: int, state: str) -> None:
    found = _overload([process(total=RequestCounts(requests=100), shed=shed)])
    assert found.state == state
    assert f"{shed} of 100 requests" in found.words


@pytest.mark.parametrize(("failed", "state"), [(0, "well"), (1, "well"), (2, "watch")])
def test_calls_of_the_adapter_that_fail_are_to_be_looked_at(failed: int, state: str) -> None:
    assert _adapter([process(adapter_calls=100, adapter_failures=failed)]).state == state
    assert _adapter([]).state == _overload([]).state == "well"


def test_load_is_among_the_figures() -> None:
    before = compute_figures({}, {})
    SHED.labels("requests", "total").inc(3)
    IN_PROGRESS.labels("requests").inc(2)
    with pytest.raises(ValueError, match="no"), adapter_call("score"):
        raise ValueError("no")
    found = compute_figures({}, {})
    IN_PROGRESS.labels("requests").dec(2)
    assert found.shed == before.shed + 3
    assert found.in_progress == before.in_progress + 2
    assert found.adapter_calls == before.adapter_calls + 1
    assert found.adapter_failures == before.adapter_failures + 1


@pytest.mark.parametrize(
    ("late", "state"), [((0, 0), "well"), ((100, 0), "well"), ((100, 1), "watch")]
)
def test_parts_and_audits_that_are_late_are_counted_in_all_processes(
    late: tuple[int, int], state: str
) -> None:
    assert _pace([process(each) for each in late]).state == state


def test_what_is_late_is_among_the_figures() -> None:
    before = compute_figures({}, {}).late
    LATE_PARTS.inc(2)
    LATE_AUDITS.inc()
    assert compute_figures({}, {}).late == before + 3
