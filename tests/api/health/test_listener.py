"""The metrics address: metrics, liveness and readiness of one process, on a real socket."""

from collections.abc import Iterator
from contextlib import closing
from socket import create_connection

import httpx2
import pytest
from prometheus_client.parser import text_string_to_metric_families

from api.app.admission import Admission
from api.app.capacity import Share
from api.health.container_probe import address, main, probe
from api.health.listener import MetricsAddressError, listen
from api.telemetry.metrics import IN_PROGRESS, SHED
from api.telemetry.readiness import WriteRecord
from tests.world import free_port


@pytest.fixture
def writes() -> WriteRecord:
    return WriteRecord(60.0)


@pytest.fixture
def port(writes: WriteRecord) -> Iterator[int]:
    port = free_port()
    with listen("127.0.0.1", port, writes):
        yield port


def get(port: int, path: str) -> httpx2.Response:
    return httpx2.get(f"http://127.0.0.1:{port}{path}")


def test_metrics_are_served_with_queue_admission_adapter_and_pool(port: int) -> None:
    IN_PROGRESS.labels("requests").set(0)
    SHED.labels("requests", "total").inc(0)
    answer = get(port, "/metrics")
    assert answer.headers["content-type"].startswith("text/plain")
    names = {family.name for family in text_string_to_metric_families(answer.text)}
    assert names >= {
        "queue_length",
        "queue_oldest_seconds",
        "running_audits",
        "requests_in_progress",
        "requests_shed",
        "adapter_calls",
        "adapter_call_failures",
        "adapter_call_seconds",
        "database_connections",
        "background_writes",
        "requests",
        "audits",
    }


def test_what_has_not_happened_yet_is_shown_as_zero(port: int) -> None:
    Admission({"never-used": Share(2, 1)})
    families = text_string_to_metric_families(get(port, "/metrics").text)
    shown = {(each.name, *each.labels.values()) for family in families for each in family.samples}
    assert ("requests_in_progress", "never-used") in shown
    for reason in ("caller", "total"):
        assert ("requests_shed_total", "never-used", reason) in shown
    for reason in ("headers", "answer", "unread", "connections"):
        assert ("connections_dropped_total", reason) in shown
    for call in ("match", "score", "confirmed"):
        assert ("adapter_calls_total", call) in shown
        assert ("adapter_call_failures_total", call) in shown


def test_probes_follow_the_background_write(port: int, writes: WriteRecord) -> None:
    assert get(port, "/readyz").status_code == 503
    writes.record(succeeded=True)
    ready = get(port, "/readyz")
    assert (ready.status_code, ready.json()["last_write"]) == (200, "ok")
    writes.record(succeeded=False)
    failed = get(port, "/readyz")
    assert (failed.status_code, failed.json()["last_write"]) == (503, "failed")
    assert "failed" in failed.json()["reason"]
    assert get(port, "/healthz").json() == {"status": "ok"}
    assert get(port, "/anything").status_code == 404


def test_a_client_that_says_nothing_keeps_nobody_waiting(port: int) -> None:
    with closing(create_connection(("127.0.0.1", port))):
        assert get(port, "/healthz").is_success


def test_a_port_that_is_taken_is_said_in_one_sentence(port: int, writes: WriteRecord) -> None:
    with (
        pytest.raises(MetricsAddressError, match="metrics_port"),
        listen("127.0.0.1", port, writes),
    ):
        raise AssertionError


def test_it_stops_listening_at_the_end(writes: WriteRecord) -> None:
    port = free_port()
    with listen("127.0.0.1", port, writes):
        pass
    with pytest.raises(httpx2.ConnectError):
        get(port, "/healthz")


# --- the probe of a container


def test_the_probe_says_whether_a_process_is_ready(
    port: int, writes: WriteRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLATFORM_AUDITOR_METRICS_PORT", str(port))
    assert main() == 1
    writes.record(succeeded=True)
    assert main() == 0
    # A process that listens everywhere is asked on the loopback address.
    assert probe("0.0.0.0", port) is None


def test_the_probe_fails_where_nobody_listens() -> None:
    assert "does not answer" in (probe("127.0.0.1", free_port()) or "")


def test_the_probe_finds_the_address_in_the_environment() -> None:
    assert address({}) == ("127.0.0.1", 9100)
    given = {"PLATFORM_AUDITOR_METRICS_HOST": "::1", "PLATFORM_AUDITOR_METRICS_PORT": "9101"}
    assert address(given) == ("::1", 9101)
