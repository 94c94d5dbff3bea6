"""Traces describe the service, and nothing about any person."""

import gzip
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from api.platforms.interfaces import Platform
from api.telemetry import tracing
from platform_sim import SOFTWARE_JOB, SimulatedPlatform
from tests.api.platforms.http.adapters import over_http
from tests.receivers import Received, receiving
from tests.system.raw import raw, request_for, usernames
from tests.world import deployed, make_settings, sqlite_url

SECRET = "a title nobody may see"


@pytest.fixture
def spans() -> Iterator[InMemorySpanExporter]:
    exporter = InMemorySpanExporter()
    tracing.send_to(SimpleSpanProcessor(exporter))
    yield exporter
    tracing.stop()


def test_every_attribute_of_every_span_is_one_that_may_be_said(
    platform: Platform, spans: InMemorySpanExporter, tmp_path_factory: pytest.TempPathFactory
) -> None:
    assert isinstance(platform.people, SimulatedPlatform)
    names = usernames(platform.people.world, 30)
    folder = tmp_path_factory.mktemp("traces")
    few = replace(platform, logs=None, policies=None)
    with over_http(few) as far, deployed(sqlite_url(folder), far, console=False) as deployment:
        auditor = deployment.auditor()
        content = auditor.contents.upload(
            **{k: v for k, v in SOFTWARE_JOB.items() if k != "title"}, title=SECRET
        )
        members = {"g0": names[:17], "g1": names[17:]}
        audience = raw(deployment, auditor).audience(members)
        request = request_for({"id": content.id}, audience)
        audit = raw(deployment, auditor).submit(request).json()
        auditor.audits.wait(audit["id"], progress=False)
    found = spans.get_finished_spans()
    assert {each.name for each in found} == {"request", "audit", "platform"}
    calls = {str((each.attributes or {}).get("call")) for each in found}
    assert {"/v1/platform", "/v1/match", "/v1/score"} <= calls
    for each in found:
        assert (each.attributes or {}).keys() <= tracing.ATTRIBUTES
        assert not each.events
        assert each.status.description is None
    _say_nothing_of(found, [SECRET, *names])


def _say_nothing_of(found: tuple[ReadableSpan, ...], private: list[str]) -> None:
    said = "\n".join(each.to_json() for each in found)
    assert not [word for word in private if word in said]
    for each in found:
        for value in (each.attributes or {}).values():
            # Words, routes and our own ids: no number but a status.
            assert re.fullmatch(r"[a-z][a-z-]*_?[\w-]*|[A-Z]+|/[\w/{}.-]*|[1-5]\d\d", str(value))


def test_an_exception_is_named_and_not_quoted(spans: InMemorySpanExporter) -> None:
    with pytest.raises(ValueError, match=SECRET), tracing.span("audit", kind="score-cdf"):
        raise ValueError(SECRET)
    [found] = spans.get_finished_spans()
    assert dict(found.attributes or {}) == {"kind": "score-cdf", "error": "ValueError"}
    assert SECRET not in json.dumps(found.to_json())


def test_what_is_not_on_the_list_is_not_said(spans: InMemorySpanExporter) -> None:
    with pytest.raises(ValueError, match="people"), tracing.span("audit", people="17"):
        pass
    assert "17" not in [*(spans.get_finished_spans()[0].attributes or {}).values()]


def test_a_collector_receives_what_the_service_did(tmp_path: Path) -> None:
    """By OTLP over HTTP, as the settings say: the bytes that a collector reads."""
    with receiving() as collector:
        url = collector.url.replace("/hook?for=me", "/v1/traces")
        tracing.start(make_settings(sqlite_url(tmp_path), "http://127.0.0.1", traces_endpoint=url))
        with tracing.span("audit", audit="audit_1", kind="score-cdf"):
            pass
        tracing.stop()
        [sent] = collector.wait(1)
    assert sent.path == "/v1/traces"
    assert sent.headers["content-type"] == "application/x-protobuf"
    [told] = ExportTraceServiceRequest.FromString(_unpacked(sent)).resource_spans
    resource = {each.key: each.value.string_value for each in told.resource.attributes}
    assert resource == {
        "service.name": "platform-auditor",
        "service.version": version("platform-auditor"),
    }
    [[span]] = [scope.spans for scope in told.scope_spans]
    said = {each.key: each.value.string_value for each in span.attributes}
    assert (span.name, said) == ("audit", {"audit": "audit_1", "kind": "score-cdf"})


def _unpacked(sent: Received) -> bytes:
    packed = sent.headers.get("content-encoding") == "gzip"
    return gzip.decompress(sent.body) if packed else sent.body


def test_without_a_collector_nothing_is_kept() -> None:
    with tracing.span("audit", kind="score-cdf") as said:
        assert said == {"kind": "score-cdf"}
