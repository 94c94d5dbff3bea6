"""Mandates in epsilon and in rho, with and without renewal: what is sent, and what is shown."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from joserfc.jwk import OKPKey

from auditor_client import InputError, Regulator
from auditor_client.cli.mandates import limit_words, renewal_of
from tests.auditor_client.examples import mandate
from tests.auditor_client.scripted import ScriptedService, answer

AUDITOR_ID = "auditor_" + "f" * 30
PATH = "/v1/regulator/mandates"
LATER = datetime.now(UTC) + timedelta(days=90)


@pytest.fixture
def regulator(service: ScriptedService) -> Iterator[Regulator]:
    service.sign_in("token")
    service.on("POST", PATH, answer(mandate().model_dump(mode="json"), 201))
    with Regulator(service.url, "r", OKPKey.generate_key("Ed25519")) as made:
        yield made


def grant(regulator: Regulator, **limits: Any) -> None:
    regulator.mandates.grant(AUDITOR_ID, purpose="test", valid_until=LATER, **limits)


def sent(service: ScriptedService) -> dict[str, Any]:
    [asked] = service.requests("POST", PATH)
    body: dict[str, Any] = json.loads(asked.body)
    return body


def test_a_mandate_may_be_in_rho_and_come_back(
    service: ScriptedService, regulator: Regulator
) -> None:
    grant(
        regulator,
        rho_limit=0.5,
        delta=1e-9,
        renewal=("rolling", 30),
        lifetime_limit=2,
        kinds=["score-histogram", "match-count"],
    )
    body = sent(service)
    assert (body["epsilon_limit"], body["rho_limit"], body["delta"]) == (None, "0.5", "1E-9")
    assert body["renewal"] == {"kind": "rolling", "days": 30}
    assert body["lifetime_limit"] == "2"
    assert body["kinds"] == ["score-histogram", "match-count"]


def test_a_mandate_in_epsilon_is_granted_as_before(
    service: ScriptedService, regulator: Regulator
) -> None:
    grant(regulator, epsilon_limit="20")
    body = sent(service)
    assert (body["epsilon_limit"], body["rho_limit"], body["renewal"]) == ("20", None, None)


@pytest.mark.parametrize(
    ("limits", "named"),
    [
        ({}, "epsilon_limit.*rho_limit"),
        ({"epsilon_limit": 1, "rho_limit": 1}, "epsilon_limit.*rho_limit"),
        ({"epsilon_limit": 1, "delta": "1e-9"}, r"\bdelta\b.*\brho\b"),
        ({"epsilon_limit": 1, "renewal": ("fixed", 30)}, "lifetime_limit"),
        ({"epsilon_limit": 1, "lifetime_limit": 3}, "lifetime_limit"),
        ({"epsilon_limit": 1, "renewal": ("weekly", 1), "lifetime_limit": 3}, "kind"),
        ({"epsilon_limit": 1 / 3}, r"0\.333.*epsilon_limit"),
        ({"rho_limit": 1, "delta": "1e-13"}, r"1e-13.*\bdelta\b"),
    ],
)
def test_limits_that_do_not_go_together_are_refused_here(
    service: ScriptedService, regulator: Regulator, limits: dict[str, Any], named: str
) -> None:
    with pytest.raises(InputError, match=named):
        grant(regulator, **limits)
    assert not service.requests("POST", PATH)


def test_a_limit_is_put_in_words() -> None:
    assert limit_words(mandate()) == "20 epsilon"
    rolling = {"kind": "rolling", "days": 30}
    in_rho = {"currency": "rho", "epsilon_limit": None, "rho_limit": "2"}
    assert limit_words(mandate(**in_rho, renewal=rolling)) == "2 rho in any 30 days"
    at_delta = mandate(**in_rho, approximate_epsilon=14.87, delta="0.000000001")
    assert limit_words(at_delta) == "2 rho (epsilon 14.9 at delta 1E-9)"
    fixed = mandate(renewal={"kind": "fixed", "days": 7})
    assert limit_words(fixed) == "20 epsilon in each period of 7 days"


def test_a_renewal_is_read_from_words() -> None:
    assert renewal_of(None) is None
    assert renewal_of("rolling:30") == ("rolling", 30)
    assert renewal_of("fixed:7") == ("fixed", 7)
    for words in ("rolling", "weekly:1", "fixed:x", "fixed:-1", ":3"):
        with pytest.raises(InputError, match="rolling:30"):
            renewal_of(words)
