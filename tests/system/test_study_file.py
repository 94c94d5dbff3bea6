"""A study from its file to its report, over a real socket: paid once, whatever happens."""

import json
from collections.abc import Iterator
from decimal import Decimal
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pytest
import yaml
from typer.testing import CliRunner, Result

from api.platforms.interfaces import Platform
from auditor_client import Auditor, AuditorError, OutcomeTestResult, save_profile
from auditor_client.cli.app import app
from auditor_client.errors import InputError, MandateError
from auditor_client.kinds.analysis import read_receipt
from auditor_client.kinds.bias_size.result import BiasSizeResult, Corrections
from auditor_client.ledger import make_trust
from auditor_client.local.private_files import home, write_private
from auditor_client.reporting.results_document import Results
from auditor_client.studies import read_study
from auditor_client.studies.registration_file import SavedRegistration
from auditor_client.studies.runner import Run
from platform_sim import SOFTWARE_JOB, SimulatedPlatform, recruit
from tests.refusals import refuses
from tests.world import Deployment, deployed, sqlite_url

pytestmark = pytest.mark.long

OF_LOGS: list[Any] = ["outcome-test", "bias-size", "log-cdf", "reo"]
OF_SCORES: list[Any] = ["score-histogram", "score-cdf", "match-count", "most-skewed"]


def run(*words: str | Path, code: int = 0, **options: Any) -> Result:
    arguments = [str(word) for word in words]
    done = CliRunner().invoke(app, arguments, env={"COLUMNS": "300"}, **options)
    assert done.exit_code == code, done.output
    return done


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory, platform: Platform) -> Iterator[Deployment]:
    """Heads are signed often: a run waits for those that cover what it did."""
    url = sqlite_url(tmp_path_factory.mktemp("sqlite"))
    with deployed(url, platform) as running:
        yield running


@pytest.fixture
def auditor(service: Deployment) -> Auditor:
    """A new auditor, whose profile is `lab`."""
    return signed_up(service, service.auditor(epsilon="20", kinds=[*OF_SCORES, *OF_LOGS]))


def signed_up(deployment: Deployment, auditor: Auditor, name: str = "lab") -> Auditor:
    key = home() / f"{name}.jwk"
    write_private(key, json.dumps(auditor._key.as_dict(private=True)))
    save_profile(name, deployment.url, auditor.researcher_id, key)
    return auditor


@pytest.fixture
def study(service: Deployment, platform: Platform, tmp_path: Path) -> dict[str, Any]:
    """A study whose people are in a file of the folder."""
    assert isinstance(platform.people, SimulatedPlatform)
    frame = recruit(platform.people.world, 1_500, seed=5)
    pa.csv.write_csv(frame, tmp_path / "people.csv")
    return {
        "version": 1,
        "title": "Software jobs & gender",
        "platform": service.url,
        "preregister": True,
        "contents": {"job": {k: v for k, v in SOFTWARE_JOB.items() if k != "image"}},
        "audiences": {
            "volunteers": {
                "file": {"path": "people.csv", "sha256": digest_of(tmp_path / "people.csv")},
                "id": "email",
                "by": ["gender"],
                "where": "qualified",
            }
        },
        "audits": {
            "gender": {
                "kind": "score-histogram",
                "content": "job",
                "audience": "volunteers",
                "bins": 4,
                "epsilon": 1,
            }
        },
        "metrics": {"only": ["parity"], "thresholds": [0.5]},
    }


def digest_of(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()


def written(folder: Path, study: dict[str, Any], name: str = "audit.yaml") -> Path:
    path = folder / name
    # By way of JSON, so that nothing is written as an alias of something.
    plain = json.loads(json.dumps(study))
    path.write_text(yaml.safe_dump(plain, sort_keys=False), encoding="utf-8")
    return path


def spent(auditor: Auditor) -> Decimal:
    return sum((mandate.spent for mandate in auditor.budget().mandates), Decimal(0))


def test_a_study_runs_and_leaves_all_that_is_promised(
    auditor: Auditor, study: dict[str, Any], tmp_path: Path
) -> None:
    file = written(tmp_path, study | {"metrics": {"thresholds": [0.5]}})
    done = run("audit", file, "--yes", "-q", "-p", "lab")
    assert "Together: 2.5 epsilon" in done.output
    out = tmp_path / "audit-results"
    names = {path.name for path in out.iterdir()}
    assert names == {
        "receipts", "report.html", "results.json", "table.tex", "study.yaml", "registration.json",
    }  # fmt: skip
    results = Results.load(out / "results.json")
    assert results.study is not None
    assert results.study.digest == read_study(out / "study.yaml").digest
    assert results.study.registration is not None
    assert results.study.registration.first is True
    [found] = results.audits
    assert found.checked
    assert found.entry is not None
    assert results.study.registration.entry < found.entry
    assert found.verdict is not None
    assert {one.metric for one in found.metrics} >= {"parity", "impact-ratio", "wasserstein"}
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "Software jobs &amp; gender" in page
    assert f"as entry {results.study.registration.entry} of" in page
    assert "Software jobs \\& gender" in (out / "table.tex").read_text(encoding="utf-8")
    assert spent(auditor) == Decimal("2.5")


def test_a_study_of_logs_corrects_by_what_its_own_test_released(
    auditor: Auditor, study: dict[str, Any], tmp_path: Path
) -> None:
    jobs = {"audience": "volunteers", "log": "instajob", "rows_per_person": 2}
    asked = {
        # Scores' squares sum up to about 300; noise of scale 6.5 takes that, and with it the
        # corrections, with a probability below 1e-15.
        "outcomes": {**jobs, "kind": "outcome-test", "bins": [0.25, 0.75], "epsilon": 4},
        "size": {**jobs, "kind": "bias-size", "test": "outcomes", "epsilon": 1},
        "scores": {**jobs, "kind": "log-cdf", "bins": 8, "epsilon": 0.5},
        "feed": {
            "kind": "reo", "audience": "volunteers", "log": "feed", "creators": "young_adult",
            "signals": ["like_video", "share"], "days": "all", "epsilon": 1,
        },
    }  # fmt: skip
    file = written(tmp_path, {**study, "contents": {}, "audits": asked})
    priced = run("audit", file, "--dry-run", "-q", "-p", "lab")
    assert "Together: 13 epsilon" in priced.output
    run("audit", file, "--yes", "-q", "-p", "lab")
    assert spent(auditor) == 13
    results = Results.load(tmp_path / "audit-results" / "results.json")
    assert [found.kind for found in results.audits] == OF_LOGS
    receipts = tmp_path / "audit-results" / "receipts"
    test, size = (read_receipt(receipts / f"{name}.json") for name in ("outcomes", "size"))
    assert isinstance(test, OutcomeTestResult)
    assert isinstance(size, BiasSizeResult)
    expected = Corrections.of(test.moments)
    assert size.release.slopes == pytest.approx(list(expected.slopes))
    added = {test.names[one.label]: one.add for one in size.release.corrections}
    assert added == {name: pytest.approx(list(add)) for name, add in expected.add.items()}
    run("audit", file, "--yes", "-q", "-p", "lab")
    assert spent(auditor) == 13


def test_a_second_run_pays_nothing_and_finds_the_same(
    auditor: Auditor, study: dict[str, Any], tmp_path: Path
) -> None:
    file = written(tmp_path, study)
    first = json.loads(run("audit", file, "--yes", "--json", "-p", "lab").stdout)
    before, entries = spent(auditor), len(list(auditor.ledger.entries()))
    # Nobody is asked, as nothing is left to pay.
    second = json.loads(run("study", "run", file, "--json", "-p", "lab").stdout)
    assert second == first
    assert spent(auditor) == before
    assert len(list(auditor.ledger.entries())) == entries
    # The same numbers again, offline, from the receipt alone.
    receipt = tmp_path / "audit-results" / "receipts" / "gender.json"
    again = run("analyse", receipt, "--metric", "parity", "--threshold", "0.5", "--json")
    [alone] = json.loads(again.stdout)["audits"]
    assert {**alone, "checked": True} == first["audits"][0]


def test_an_interrupted_run_goes_on_where_it_was(
    auditor: Auditor, study: dict[str, Any], tmp_path: Path
) -> None:
    study["audits"]["again"] = study["audits"]["gender"]
    run_ = Run(read_study(written(tmp_path, study)), tmp_path, auditor, progress=False)
    run_.upload()
    [name, audit] = next(run_.pay())
    # The process is gone before it wrote down what it had paid for.
    del run_.made.audits[name]
    run_.state.save()
    contents = len(auditor.contents.list())
    assert spent(auditor) == Decimal("2.5")
    file = tmp_path / "audit.yaml"
    results = json.loads(run("audit", file, "--yes", "--json", "-p", "lab").stdout)
    assert [found["name"] for found in results["audits"]] == ["gender", "again"]
    assert results["audits"][0]["audit"] == audit.id
    assert spent(auditor) == Decimal("5.0")
    assert len(auditor.contents.list()) == contents
    assert len(auditor.audiences.list()) == 1
    # Two verdicts share delta.
    assert {found["delta"] for found in results["audits"]} == {0.025}


def test_a_state_that_was_lost_does_not_pay_twice(
    auditor: Auditor, study: dict[str, Any], tmp_path: Path
) -> None:
    file = written(tmp_path, study)
    run("audit", file, "--yes", "-q", "-p", "lab")
    before = spent(auditor)
    Run(read_study(file), tmp_path, auditor).state.path.unlink()
    done = run("audit", file, "--yes", "-q", "-p", "lab", code=1)
    assert "[idempotency-conflict]" in done.output
    assert "another title" in done.output
    assert spent(auditor) == before


def test_a_dry_run_shows_the_price_and_pays_nothing(
    auditor: Auditor, study: dict[str, Any], tmp_path: Path
) -> None:
    file = written(tmp_path, study)
    priced = json.loads(run("audit", file, "--dry-run", "--json", "-p", "lab").stdout)
    assert priced["unpaid"] == ["gender"]
    assert priced["debits"] == {"epsilon": "2.5"}
    assert "2.5 epsilon" in run("audit", file, "--dry-run", "-q", "-p", "lab").output
    declined = run("audit", file, "-q", "-p", "lab", code=1, input="n\n")
    assert "Pay this?" in declined.output
    unasked = run("audit", file, "--json", "-p", "lab", code=1)
    assert "--yes" in unasked.output
    assert spent(auditor) == 0
    assert auditor.studies.list() == []
    assert not (tmp_path / "audit-results").exists()


def test_a_file_that_changed_after_registration_is_refused(
    auditor: Auditor, study: dict[str, Any], tmp_path: Path
) -> None:
    file = written(tmp_path, study)
    registered = json.loads(run("study", "register", file, "--json", "-p", "lab").stdout)
    people = tmp_path / "people.csv"
    people.write_bytes(people.read_bytes() + b"\n")
    done = run("audit", file, "--yes", "-q", "-p", "lab", code=1)
    assert "is not the file that the study pins" in done.output
    # With the new digest it is another study, under another registration.
    study["audiences"]["volunteers"]["file"]["sha256"] = digest_of(people)
    other = json.loads(
        run("study", "register", written(tmp_path, study), "--json", "-p", "lab").stdout
    )
    assert other["digest"] != registered["digest"]
    assert other["entry"] > registered["entry"]
    assert spent(auditor) == 0


def test_a_registration_is_held_against_study_and_ledger(
    auditor: Auditor, study: dict[str, Any], tmp_path: Path
) -> None:
    file = written(tmp_path, study)
    run("audit", file, "--yes", "-q", "-p", "lab")
    saved, keys = tmp_path / "audit-results" / "registration.json", tmp_path / "keys.json"
    keys.write_text(str(make_trust(auditor.ledger.keys(), {})))
    held = ["--registration", str(saved), "--keys", str(keys), "--json"]
    shown = json.loads(run("study", "check", file, *held).stdout)
    assert shown["registered"]["by"] == auditor.researcher_id
    edited = written(tmp_path, study | {"alpha": 0.3}, "edited.yaml")
    assert "does not register this study" in run("study", "check", edited, *held, code=1).output
    # A later time, or another number, is not what the ledger says.
    found = SavedRegistration.load(saved)
    for change in ({"at": found.registration.at.replace(year=2020)}, {"entry": 0}, {"by": "x_1"}):
        wrong = found.registration.model_copy(update=change)
        saved.write_text(found.model_copy(update={"registration": wrong}).model_dump_json())
        run("study", "check", file, *held, code=1)
    entry = found.proof.entry.replace("registration", "registratiom")
    forged = found.proof.model_copy(update={"entry": entry})
    saved.write_text(found.model_copy(update={"proof": forged}).model_dump_json())
    run("study", "check", file, *held, code=1)


def test_an_audit_before_the_registration_is_reported(
    auditor: Auditor, study: dict[str, Any], tmp_path: Path
) -> None:
    run_ = Run(read_study(written(tmp_path, study)), tmp_path, auditor, progress=False)
    run_.upload()
    list(run_.pay())
    results = json.loads(run("audit", tmp_path / "audit.yaml", "--json", "-p", "lab").stdout)
    assert results["study"]["registration"]["first"] is False
    page = (tmp_path / "audit-results" / "report.html").read_text(encoding="utf-8")
    assert "Not every release came after the registration" in page


def test_without_a_mandate_nothing_is_paid(
    service: Deployment, study: dict[str, Any], tmp_path: Path
) -> None:
    poor = signed_up(service, service.auditor(epsilon="0"), "poor")
    file = written(tmp_path, study)
    done = run("audit", file, "--yes", "-q", "-p", "poor", code=1)
    assert "[no-mandate]" in done.output
    with pytest.raises(MandateError):
        Run(read_study(file), tmp_path, poor, progress=False).price()


def test_what_the_mandate_does_not_cover_is_not_begun(
    service: Deployment, study: dict[str, Any], tmp_path: Path
) -> None:
    poor = signed_up(service, service.auditor(epsilon="4"), "poor")
    study["audits"]["again"] = study["audits"]["gender"]
    done = run("audit", written(tmp_path, study), "--yes", "-q", "-p", "poor", code=1)
    assert "does not cover" in done.output
    assert spent(poor) == 0


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"metrics": {"thresholds": [0.55]}}, "0.55"),
        ({"metrics": {"qualified": "yes", "thresholds": [0.5]}}, "Fewer than two groups"),
    ],
)
def test_what_could_be_paid_but_not_analysed_is_refused(
    auditor: Auditor, study: dict[str, Any], tmp_path: Path, change: dict[str, Any], words: str
) -> None:
    done = run("audit", written(tmp_path, study | change), "--yes", "-q", "-p", "lab", code=1)
    assert words in done.output
    assert "Nothing was paid" in done.output
    assert spent(auditor) == 0


def test_a_study_for_another_platform_is_refused(
    auditor: Auditor, study: dict[str, Any], tmp_path: Path
) -> None:
    file = written(tmp_path, study | {"platform": "https://elsewhere.example"})
    with refuses(InputError, "another-service"):
        Run(read_study(file), tmp_path, auditor)


def test_every_form_of_audience_and_every_kind_that_scores(
    auditor: Auditor, study: dict[str, Any], tmp_path: Path
) -> None:
    people = pa.csv.read_csv(tmp_path / "people.csv").to_pylist()
    groups = {}
    for gender in ("man", "woman"):
        rows = [{"email": one["email"]} for one in people if one["gender"] == gender]
        path = tmp_path / f"{gender}.csv"
        pa.csv.write_csv(pa.Table.from_pylist(rows), path)
        groups[gender] = {"path": path.name, "sha256": digest_of(path)}
    study["audiences"]["files"] = {"groups": groups, "id": "email"}
    study["audiences"]["drawn"] = {"attribute": "gender", "sizes": {"woman": 60, "man": 60}}
    study["contents"]["news"] = {"kind": "news", "title": "Election"}
    base = {"audience": "files", "epsilon": "0.5"}
    study["audits"] |= {
        "found": {"kind": "match-count", **base},
        "running": {"kind": "score-cdf", "content": "job", "bins": 4, **base},
        "most": {"kind": "most-skewed", "contents": ["job", "news"], "bins": 4, **base},
        "drawn": {"kind": "score-histogram", "content": "job", "audience": "drawn",
                  "bins": [0, 0.5, 1], "epsilon": 0.5},
        "repeat": {"kind": "score-histogram", "content": "job", "audience": "drawn",
                   "bins": [0, 0.5, 1], "epsilon": 0.5},
    }  # fmt: skip
    study["consistency"] = {"audits": ["drawn", "repeat"], "relation": "repeat"}
    file = written(tmp_path, study)
    results = json.loads(run("audit", file, "--yes", "--json", "-p", "lab").stdout)
    found = {one["name"]: one for one in results["audits"]}
    assert {one["kind"] for one in found.values()} == set(OF_SCORES)
    assert found["found"]["numbers"]["found"].keys() == {"man", "woman"}
    assert found["running"]["metrics"]
    assert found["most"]["numbers"]["position"] in (0, 1)
    assert found["drawn"]["people"] == [
        {"group": "man", "people": 60, "known": "known"},
        {"group": "woman", "people": 60, "known": "known"},
    ]
    # A false alarm has a probability of at most 0.001; one release repeated has none of it.
    assert results["consistency"]["relation"] == "repeat"
    assert results["consistency"]["false_alarm"] == 0.001
    page = (tmp_path / "audit-results" / "report.html").read_text(encoding="utf-8")
    assert "Can one model have made these releases?" in page


def test_people_who_confirm_are_waited_for(
    auditor: Auditor, study: dict[str, Any], tmp_path: Path
) -> None:
    study["audiences"]["volunteers"]["confirmed"] = True
    file = written(tmp_path, study)
    waiting = json.loads(run("audit", file, "--yes", "--json", "-p", "lab").stdout)
    [code] = waiting["waiting"].values()
    assert code in run("audit", file, "--yes", "-q", "-p", "lab").output
    assert spent(auditor) == 0
    [audience] = auditor.audiences.list()
    assert audience.wire.state == "open"
    results = json.loads(run("audit", file, "--yes", "--seal", "--json", "-p", "lab").stdout)
    assert results["audits"][0]["kind"] == "score-histogram"
    assert len(auditor.audiences.list()) == 1


def test_a_receipt_that_was_tampered_with_makes_no_results(
    auditor: Auditor, study: dict[str, Any], tmp_path: Path
) -> None:
    file = written(tmp_path, study)
    run("audit", file, "--yes", "-q", "-p", "lab")
    receipt = tmp_path / "audit-results" / "receipts" / "gender.json"
    saved = json.loads(receipt.read_text())
    header, payload, signature = saved["receipt"].split(".")
    changed = payload[:50] + ("A" if payload[50] != "A" else "B") + payload[51:]
    receipt.write_text(json.dumps(saved | {"receipt": f"{header}.{changed}.{signature}"}))
    run("analyse", receipt, code=1)
    keys = tmp_path / "keys.json"
    keys.write_text(str(make_trust(auditor.ledger.keys(), {})))
    receipt.write_text(json.dumps(saved))
    run("analyse", receipt, "--keys", keys, "--json")
    proof = saved["proof"] | {"number": saved["proof"]["number"] + 1}
    receipt.write_text(json.dumps(saved | {"proof": proof}))
    run("analyse", receipt, "--keys", keys, code=1)
    # Without keys the place in the ledger is not claimed to be checked.
    [found] = json.loads(run("analyse", receipt, "--json").stdout)["audits"]
    assert found["checked"] is False
    # A run brings the true one back.
    run("audit", file, "-q", "-p", "lab")
    with pytest.raises(AuditorError):
        read_receipt(file)
    assert read_receipt(receipt).known_proof() is not None


def test_a_study_is_begun_from_a_template(auditor: Auditor, tmp_path: Path) -> None:
    people = tmp_path / "people.csv"
    people.write_text(
        "email,gender,qualified\n"
        + "".join(f"p{n}@example.org,{'wm'[n % 2]},true\n" for n in range(20))
    )
    file = tmp_path / "mine.yaml"
    run("study", "init", file, "--people", people, "-p", "lab")
    study = read_study(file)
    assert study.platform == auditor.url
    shown = json.loads(run("study", "check", file, "--json").stdout)
    assert shown["people"] == {"volunteers": {"m": 10, "w": 10}}
    assert shown["plan"]["gender"]["smallest_group"] == 10
    assert shown["plan"]["gender"]["people_per_group_needed"] > 50
    assert "already exists" in run("study", "init", file, "-p", "lab", code=1).output
