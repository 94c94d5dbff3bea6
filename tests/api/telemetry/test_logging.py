"""Logs: fields that were named on purpose, and of an exception neither message nor values."""

import json
import logging
import subprocess
import sys
from typing import Any

from api.telemetry.logging import FIELDS, JsonLines

PRIVATE = "ada@example.org scored 0.731"


def line(name: str, message: str, *args: object, **extra: Any) -> dict[str, Any]:
    logger = logging.Logger(name)
    info = extra.pop("exc_info", None)
    record = logger.makeRecord(
        name, logging.ERROR, "file.py", 1, message, args, info, extra=extra or None
    )
    text = JsonLines().format(record)
    assert "\n" not in text
    shown: dict[str, Any] = json.loads(text)
    return shown


def raised() -> Any:
    try:
        try:
            float(PRIVATE)
        except ValueError as inner:
            raise RuntimeError(f"while {PRIVATE}") from inner
    except RuntimeError:
        return sys.exc_info()


def test_an_exception_is_logged_by_its_type_and_place_alone() -> None:
    shown = line("api.audits.queue.worker", "audit.error", exc_info=raised())
    assert shown["exception"] == "RuntimeError"
    assert shown["event"] == "audit.error"
    assert all(place.rpartition(":")[2].isdigit() for place in shown["raised_at"])
    assert "0.731" not in json.dumps(shown)
    assert "ada@" not in json.dumps(shown)


def test_what_other_libraries_say_is_not_repeated() -> None:
    shown = line("sqlalchemy.engine", "INSERT ... %s", PRIVATE)
    assert shown["event"] == "sqlalchemy.engine"
    assert "0.731" not in json.dumps(shown)


def test_only_fields_named_on_purpose_are_shown() -> None:
    shown = line(
        "api.audits.queue.worker", "audit.running", audit="audit_1", person=7, score=PRIVATE
    )
    assert shown["audit"] == "audit_1"
    assert set(shown) <= {"at", "level", "event", *FIELDS}
    assert "0.731" not in json.dumps(shown)


def test_a_line_break_in_a_field_does_not_make_two_lines() -> None:
    assert line("api.x", "event", reason="a\nb")["reason"] == "a\nb"


def test_what_a_library_warns_of_is_not_quoted() -> None:
    program = """
from api.telemetry import logging
logging.configure("INFO")
import warnings
warnings.warn("ada@example.org is a strange address", UserWarning)
"""
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    [line] = ran.stderr.splitlines()
    assert json.loads(line)["event"] == "py.warnings"
    assert "ada" not in line
    assert ran.stdout == ""
