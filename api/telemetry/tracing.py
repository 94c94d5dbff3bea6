"""OpenTelemetry traces for operators: requests, audits, calls to the platform.

A span has a name and attributes from a fixed list, none of them about people. It has no path, no
body, no count of people, and no message of an exception (R1). It still has durations, which may
depend on people. So traces are for the operator only, like the metrics.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from api.kernel.settings import Settings

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import SpanProcessor, TracerProvider

# Allowed attributes of a span. Their values are our own, or from a list in the code.
ATTRIBUTES = frozenset({"audit", "kind", "call", "method", "route", "status", "error"})


class _Traces:
    """Destination of this process's spans: none, until tracing is started."""

    provider: "TracerProvider | None" = None


def start(settings: Settings) -> None:
    """Send spans to the collector in the settings, if there is one."""
    if settings.traces_endpoint is None:
        return
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as error:
        raise RuntimeError('Setting traces_endpoint needs "platform-auditor[traces]".') from error
    send_to(BatchSpanProcessor(OTLPSpanExporter(endpoint=settings.traces_endpoint)))


def send_to(processor: "SpanProcessor") -> None:
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider

    named = {"service.name": "platform-auditor", "service.version": version("platform-auditor")}
    provider = TracerProvider(resource=Resource(named), shutdown_on_exit=True)
    provider.add_span_processor(processor)
    _Traces.provider = provider


def stop() -> None:
    """Send the remaining spans."""
    if _Traces.provider is not None:
        _Traces.provider.shutdown()
        _Traces.provider = None


@contextmanager
def span(name: str, **attributes: str) -> Iterator[dict[str, str]]:
    """Open a span around the block, which may add attributes; record an exception by its type."""
    if _Traces.provider is None:
        yield attributes
        return
    tracer = _Traces.provider.get_tracer(__name__)
    with tracer.start_as_current_span(
        name, record_exception=False, set_status_on_exception=False
    ) as current:
        try:
            yield attributes
        except Exception as error:
            attributes["error"] = type(error).__name__
            raise
        finally:
            current.set_attributes(_allowed(attributes))


def _allowed(attributes: dict[str, str]) -> dict[str, Any]:
    if unknown := attributes.keys() - ATTRIBUTES:
        raise ValueError(f"A span must not have the attributes {', '.join(sorted(unknown))}.")
    return dict(attributes)
