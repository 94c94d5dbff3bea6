"""Logs: fields that were named on purpose, and of an exception neither message nor values."""

import ast
import json
import logging
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from api.telemetry.logging import FIELDS, JsonLines

ROOT = Path(__file__).parents[3]
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


def logged_fields(tree: ast.AST) -> Iterator[tuple[int, set[str]]]:
    """Yield line and fields of each call of a logger that has `extra`."""
    assigned = {
        target.id: node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and ast.unparse(call.func).startswith("log."):
            for extra in (keyword.value for keyword in call.keywords if keyword.arg == "extra"):
                parts = [
                    assigned[node.id]
                    if isinstance(node, ast.Name) and node.id in assigned
                    else node
                    for node in ast.walk(extra)
                ]
                keys = [key for part in parts if isinstance(part, ast.Dict) for key in part.keys]
                yield call.lineno, {str(key.value) for key in keys if isinstance(key, ast.Constant)}


def test_every_field_of_a_log_call_is_shown() -> None:
    calls = {
        f"{file}:{line}": fields
        for file in sorted((ROOT / "api").rglob("*.py"))
        for line, fields in logged_fields(ast.parse(file.read_text()))
    }
    assert len(calls) > 20
    hidden = {place: fields - {*FIELDS} for place, fields in calls.items()}
    assert not {place: fields for place, fields in hidden.items() if fields}
    assert all(calls.values()), "fields of a call that are not found in its module"
