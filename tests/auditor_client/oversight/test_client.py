"""A regulator's view: quarters, tables and reports, from a service's answers."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from joserfc.jwk import OKPKey
from typer.testing import CliRunner

from auditor_client import InputError, Regulator
from auditor_client.cli.app import app
from auditor_client.errors import ServiceError
from auditor_client.oversight.client import Dossier
from auditor_client.oversight.quarter import Quarter
from auditor_client.oversight.report import limit_words, render
from openapi.resources import (
    AuditorOverview,
    Charge,
    Flags,
    MandateOverview,
    Overview,
    Refusal,
    Thresholds,
)
from tests.auditor_client.examples import AUDIENCE_ID, AUDIT_ID, MANDATE_ID
from tests.auditor_client.scripted import Answer, ScriptedService, answer
from tests.refusals import refuses

AUDITOR_ID = "auditor_" + "f" * 30
OTHER_ID = "auditor_" + "e" * 30
RESEARCHER_ID = "researcher_" + "a" * 30
DIGEST = "sha256:" + "1" * 64
NOW = datetime(2026, 11, 16, 9, tzinfo=UTC)
HOSTILE = "<script>alert(1)</script>"
PATH = "/v1/regulator"


@pytest.mark.parametrize(
    ("text", "since", "until"),
    [
        ("2026-Q1", (2026, 1), (2026, 4)),
        ("2026-Q2", (2026, 4), (2026, 7)),
        ("2026Q3", (2026, 7), (2026, 10)),
        (" 2026-q4 ", (2026, 10), (2027, 1)),
    ],
)
def test_a_quarter_is_three_months(
    text: str, since: tuple[int, int], until: tuple[int, int]
) -> None:
    quarter = Quarter.parse(text)
    assert quarter.since == datetime(*since, 1, tzinfo=UTC)
    assert quarter.until == datetime(*until, 1, tzinfo=UTC)
    assert str(quarter) == f"2026-Q{quarter.number}"


@pytest.mark.parametrize("text", ["2026", "2026-Q0", "2026-Q5", "26-Q1", "Q1", "0001-Q1", ""])
def test_anything_else_is_not(text: str) -> None:
    with refuses(InputError, "not-a-quarter", "2026-Q4"):
        Quarter.parse(text)


def mandate(**changes: Any) -> MandateOverview:
    plain = {
        "id": MANDATE_ID,
        "purpose": "Job ads",
        "kinds": ["score-histogram"],
        "state": "active",
        "currency": "epsilon",
        "limit": "20",
        "renewal": None,
        "lifetime_limit": None,
        "spent": "5",
        "remaining": "15",
        "spent_7_days": "0",
        "spent_30_days": "5",
        "exhausted_on": "2027-02-14",
        "valid_from": NOW,
        "valid_until": NOW,
        "audits": {"released": 2},
    }
    return MandateOverview.model_validate(plain | changes)


def overview(*mandates: MandateOverview, name: str = "Lab") -> Overview:
    auditor = AuditorOverview(
        id=AUDITOR_ID, name=name, researchers=1, mandates=list(mandates), audits={}, refusals=1
    )
    window = {"limit": "9", "spent": "1", "remaining": "8", "begins": NOW, "ends": NOW}
    return Overview.model_validate({"at": NOW, "platform": window, "auditors": [auditor]})


def charge(**changes: Any) -> Charge:
    both = {"add_remove": "1", "change_one": "2"}
    plain = {
        "id": "charge_" + "1" * 30,
        "auditor_id": AUDITOR_ID,
        "researcher_id": RESEARCHER_ID,
        "mandate_id": MANDATE_ID,
        "audit_id": AUDIT_ID,
        "audience_id": AUDIENCE_ID,
        "audience_commitment": DIGEST,
        "content_digests": [],
        "kind": "match-count",
        "epsilon": both,
        "rho": both,
        "currency": "epsilon",
        "debit": "2.5",
        "refunded": False,
        "charged_at": NOW,
    }
    return Charge.model_validate(plain | changes)


def refusal(**changes: Any) -> Refusal:
    plain = {
        "number": 17,
        "at": NOW,
        "auditor_id": AUDITOR_ID,
        "researcher_id": RESEARCHER_ID,
        "code": "budget-exhausted",
        "audit_kind": "match-count",
        "request": DIGEST,
    }
    return Refusal.model_validate(plain | changes)


THRESHOLDS = Thresholds(
    tiny_group=50,
    tiny_audiences=5,
    tiny_days=30,
    similarity=Decimal("0.9"),
    burst_times=5,
    burst_share=Decimal("0.2"),
    burst_history=5,
)
FLAG = {
    "pattern": "near-identical-audiences",
    "at": NOW,
    "explanation": HOSTILE,
    "figures": [{"name": "similarity", "value": "0.99", "threshold": "0.9"}],
    "auditor_ids": [AUDITOR_ID, OTHER_ID],
    "audience_ids": [AUDIENCE_ID],
}


def flags(*found: dict[str, Any]) -> Flags:
    fields = {"since": NOW, "until": NOW, "thresholds": THRESHOLDS, "flags": list(found)}
    return Flags.model_validate(fields)


def dossier(**changes: Any) -> Dossier:
    plain: dict[str, Any] = {
        "quarter": Quarter(2026, 4),
        "overview": overview(mandate()),
        "charges": [charge()],
        "refusals": [refusal()],
        "flags": flags(FLAG),
        "names": {AUDITOR_ID: "Lab", RESEARCHER_ID: "Ada"},
        "url": "https://audit.example",
    }
    return Dossier(**(plain | changes))


def test_what_outsiders_wrote_is_not_run() -> None:
    page = render(
        dossier(
            overview=overview(mandate(purpose=HOSTILE), name=HOSTILE),
            names={AUDITOR_ID: HOSTILE, RESEARCHER_ID: HOSTILE},
            refusals=[refusal(code=HOSTILE)],
        )
    )
    assert "<script" not in page
    assert "default-src 'none'" in page


def test_a_refunded_charge_is_listed_and_not_counted() -> None:
    page = render(dossier(charges=[charge(), charge(refunded=True), charge(debit="0.5")]))
    assert "<td>3.0 epsilon</td>" in page
    assert "2.5 epsilon (refunded)" in page
    nothing = render(dossier(charges=[charge(refunded=True)]))
    assert '<th scope="row">charged</th><td>nothing</td>' in nothing


def test_names_stand_for_ids_where_they_are_known() -> None:
    page = render(dossier())
    assert "<td>Ada</td>" in page
    assert f"Near identical audiences: Lab, {OTHER_ID}, 2026-11-16" in page
    assert "The budget does not cover this" in page


def test_each_currency_has_a_chart_of_its_own() -> None:
    rho = mandate(id="mandate_" + "2" * 30, currency="rho", limit="3")
    page = render(
        dossier(
            overview=overview(mandate(), rho),
            charges=[charge(), charge(currency="rho", mandate_id=rho.id, debit="1")],
        )
    )
    assert page.count("<svg") == 4
    assert "2.5 epsilon, 1 rho" in page


def test_limits_in_words() -> None:
    assert limit_words(mandate()) == "20 epsilon"
    renewing = mandate(renewal={"kind": "rolling", "days": 30}, lifetime_limit="60")
    assert limit_words(renewing) == "20 epsilon in any 30 days, 60 in all"


@pytest.fixture
def regulator(service: ScriptedService) -> Iterator[Regulator]:
    service.sign_in("token")
    with Regulator(service.url, "r", OKPKey.generate_key("Ed25519")) as made:
        yield made


def page_of(*items: Any) -> Answer:
    return answer({"items": [item.model_dump(mode="json") for item in items], "next": None})


def test_a_report_asks_for_its_quarter_alone(
    service: ScriptedService, regulator: Regulator, tmp_path: Path
) -> None:
    early = charge(audit_id="audit_" + "1" * 30, charged_at="2026-09-30T23:59:59Z")
    late = charge(audit_id="audit_" + "2" * 30, charged_at="2027-01-01T00:00:00Z")
    service.on("GET", f"{PATH}/overview", answer(overview(mandate()).model_dump(mode="json")))
    service.on("GET", f"{PATH}/researchers", page_of())
    service.on("GET", f"{PATH}/auditors", page_of())
    service.on("GET", f"{PATH}/charges", page_of(late, charge(), early))
    service.on("GET", f"{PATH}/refusals", page_of(refusal()))
    service.on("GET", f"{PATH}/flags", answer(flags().model_dump(mode="json")))
    page = regulator.report(
        tmp_path / "r.html", quarter="2026-Q4", auditor_id=AUDITOR_ID
    ).read_text()
    assert AUDIT_ID in page
    assert early.audit_id not in page
    assert late.audit_id not in page
    for path in ("refusals", "flags"):
        [asked] = service.requests("GET", f"{PATH}/{path}")
        assert asked.query == {
            "auditor_id": AUDITOR_ID,
            "since": "2026-10-01T00:00:00+00:00",
            "until": "2027-01-01T00:00:00+00:00",
        }


def test_an_instant_without_a_time_zone_is_refused_here(regulator: Regulator) -> None:
    with refuses(InputError, "no-time-zone"):
        regulator.insight.flags(since=datetime(2026, 1, 1))


def test_a_table_that_breaks_off_leaves_no_file(
    service: ScriptedService, regulator: Regulator, tmp_path: Path
) -> None:
    service.on("GET", f"{PATH}/exports/charges", Answer(503, b""))
    path = tmp_path / "charges.csv"
    with pytest.raises(ServiceError, match="503"):
        regulator.insight.export("charges", path)
    assert not path.exists()
    service.on("GET", f"{PATH}/exports/charges", Answer(200, b"id\r\n"))
    assert regulator.insight.export("charges", path).read_bytes() == b"id\r\n"


@pytest.mark.parametrize(
    "command",
    [
        *(f"regulator {name}" for name in ("overview", "refusals", "flags", "report", "export")),
        "audit balances",
    ],
)
def test_every_command_has_help_json_and_profile(command: str) -> None:
    done = CliRunner().invoke(app, [*command.split(), "--help"], env={"COLUMNS": "200"})
    assert done.exit_code == 0
    assert {"--json", "--profile"} <= set(re.findall(r"--[a-z]+", done.output))
