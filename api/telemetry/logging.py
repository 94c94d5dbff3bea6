"""Structured logs: one JSON object per line, with fields from a fixed list.

An exception is logged by its type and the place where it was raised, never by its message or its
values. A message may quote an identifier or a score (R1).
"""

import json
import logging
import sys
import traceback
from datetime import UTC, datetime
from typing import Any

FIELDS = (
    "audit",
    "drawn",
    "error",
    "identifiers",
    "method",
    "milliseconds",
    "people",
    "places",
    "reason",
    "requests",
    "researcher",
    "route",
    "seconds",
    "status",
    "tasks",
    "url",
    "webhook",
)

# Loggers whose messages are our own.
_OURS = ("api", "platform_auditor")


class JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": record.getMessage() if record.name.startswith(_OURS) else record.name,
        }
        line |= {name: getattr(record, name) for name in FIELDS if hasattr(record, name)}
        if record.exc_info and record.exc_info[0]:
            line["exception"] = record.exc_info[0].__name__
            frames = traceback.extract_tb(record.exc_info[2])[-5:]
            line["raised_at"] = [f"{frame.filename}:{frame.lineno}" for frame in frames]
        return json.dumps(line)


def configure(level: str) -> None:
    """Send all logs of this process through `JsonLines` to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    # A library's warning may quote private data, so only the name of its logger is written.
    logging.captureWarnings(True)
    # Our own access log replaces it, without the path.
    logging.getLogger("uvicorn.access").disabled = True
