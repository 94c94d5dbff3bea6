"""The command of given parameters builds the same request as they do."""

import shlex
from collections.abc import Mapping
from typing import Any

import pytest
from typer.testing import CliRunner

from auditor_client.cli import audit_commands
from auditor_client.cli.app import app
from auditor_client.kinds.asking.command_line import command_line
from openapi.kinds.registry import CONTRACTS
from tests.auditor_client.examples import AUDIENCE_ID, CONTENT_ID, OTHER_ID
from tests.auditor_client.kinds.asking.test_builder import built

GIVEN: Mapping[str, Mapping[str, Any]] = {
    "score-histogram": {
        "content": CONTENT_ID,
        "bins": "12",
        "context": {"hour": 21.0},
        "rho": "0.5",
    },
    "score-cdf": {"content": CONTENT_ID, "bins": "0, 0.25, 1", "epsilon": "0.5"},
    "match-count": {"epsilon": "2"},
    "most-skewed": {"contents": [OTHER_ID, CONTENT_ID], "levels": "1, 2", "weights": "2, 1"},
    "balance-histogram": {"bins": "4", "epsilon": "2"},
    "outcome-test": {"log": "feed", "bins": "3", "where": "young: yes\nday: mon, tue"},
    "log-cdf": {"log": "feed", "column": "score", "rows_per_person": "2"},
    "reo": {"log": "feed", "creators": "young", "signals": ["like"], "days": ["mon", "tue"]},
    "envy-freeness": {"steps": "200", "gamma": "0.2", "lam": "0.2", "epsilon": "5"},
}


@pytest.mark.parametrize("kind", GIVEN)
def test_the_command_asks_for_the_same_audit(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[Mapping[str, Any]] = []
    monkeypatch.setattr(audit_commands, "run_kind", lambda asked, _: said.append(asked.said))
    given = {"audience": AUDIENCE_ID, **GIVEN[kind]}
    command = shlex.split(command_line(CONTRACTS[kind], given))
    assert command[:3] == ["auditor", "audit", kind]
    done = CliRunner().invoke(app, command[1:])
    assert done.exit_code == 0, done.output
    assert built(kind, **said[0]) == built(kind, **GIVEN[kind])


def test_parameters_at_their_default_are_left_out() -> None:
    given = {"audience": AUDIENCE_ID, "epsilon": "1"}
    said = command_line(CONTRACTS["match-count"], given)
    assert said == f"auditor audit match-count {AUDIENCE_ID}"


def test_the_audit_on_which_another_builds_is_an_option() -> None:
    given = {"audience": AUDIENCE_ID, "log": "feed", "test": "audit_1"}
    said = command_line(CONTRACTS["bias-size"], given)
    assert said == f"auditor audit bias-size {AUDIENCE_ID} feed --test audit_1"
