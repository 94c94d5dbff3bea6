"""The states of an audit: no change but those of the table, and no code that goes around it."""

import ast
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any, get_args

import pytest

import api
from api.audits.states import FINAL, FIRST, OPEN, TRANSITIONS, change_state
from api.db import AuditRow
from auditor_client.audits import polling
from openapi.resources import AuditState

STATES: tuple[AuditState, ...] = get_args(AuditState)
# Two updates write many rows at once, after they have chosen them by their state.
BULK = {("audits/queue/fair_queue.py", "running"), ("audits/publication.py", "released")}


@pytest.mark.parametrize(("before", "after"), list(product(STATES, STATES)))
def test_a_state_follows_only_as_the_table_says(before: AuditState, after: AuditState) -> None:
    values: dict[str, Any] = {"id": "audit_1", "state": before}
    row = AuditRow(**values)
    if (before, after) in TRANSITIONS:
        change_state(row, after)
        assert row.state == after
        return
    with pytest.raises(ValueError, match=rf"\b{before}\b.*\b{after}\b"):
        change_state(row, after)
    assert row.state == before


def test_every_state_is_reached_and_final_states_are_those_that_clients_wait_for() -> None:
    assert {FIRST, *(after for _, after in TRANSITIONS)} == set(STATES)
    assert {*OPEN, *FINAL} == set(STATES)
    assert set(FINAL) == polling.FINAL


def test_no_other_code_writes_a_state() -> None:
    folder = Path(api.__path__[0])
    found = {
        (str(file.relative_to(folder)), state)
        for file in folder.rglob("*.py")
        for state in _written(ast.parse(file.read_text(encoding="utf-8")))
    }
    assert found == BULK


def _written(tree: ast.AST) -> Iterator[str]:
    """Yield states that are assigned, or written by an update or in a row of values."""
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=targets, value=value):
                named = [one for target in targets for one in ast.walk(target)]
                if any(isinstance(one, ast.Attribute) and one.attr == "state" for one in named):
                    yield from _states(value)
                yield from _bulk(value)
            case ast.Call(func=ast.Attribute(attr="values"), keywords=keywords):
                for each in keywords:
                    if each.arg == "state":
                        yield from _states(each.value)
            case ast.Call(func=ast.Name(id="AuditRow"), keywords=keywords):
                for each in keywords:
                    if each.arg == "state":
                        yield from _states(each.value)
            case _:
                pass


def _bulk(value: ast.AST) -> Iterator[str]:
    """Yield the state of a dictionary of columns; what is sent has no lease."""
    if isinstance(value, ast.Dict):
        columns = {
            one.value: at
            for one, at in zip(value.keys, value.values, strict=True)
            if isinstance(one, ast.Constant)
        }
        if {"state", "lease_until"} <= columns.keys():
            yield from _states(columns["state"])


def _states(value: ast.AST) -> Iterator[str]:
    for one in ast.walk(value):
        if isinstance(one, ast.Constant) and one.value in STATES:
            yield str(one.value)
