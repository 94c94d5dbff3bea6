"""The command without a service: what it says, and how it ends."""

import json
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest
from typer.main import get_command
from typer.testing import CliRunner

from auditor_client.audiences.file_tables import read_table
from auditor_client.cli.app import app
from auditor_client.cli.output import printable
from auditor_client.errors import InputError
from openapi.kinds.registry import CONTRACTS
from tests.auditor_client.audiences.test_client import CATALOGUE
from tests.auditor_client.examples import (
    AUDIENCE_ID,
    CONTENT_ID,
    finished,
    mandate,
    price,
    quote,
)
from tests.auditor_client.scripted import ScriptedService, answer, refuse
from tests.refusals import refuses

run = CliRunner().invoke
SEALED = {
    "id": AUDIENCE_ID,
    "state": "sealed",
    "source": "upload",
    "groups_per_person": 1,
    "groups": [{"label": label, "members": 500, "parts": []} for label in ("g0", "g1")],
    "created_at": "2026-05-04T12:00:00Z",
}


def sign_up(service: ScriptedService) -> None:
    service.sign_in("token")
    assert run(app, ["key", "new", "-p", "demo"]).exit_code == 0
    arguments = ["--url", service.url, "--researcher", "researcher_1", "-p", "demo"]
    assert run(app, ["profile", "add", *arguments]).exit_code == 0


def test_every_command_has_help_json_and_profile() -> None:
    commands = [
        "catalogue", "plan", "price", "budget", "report", "analyse", "key new", "profile add",
        "content upload", "content list", "audience upload", "audience list", "audience sample",
        "audit run", "audit list", "audit show", "audit cancel", "audit match-count",
        "audit most-skewed", "audit score-cdf", "audit study.yaml", "study init", "study check",
        "study register", "study run", "study list", "regulator auditors", "regulator mandates",
        "regulator auditors add", "regulator researchers add", "regulator mandates grant",
        "regulator charges", "ledger entries", "ledger head", "console",
    ]  # fmt: skip
    for command in commands:
        done = run(app, [*command.split(), "--help"], env={"COLUMNS": "200"})
        assert done.exit_code == 0, command
        assert "--json" in done.output, command
        assert "--profile" in done.output, command


def test_every_command_that_charges_can_start_another_audit() -> None:
    audit = get_command(app).commands["audit"]  # type: ignore[attr-defined]
    charging = {
        name
        for name, command in audit.commands.items()
        if "idempotency_key" in {parameter.name for parameter in command.params}
    }
    offering = {
        name
        for name, command in audit.commands.items()
        if "new" in {parameter.name for parameter in command.params}
    }
    assert charging >= {*CONTRACTS, "run"}
    assert offering == charging


@pytest.mark.parametrize("kind", CONTRACTS)
def test_every_kind_has_the_same_options(kind: str) -> None:
    audit = get_command(app).commands["audit"]  # type: ignore[attr-defined]
    offered = {option for each in audit.commands[kind].params for option in each.opts}
    common = {"price", "yes", "json", "receipt", "report", "new", "mandate", "profile", "quiet"}
    assert {f"--{name}" for name in common} | {"--idempotency-key"} <= offered


def test_names_of_earlier_commands_are_still_read() -> None:
    commands = get_command(app).commands["audit"].commands  # type: ignore[attr-defined]
    assert commands["cdf"].hidden
    assert commands["balances"].hidden


def test_a_key_and_a_profile_are_made(home: Path) -> None:
    done = run(app, ["key", "new", "-p", "demo", "--json"])
    made = json.loads(done.stdout)
    assert made["file"] == str(home / "keys" / "demo.jwk")
    assert "d" not in made["public"]
    arguments = ["--url", "https://audit.example", "--researcher", "researcher_1", "-p", "demo"]
    assert run(app, ["profile", "add", *arguments]).exit_code == 0
    (listed,) = json.loads(run(app, ["profile", "list", "--json"]).stdout)
    assert (listed["profile"], listed["researcher"]) == ("demo", "researcher_1")
    public = json.loads(run(app, ["key", "public", "-p", "demo"]).stdout)
    assert public == made["public"]


def test_an_error_is_one_line_and_exit_code_1() -> None:
    done = run(app, ["budget", "-p", "nobody"])
    assert done.exit_code == 1
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("Error: There is no profile 'nobody'")
    assert "Traceback" not in done.output


@pytest.mark.parametrize("arguments", [["--nonsense"], ["audit", "run"], ["plan", "--groups", "1"]])
def test_wrong_usage_is_exit_code_2(arguments: list[str]) -> None:
    assert run(app, arguments).exit_code == 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["audit", "envy-freeness", "a", "--steps", "0"], "must be at least 1."),
        (["audit", "bias-size", "a", "instajob", "--test", "t", "--places", "x"], "a whole number"),
        (["audit", "run", "a", "b", "--alpha", "x"], "must be a number."),
        (["audit", "run", "a", "b", "--mechanism", "x"], "'x' is not one of 'discrete-laplace'"),
    ],
)
def test_a_value_that_an_option_cannot_have_is_refused_in_plain_words(
    arguments: list[str], said: str
) -> None:
    done = run(app, arguments, env={"COLUMNS": "200"})
    assert done.exit_code == 2
    assert said in done.stderr
    assert not re.search("Input should|Value error", done.stderr)


def test_a_problem_of_the_service_is_printed(service: ScriptedService) -> None:
    sign_up(service)
    service.on("GET", "/v1/budget", refuse("forbidden", "The token lacks the scope"))
    done = run(app, ["budget", "-p", "demo"])
    assert done.exit_code == 1
    assert "[forbidden]" in done.stderr


def test_the_catalogue_is_printed_for_people_and_programs(service: ScriptedService) -> None:
    sign_up(service)
    service.on("GET", "/v1/catalogue", answer(CATALOGUE))
    assert "stand-in" in run(app, ["catalogue", "-p", "demo"]).stdout
    printed = json.loads(run(app, ["catalogue", "-p", "demo", "--json"]).stdout)
    assert printed["score_range"] == {"low": 0, "high": 1}


def test_lists_may_be_empty(service: ScriptedService) -> None:
    sign_up(service)
    service.on("GET", "/v1/regulator/auditors", answer({"items": []}))
    assert "Nothing yet" in run(app, ["regulator", "auditors", "-p", "demo"]).stdout
    assert json.loads(run(app, ["regulator", "auditors", "-p", "demo", "--json"]).stdout) == []


def test_a_private_key_is_not_sent_to_be_registered(service: ScriptedService, home: Path) -> None:
    sign_up(service)
    key = str(home / "keys" / "demo.jwk")
    done = run(app, ["regulator", "researchers", "add", "Ada", "--key", key, "-p", "demo"])
    assert done.exit_code == 1
    assert "is a private key" in done.stderr
    assert not service.asked


@pytest.mark.parametrize("more", [["--price"], ["--yes"], ["--yes", "--hidden"]])
def test_a_private_key_stops_a_two_party_audit_before_anybody_is_sent(
    service: ScriptedService, home: Path, tmp_path: Path, more: list[str]
) -> None:
    sign_up(service)
    people, metric = tmp_path / "people.csv", tmp_path / "metric.json"
    people.write_text("email,gender\na@x.org,woman\n")
    metric.write_text('{"name": "outcomes", "log": "jobs", "outcome_range": {"low": 0, "high": 1}}')
    key = ["--regulator-key", str(home / "keys" / "demo.jwk"), "-p", "demo"]
    asked = ["--metric", str(metric), "--id", "email", "--groups", "gender", *key, *more]
    done = run(app, ["audit", "two-party", str(people), *asked])
    assert done.exit_code == 1
    assert "is a private key" in done.stderr
    assert not service.asked


def test_the_budget_shows_currency_renewal_and_lifetime(service: ScriptedService) -> None:
    sign_up(service)
    rolling = {"kind": "rolling", "days": 30}
    in_rho = {"currency": "rho", "epsilon_limit": None, "rho_limit": "2"}
    given = mandate(**in_rho, renewal=rolling, lifetime_limit="24").model_dump(mode="json")
    service.on("GET", "/v1/budget", answer({"mandates": [given]}))
    shown = " ".join(run(app, ["budget", "-p", "demo"]).stdout.split())
    assert "limit 2 rho in any 30 days lifetime limit 24 spent 10 remaining 10" in shown
    [printed] = json.loads(run(app, ["budget", "-p", "demo", "--json"]).stdout)
    assert (printed["currency"], printed["renewal"]) == ("rho", rolling)


def test_the_price_shows_both_relations_and_the_advice(service: ScriptedService) -> None:
    sign_up(service)
    service.on("GET", "/v1/catalogue", answer(CATALOGUE))
    service.on("POST", "/v1/audits/price", answer(quote(price()).model_dump(mode="json")))
    service.on("GET", f"/v1/audiences/{AUDIENCE_ID}", answer(SEALED))
    service.on("GET", "/v1/audits", answer({"items": []}))
    command = ["price", CONTENT_ID, AUDIENCE_ID, "--bins", "2", "-p", "demo"]
    shown = " ".join(run(app, command, env={"COLUMNS": "200"}).stdout.split())
    for words in (
        "epsilon 1.25 (one person more or less), 2.50 (one person changed)",
        "rho 0.53125 (one person more or less), 2.1250 (one person changed)",
        "debit 2.50 epsilon",
        "error of bins ±3",
        "remaining before 10",
        "remaining after 7.5",
        "such audits it buys 4",
        "advice discrete-laplace: the mandate is in epsilon",
    ):
        assert words in shown
    assert json.loads(run(app, [*command, "--json"]).stdout)["buys"] == 4


def test_gaussian_noise_is_priced_in_rho(service: ScriptedService) -> None:
    sign_up(service)
    service.on("GET", "/v1/catalogue", answer(CATALOGUE))
    paid = quote(price(1.0, None, "discrete-gaussian")).model_dump(mode="json")
    service.on("POST", "/v1/audits/price", answer(paid))
    service.on("GET", f"/v1/audiences/{AUDIENCE_ID}", answer(SEALED))
    service.on("GET", "/v1/audits", answer({"items": []}))
    gaussian = ["--mechanism", "discrete-gaussian", "--rho", "0.5"]
    done = run(app, ["price", CONTENT_ID, AUDIENCE_ID, *gaussian, "-p", "demo"])
    assert "none: Gaussian noise has a rho" in " ".join(done.stdout.split())
    [asked] = service.requests("POST", "/v1/audits/price")
    assert json.loads(asked.body)["rho"] == "0.5"


def test_a_mandate_is_granted_in_rho(service: ScriptedService) -> None:
    sign_up(service)
    service.on("POST", "/v1/regulator/mandates", answer(mandate().model_dump(mode="json"), 201))
    limits = ["--rho", "2", "--delta", "0.000001", "--renewal", "rolling:30", "--lifetime", "24"]
    kinds = ["--kind", "score-histogram", "--kind", "score-cdf"]
    grant = ["regulator", "mandates", "grant", "auditor_" + "f" * 30, "--purpose", "p"]
    assert run(app, [*grant, *limits, *kinds, "-p", "demo"]).exit_code == 0
    [asked] = service.requests("POST", "/v1/regulator/mandates")
    body = json.loads(asked.body)
    assert (body["rho_limit"], body["lifetime_limit"]) == ("2", "24")
    assert body["kinds"] == ["score-histogram", "score-cdf"]


def test_a_plan_needs_no_service() -> None:
    done = run(app, ["plan", "--bins", "4", "--sizes", "known", "--json"])
    planned = json.loads(done.stdout)
    assert 0 < planned["people_per_group_for_a_verdict"] < planned["people_per_group_by_theorem_1"]


def test_a_plan_answers_the_inverse_questions() -> None:
    known = ["plan", "--alpha", "0.3", "--bins", "5", "--sizes", "known", "--json"]
    asked = [
        "--people",
        "150",
        "--looks",
        "2",
        "--promise",
        "--budget",
        "2",
        "--contents",
        "90,150",
    ]
    planned = json.loads(run(app, [*known, *asked]).stdout)
    assert planned["people_per_group_by_exact_tails"] < planned["people_per_group_for_a_verdict"]
    assert planned["chance_of_fair_if_fair"] > 0.8
    assert planned["chance_of_unfair_at_twice_alpha"] > 0.8
    assert planned["least_alpha"] < 0.3
    assert planned["epsilon_needed"] < 1
    assert len(planned["deltas_of_looks"]) == 2
    assert sum(planned["epsilons"]) <= 2


def test_a_plan_in_rho_is_about_gaussian_noise() -> None:
    asked = ["plan", "--alpha", "0.3", "--bins", "5", "--sizes", "known", "--rho", "0.25", "--json"]
    more = ["--people", "150", "--budget", "0.5", "--contents", "90,150", "--promise"]
    planned = json.loads(run(app, [*asked, *more]).stdout)
    assert planned["mechanism"] == "discrete-gaussian"
    assert "epsilon" not in planned
    assert planned["people_per_group_by_theorem_1"] is None
    assert planned["people_per_group_by_exact_tails"] < planned["people_per_group_for_a_verdict"]
    assert planned["rho_needed"] < 0.25
    assert sum(planned["rhos"]) <= 0.5


def test_a_plan_says_what_is_wrong_with_a_question() -> None:
    done = run(app, ["plan", "--sizes", "known", "--bins", "5", "--budget", "2"])
    assert (done.exit_code, "--contents" in done.stderr) == (1, True)
    few = run(app, ["plan", "--sizes", "known", "--bins", "5", "--people", "5", "--json"])
    assert json.loads(few.stdout)["epsilon_needed"] is None


def test_a_report_is_made_offline(tmp_path: Path) -> None:
    receipt = finished({"g0": [430, 70, 0], "g1": [428, 72, 0]}).save_receipt(tmp_path / "r.json")
    out = tmp_path / "report.html"
    done = run(app, ["report", str(receipt), "--out", str(out), "--json"])
    assert json.loads(done.stdout)["verdict"] == "fair"
    assert out.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_a_forged_receipt_makes_no_report(tmp_path: Path) -> None:
    receipt = finished({"g0": [430, 70, 0], "g1": [428, 72, 0]}).save_receipt(tmp_path / "r.json")
    other = finished({"g0": [1, 1, 0], "g1": [1, 1, 0]})
    receipt.write_text(
        receipt.read_text().replace(json.loads(receipt.read_text())["receipt"], other.receipt)
    )
    done = run(app, ["report", str(receipt), "--out", str(tmp_path / "report.html")])
    assert done.exit_code == 1
    assert not (tmp_path / "report.html").exists()


def test_a_csv_keeps_numbers_as_they_are_written(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("phone,year,ok\n0015550101234,1990,1\n,1991,0\n")
    table = read_table(path, ["phone", "year"], "ok")
    assert table.to_pylist() == [
        {"phone": "0015550101234", "year": "1990", "ok": True},
        {"phone": None, "year": "1991", "ok": False},
    ]


def test_parquet_is_read_too(tmp_path: Path) -> None:
    table = pa.table({"username": ["a"], "g": ["1"]})
    pyarrow.parquet.write_table(table, tmp_path / "people.parquet")
    assert read_table(tmp_path / "people.parquet", ["username", "g"], None) == table


def test_an_unreadable_file_is_reported(tmp_path: Path) -> None:
    (tmp_path / "bad.parquet").write_text("no")
    with refuses(InputError, "unreadable"):
        read_table(tmp_path / "bad.parquet", [], None)
    with refuses(InputError, "no-file"):
        read_table(tmp_path / "none.csv", [], None)


def test_text_of_outsiders_cannot_steer_the_terminal() -> None:
    assert printable("\x1b[2J[bold]x[/]\n").plain == "\ufffd[2J[bold]x[/]\ufffd"
