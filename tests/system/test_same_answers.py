"""Every kind of audit answers the same everywhere: SDK, command, receipt, report and console.

Each kind takes eight steps by SDK, command and console: catalogue, price, forecast, confirmation,
run, show, analysis of the receipt, and report. The tests are generated from the registry of
contracts, so that a kind without an answer fails here.
"""

import csv
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from html import escape
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

from api.console.forms.fields import form_name, list_parameters
from api.console.forms.options import needs_local_keys
from api.console.results.readings import read
from api.platforms.interfaces import Platform
from auditor_client import Auditor, save_profile
from auditor_client.audiences.client import NamedAudience
from auditor_client.audiences.weighted import WeightedAudience
from auditor_client.cli import confirming
from auditor_client.cli.app import app
from auditor_client.cli.parameters import parameters
from auditor_client.kinds.analysis import read_receipt
from auditor_client.kinds.forecasts import ForecastAudience
from auditor_client.kinds.protocol import Result
from auditor_client.kinds.registry import auditor_kind
from auditor_client.kinds.two_party import metrics
from auditor_client.local.private_files import home, write_private
from openapi.kinds.parameters import RequestParameter
from openapi.kinds.registry import CONTRACTS
from openapi.resources import REQUEST, Content
from platform_sim import SOFTWARE_JOB, SimulatedPlatform
from tests.system.console_session import console_session, headline, shown, signed_request
from tests.system.raw import usernames
from tests.two_parties import regulator_jwk, weighted
from tests.world import Deployment

KINDS = list(CONTRACTS)
EDGES = [0.0, 0.5, 1.0]
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
    # A page asks for all groups of creators, in the catalogue's order.
    "reo": {"groups": ["no", "yes"], "epsilon": "9"},
    "envy-freeness": {"steps": 200, "epsilon": "5"},
}


@dataclass(frozen=True)
class Lab:
    """A researcher with a profile, contents and people."""

    auditor: Auditor
    contents: list[Content]
    people: NamedAudience
    # Whose groups two-party audits hide, and the file of them for the command.
    weighted: WeightedAudience
    listed: Path
    deployment: Deployment
    home: Path

    def audience(self, kind: str) -> NamedAudience:
        return self.weighted.audience if kind == "two-party" else self.people


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
        assert isinstance(platform.people, SimulatedPlatform)
        names = usernames(platform.people.world, 200)
        groups = ["a" if at % 2 else "b" for at in range(len(names))]
        listed = folder / "people.csv"
        with listed.open("w", newline="") as file:
            csv.writer(file).writerows([("username", "group"), *zip(names, groups, strict=True)])
        hidden = weighted(auditor, names, groups)
        return Lab(auditor, contents, people, hidden, listed, sqlite_deployment, folder)


@pytest.fixture(autouse=True)
def at_home(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work as the researcher, in a terminal of 80 columns."""
    monkeypatch.setenv("PLATFORM_AUDITOR_HOME", str(lab.home))
    monkeypatch.setenv("COLUMNS", "80")


def request_of(lab: Lab, kind: str) -> Any:
    """Return the contract's example, about the people and contents that are here."""
    if kind == "two-party":
        metric = metrics.histogram(lab.contents[0], EDGES)
        return lab.auditor.audits.requests.two_party(metric, lab.weighted, epsilon=10)
    contract = CONTRACTS[kind]
    body = contract.example | {"audience_id": lab.people.id} | CHANGES.get(kind, {})
    body.pop("mandate_id", None)
    if "content_id" in body:
        body["content_id"] = lab.contents[0].id
    if "contents" in body:
        body["contents"] = [content.id for content in lab.contents]
    return contract.request.model_validate(body)


def two_party(lab: Lab) -> Result[Any]:
    request, key = request_of(lab, "two-party"), regulator_jwk(lab.deployment)
    found: Result[Any] = lab.auditor.audits.two_party(
        request.metric, lab.weighted, regulator_key=key, epsilon=10, progress=False
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


@pytest.mark.parametrize("kind", KINDS)
def test_a_request_has_a_price_and_a_forecast_before_it_is_paid(lab: Lab, kind: str) -> None:
    catalogue = lab.auditor.catalogue()
    assert kind in catalogue.kinds
    request, people = request_of(lab, kind), lab.audience(kind)
    quote = lab.auditor.audits.quote(request)
    errors = auditor_kind(kind).errors(request, quote.price)
    assert [error.part for error in errors] == [part.name for part in quote.price.parts]
    facts = ForecastAudience.of(people.wire, people.names)
    told = auditor_kind(kind).forecast(request, facts, catalogue)
    assert told.sentence.endswith(".")
    assert told.answers or told.enough


def given(lab: Lab, kind: str, test_id: str) -> Iterator[tuple[RequestParameter, Any]]:
    """Yield what a person gives for what `request_of` asks for: text, or a list of texts."""
    request = request_of(lab, kind)
    for each in parameters(auditor_kind(kind)):
        value: Any = getattr(request, each.field, None)
        match each.role:
            case "content" | "audience" | "log" | "contents":
                yield each, value
            case "audit":
                yield each, test_id
            case "bins":
                yield each, ",".join(map(str, value.edges))
            case "range":
                yield each, f"{value.low},{value.high}"
            case "words" if value:
                yield each, [str(word) for word in value]
            case "integers" if value:
                yield each, ",".join(map(str, value))
            case "amount" | "integer" | "column" | "choice" | "error" if value is not None:
                yield each, str(value)


def command_of(lab: Lab, kind: str, test_id: str, folder: Path) -> list[str]:
    """Return the arguments and options of the command that asks for what `request_of` asks for."""
    if kind == "two-party":
        metric, key = folder / "metric.json", folder / "regulator.jwk"
        metric.write_text(request_of(lab, kind).metric.model_dump_json())
        key.write_text(json.dumps(regulator_jwk(lab.deployment)))
        people = [str(lab.listed), "--id", "username", "--groups", "group", "--epsilon", "10"]
        return [*people, "--metric", str(metric), "--regulator-key", str(key), "--quiet"]
    found = list[str]()
    for each, value in given(lab, kind, test_id):
        if each.role in ("content", "audience", "log", "contents"):
            found += [value] if isinstance(value, str) else value
        else:
            option = f"--{each.name.replace('_', '-')}"
            found += [option, value if isinstance(value, str) else ",".join(value)]
    return found


def decline(monkeypatch: pytest.MonkeyPatch, *words: str | Path) -> str:
    """Answer no to the question of a command on a terminal; return what it printed."""
    terminal = SimpleNamespace(isatty=lambda: True)
    with monkeypatch.context() as patched:
        patched.setattr(confirming, "sys", SimpleNamespace(stdin=terminal, stderr=terminal))
        done = CliRunner().invoke(app, [str(word) for word in words], input="n\n")
    assert done.exit_code == 1, done.output
    return one_line(done.stderr)


def remaining(lab: Lab) -> Decimal:
    return lab.auditor.budget().mandates[0].remaining


@pytest.mark.parametrize("kind", KINDS)
def test_the_command_takes_the_eight_steps_as_the_sdk_does(
    lab: Lab,
    released: Callable[[str], Result[Any]],
    kind: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert kind in json.loads(said("catalogue", "--profile", "lab", "--json"))["kinds"]
    test_id = released("outcome-test").id if kind == "bias-size" else ""
    command = ["audit", kind, *command_of(lab, kind, test_id, tmp_path), "--profile", "lab"]
    before = remaining(lab)
    priced = json.loads(said(*command, "--price", "--json"))
    # A command asks for a chosen noise, and refuses its default where that answers nothing.
    asked = decline(monkeypatch, *command, "--epsilon", "9.5")
    assert "Pay and run?" in asked
    assert "Nothing was paid." in asked
    assert remaining(lab) == before
    if kind != "bias-size":  # the command corrects by the test, the example by its own numbers
        offered = lab.auditor.audits.offer_of(request_of(lab, kind))
        assert priced["forecast"]["sentence"] == offered.forecast.sentence
        assert Decimal(priced["debit"]) == offered.debit
    receipt, page = tmp_path / "receipt.json", tmp_path / "report.html"
    ran = json.loads(said(*command, "--yes", "--receipt", receipt, "--json"))
    assert before - remaining(lab) == Decimal(priced["debit"])
    result = lab.auditor.audits.result(ran["audit"])
    assert ran["sentence"] == result.summary().sentence
    again = said("audit", "show", ran["audit"], "--profile", "lab", "--json")
    assert json.loads(again)["sentence"] == ran["sentence"]
    [analysed] = json.loads(said("analyse", receipt, "--json"))["audits"]
    assert analysed["sentence"] == ran["sentence"]
    reported = json.loads(said("report", receipt, "--out", page, "--json"))
    assert reported["sentence"] == ran["sentence"]
    assert escape(ran["sentence"]) in page.read_text(encoding="utf-8")


def in_form(lab: Lab, kind: str, test_id: str) -> dict[str, str | list[str]]:
    """Return the fields of the console's form that ask for what `request_of` asks for."""
    offered = {each.name for each in list_parameters(kind)} | {"log"}
    told = given(lab, kind, test_id)
    return {form_name(each): value for each, value in told if each.name in offered}


@pytest.mark.parametrize("kind", KINDS)
def test_the_console_takes_the_eight_steps_as_the_sdk_does(
    lab: Lab, released: Callable[[str], Result[Any]], kind: str, tmp_path: Path
) -> None:
    test_id = released("outcome-test").id if kind == "bias-size" else ""
    with console_session(lab.auditor) as console:
        empty = console.page("/audits/new", kind=kind)
        assert f"/audits/new?kind={kind}" in empty
        if needs_local_keys(kind):
            # Its keys and sums stay with the researcher, so a page neither prices nor runs it.
            assert f"auditor audit {kind}" in shown(empty)
            audit_id = released(kind).id
        else:
            before = remaining(lab)
            offer = console.page("/audits/new", kind=kind, **in_form(lab, kind, test_id))
            request = REQUEST.validate_python(signed_request(offer))
            if kind != "bias-size":  # the form corrects by the test, as the command does
                assert request == request_of(lab, kind)
            unnamed = ForecastAudience.of(lab.people.wire)
            told = auditor_kind(kind).forecast(request, unnamed, lab.auditor.catalogue())
            assert told.sentence in shown(offer)
            debit = lab.auditor.audits.quote(request).price.debit
            assert f"{debit.normalize():f} epsilon is debited" in shown(offer)
            assert remaining(lab) == before
            audit_id = console.pay(offer)
            assert before - remaining(lab) == debit
        page = console.result(audit_id)
        names = lab.audience(kind).names
        result = lab.auditor.audits.result(audit_id)
        sentence = result.summary().sentence
        assert headline(page, names) == sentence
        again = json.loads(said("audit", "show", audit_id, "--profile", "lab", "--json"))
        assert again["sentence"] == sentence
        # The browser adds the names that it knows to what it downloads.
        saved = json.loads(console.page(f"/audits/{audit_id}/receipt.json")) | {"names": names}
        report = console.page(f"/audits/{audit_id}/report.html")
    receipt, own = tmp_path / "receipt.json", tmp_path / "report.html"
    receipt.write_text(json.dumps(saved))
    [analysed] = json.loads(said("analyse", receipt, "--json"))["audits"]
    assert analysed["sentence"] == sentence
    said("report", receipt, "--out", own)
    for text in (own.read_text(encoding="utf-8"), with_names(report, names)):
        assert escape(sentence) in text


def with_names(text: str, names: Mapping[str, str]) -> str:
    """Return a text as `inWords` of names.js returns it."""
    return re.sub(r"\bg\d{1,3}\b", lambda label: names.get(label[0], label[0]), text)


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


@pytest.mark.parametrize("kind", ["score-histogram", "outcome-test"])
def test_one_group_is_refused_before_the_payment_and_has_no_verdict_after_it(
    lab: Lab, kind: str, tmp_path: Path
) -> None:
    one = lab.auditor.audiences.sample("gender", {"woman": 30})
    request = request_of(lab, kind).model_copy(update={"audience_id": one.id})
    command = [
        one.id if word == lab.people.id else word for word in command_of(lab, kind, "", tmp_path)
    ]
    before = remaining(lab)
    refused = CliRunner().invoke(app, ["audit", kind, *command, "--profile", "lab"])
    assert "Upload at least two groups. Nothing was paid." in one_line(refused.stderr)
    assert remaining(lab) == before
    audit = lab.auditor.audits.run_request(request, progress=False)
    sentence = audit.summary().sentence
    assert sentence.startswith("No verdict")
    receipt = audit.save_receipt(tmp_path / "receipt.json")
    for printed in (
        said("audit", "show", audit.id, "--profile", "lab"),
        said("analyse", receipt),
        said("report", receipt, "--out", tmp_path / "r"),
    ):
        assert one_line(printed).startswith(sentence)
    with console_session(lab.auditor) as console:
        assert headline(console.page(f"/audits/{audit.id}"), {}) == sentence
        assert sentence in console.page(f"/audits/{audit.id}/report.html")


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
    assert audit.table().num_rows > 0
    json.dumps(audit.numbers(), default=str)
