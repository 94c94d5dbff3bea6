"""Every kind of audit answers the same everywhere: SDK, command, receipt, report and console data.

The tests are generated from the registry of contracts, so that a kind without an answer fails here.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from html import escape
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from api.console.results.readings import read
from api.platforms.interfaces import Platform
from auditor_client import Auditor, save_profile
from auditor_client.audiences.client import NamedAudience
from auditor_client.cli.app import app
from auditor_client.cli.parameters import parameters
from auditor_client.kinds.analysis import read_receipt
from auditor_client.kinds.forecasts import ForecastAudience
from auditor_client.kinds.protocol import Result
from auditor_client.kinds.registry import auditor_kind
from auditor_client.kinds.two_party import metrics
from auditor_client.local.private_files import home, write_private
from openapi.kinds.registry import CONTRACTS
from openapi.resources import Content
from platform_sim import SOFTWARE_JOB, SimulatedPlatform
from tests.system.raw import usernames
from tests.two_parties import regulator_jwk, weighted
from tests.world import Deployment

KINDS = list(CONTRACTS)
# What the examples of the contracts leave open, or ask for with more people than there are here.
CHANGES: dict[str, dict[str, Any]] = {
    "outcome-test": {"bins": {"edges": [0, 0.4, 1]}, "epsilon": "9"},
    "bias-size": {
        "bins": {"edges": [0, 0.4, 1]},
        "corrections": [{"label": "g0", "add": [0, 0.1]}, {"label": "g1", "add": [0, 0]}],
        "slopes": [1, 1],
        "places": None,
        "epsilon": "9",
    },
    "reo": {"epsilon": "9"},
    "envy-freeness": {"steps": 200, "epsilon": "5"},
}


@dataclass(frozen=True)
class Lab:
    """A researcher with a profile, contents and people."""

    auditor: Auditor
    contents: list[Content]
    people: NamedAudience
    deployment: Deployment
    platform: Platform
    home: Path


@pytest.fixture(scope="module")
def lab(
    sqlite_deployment: Deployment, platform: Platform, tmp_path_factory: pytest.TempPathFactory
) -> Lab:
    folder = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("PLATFORM_AUDITOR_HOME", str(folder))
        auditor = sqlite_deployment.auditor(
            epsilon="1000", kinds=KINDS, exploration_limit="1000000", opened_share="0"
        )
        key = home() / "lab.jwk"
        write_private(key, json.dumps(auditor._key.as_dict(private=True)))
        save_profile("lab", sqlite_deployment.url, auditor.researcher_id, key)
        named = [SOFTWARE_JOB | {"title": title} for title in ("Welder", "Nurse")]
        contents = [auditor.contents.upload(**fields) for fields in named]
        sizes = {"woman": 700, "man": 700}
        people = auditor.audiences.sample("gender", sizes, consented=True)
        return Lab(auditor, contents, people, sqlite_deployment, platform, folder)


@pytest.fixture(autouse=True)
def at_home(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work as the researcher, in a terminal of 80 columns."""
    monkeypatch.setenv("PLATFORM_AUDITOR_HOME", str(lab.home))
    monkeypatch.setenv("COLUMNS", "80")


def request_of(lab: Lab, kind: str) -> Any:
    """Return the contract's example, about the people and contents that are here."""
    contract = CONTRACTS[kind]
    body = contract.example | {"audience_id": lab.people.id} | CHANGES.get(kind, {})
    body.pop("mandate_id", None)
    if "content_id" in body:
        body["content_id"] = lab.contents[0].id
    if "contents" in body:
        body["contents"] = [content.id for content in lab.contents]
    return contract.request.model_validate(body)


def two_party(lab: Lab) -> Result[Any]:
    assert isinstance(lab.platform.people, SimulatedPlatform)
    names = usernames(lab.platform.people.world, 200)
    people = weighted(lab.auditor, names, ["a" if at % 2 else "b" for at in range(len(names))])
    metric = metrics.histogram(lab.contents[0], [0.0, 0.5, 1.0])
    found: Result[Any] = lab.auditor.audits.two_party(
        metric, people, regulator_key=regulator_jwk(lab.deployment), epsilon=10, progress=False
    )
    return found


@pytest.fixture(scope="module")
def released(lab: Lab) -> Callable[[str], Result[Any]]:
    """Return the released audit of a kind; each is run once."""
    found: dict[str, Result[Any]] = {}

    def run(kind: str) -> Result[Any]:
        if kind not in found:
            if kind == "two-party":
                found[kind] = two_party(lab)
            else:
                audit = lab.auditor.audits.submit(request_of(lab, kind))
                found[kind] = lab.auditor.audits.finish(audit.id, progress=False)
        return found[kind]

    return run


def said(*words: str | Path) -> str:
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == 0, done.output
    return done.stdout


def one_line(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "two-party"])
def test_a_request_has_a_price_and_a_forecast_before_it_is_paid(lab: Lab, kind: str) -> None:
    catalogue = lab.auditor.catalogue()
    assert kind in catalogue.kinds
    request = request_of(lab, kind)
    quote = lab.auditor.audits.quote(request)
    errors = auditor_kind(kind).errors(request, quote.price)
    assert [error.part for error in errors] == [part.name for part in quote.price.parts]
    facts = ForecastAudience.of(lab.people.wire, lab.people.names)
    told = auditor_kind(kind).forecast(request, facts, catalogue)
    assert told.sentence.endswith(".")
    assert told.answers or told.enough


def command_of(lab: Lab, kind: str, test_id: str) -> list[str]:
    """Return the arguments and options of the command that asks for what `request_of` asks for."""
    request, found = request_of(lab, kind), list[str]()
    for each in parameters(auditor_kind(kind)):
        value: Any = getattr(request, each.field, None)
        option = f"--{each.name.replace('_', '-')}"
        match each.role:
            case "content" | "audience" | "log":
                found.append(value)
            case "contents":
                found += value
            case "audit":
                found += [option, test_id]
            case "bins":
                found += [option, ",".join(map(str, value.edges))]
            case "range":
                found += [option, f"{value.low},{value.high}"]
            case "words" | "integers" if value:
                found += [option, ",".join(map(str, value))]
            case "amount" | "integer" | "column" | "choice" | "error" if value is not None:
                found += [option, str(value)]
    return found


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "two-party"])
def test_the_command_prices_forecasts_runs_shows_and_reports_as_the_sdk_does(
    lab: Lab, released: Callable[[str], Result[Any]], kind: str, tmp_path: Path
) -> None:
    assert kind in json.loads(said("catalogue", "--profile", "lab", "--json"))["kinds"]
    test_id = released("outcome-test").id if kind == "bias-size" else ""
    command = ["audit", kind, *command_of(lab, kind, test_id), "--profile", "lab", "--json"]
    before = lab.auditor.budget().mandates[0].remaining
    priced = json.loads(said(*command, "--price"))
    assert lab.auditor.budget().mandates[0].remaining == before
    if kind != "bias-size":  # the command corrects by the test, the example by its own numbers
        offered = lab.auditor.audits.offer_of(request_of(lab, kind))
        assert priced["forecast"]["sentence"] == offered.forecast.sentence
        assert Decimal(priced["debit"]) == offered.debit
    receipt, page = tmp_path / "receipt.json", tmp_path / "report.html"
    ran = json.loads(said(*command, "--yes", "--receipt", receipt))
    assert before - lab.auditor.budget().mandates[0].remaining == Decimal(priced["debit"])
    shown = said("audit", "show", ran["audit"], "--profile", "lab", "--json")
    assert json.loads(shown)["sentence"] == ran["sentence"]
    reported = json.loads(said("report", receipt, "--out", page, "--json"))
    assert reported["sentence"] == ran["sentence"]
    assert escape(ran["sentence"]) in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", KINDS)
def test_every_way_to_an_audit_gives_the_same_sentence(
    lab: Lab, released: Callable[[str], Result[Any]], kind: str, tmp_path: Path
) -> None:
    audit = released(kind)
    answer = audit.summary()
    sentence = answer.sentence
    assert answer.verdict is None or sentence.lower().startswith(answer.verdict)
    receipt, page = audit.save_receipt(tmp_path / f"{kind}.json"), tmp_path / "report.html"
    saved = read_receipt(receipt)
    assert saved.summary() == answer
    assert saved.results().audits[0].sentence == sentence
    shown = said("audit", "show", audit.id, "--profile", "lab")
    analysed = said("analyse", receipt)
    reported = said("report", receipt, "--out", page)
    for printed in (shown, analysed, reported):
        assert one_line(printed).startswith(one_line(sentence))
        assert max(map(len, printed.splitlines())) <= 80
    for document in (
        said("audit", "show", audit.id, "--profile", "lab", "--json"),
        said("report", receipt, "--out", page, "--json"),
    ):
        assert json.loads(document)["sentence"] == sentence
        assert json.loads(document)["kind"] == kind
    assert json.loads(said("analyse", receipt, "--json"))["audits"][0]["sentence"] == sentence
    assert escape(sentence) in page.read_text(encoding="utf-8")
    assert escape(sentence) in audit._repr_html_()
    # The console knows no names of groups.
    unnamed = replace(audit, names={})
    assert read(unnamed, None, 0.05).headline == unnamed.summary().sentence


@pytest.mark.parametrize("kind", KINDS)
def test_a_report_has_chart_table_price_and_checks(
    released: Callable[[str], Result[Any]], kind: str, tmp_path: Path
) -> None:
    audit = released(kind)
    text = audit.report(tmp_path / "report.html").read_text(encoding="utf-8")
    for title in ("Measurements", "Price", "Assumptions", "Verification"):
        assert f"<h2>{title}</h2>" in text
    assert ("<svg" in text) == bool(audit.figures())
    assert kind in ("most-skewed", "two-party") or audit.figures()
    assert "<table" in text
    assert audit.receipt in text
    assert "<script" not in text


@pytest.mark.parametrize("kind", KINDS)
def test_a_result_is_a_line_a_small_table_and_a_frame(
    released: Callable[[str], Result[Any]], kind: str
) -> None:
    audit = released(kind)
    assert "\n" not in repr(audit)
    assert len(repr(audit)) < 120
    assert audit.id in repr(audit)
    assert audit._repr_html_().count("<table") == 1
    assert audit.frame().num_rows > 0
    json.dumps(audit.numbers(), default=str)
