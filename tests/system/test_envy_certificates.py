"""The researcher's way to a certificate, against a real service: consent, price, run, words."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from api.platforms.interfaces import Platform
from auditor_client import Auditor, EnvyFreenessResult, new_key, save_profile
from auditor_client.cli.app import app
from auditor_client.envy.options import EnvyOptions
from auditor_client.errors import ConflictError, ExplorationExhaustedError, NoConsentError
from auditor_client.reporting.results_document import Results
from tests.exploring import ByNumber
from tests.vetting import operator
from tests.world import Deployment, deployed, sqlite_url

# Rewards with this difference decide within these steps. With 40 targets up to 6 may be
# uncertified, and noise of scale 0.4 reaches 7 with a probability of 3e-8.
ASKED = EnvyOptions(
    steps=1000, tolerance="0.3", alpha="0.5", delta="0.1", gamma="0.3", lam="0.3",
    targets=40, epsilon=10,
)  # fmt: skip


class Served(ByNumber):
    """Everybody is served well, or everybody badly."""

    well = True

    def utility(self, targets: Any, arms: Any) -> Any:
        return np.where((targets == arms) == self.well, 0.95, 0.05)


POLICIES = Served()


@pytest.fixture(scope="module")
def exploring(tmp_path_factory: pytest.TempPathFactory, platform: Platform) -> Iterator[Deployment]:
    url = sqlite_url(tmp_path_factory.mktemp("sqlite"))
    with deployed(url, replace(platform, policies=POLICIES)) as running:
        yield running


@pytest.fixture
def auditor(
    exploring: Deployment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Auditor]:
    """With a profile named envy, whose mandate allows for two audits."""
    monkeypatch.setenv("PLATFORM_AUDITOR_HOME", str(tmp_path))
    auditor_id = exploring.regulator.auditors.add("Envy lab").id
    exploring.regulator.mandates.grant(
        auditor_id,
        purpose="Do people prefer their own recommendations?",
        kinds=["envy-freeness"],
        epsilon_limit=200,
        exploration_limit=50_000,
        valid_until=datetime.now(UTC) + timedelta(days=1),
    )
    key = tmp_path / "key.jwk"
    person = exploring.regulator.researchers.add("Ada", auditor_id=auditor_id, jwk=new_key(key))
    save_profile("envy", exploring.url, person.id, key)
    with Auditor.from_profile("envy") as made:
        yield made


def test_a_platform_is_certified_and_another_is_not(
    exploring: Deployment, auditor: Auditor, tmp_path: Path
) -> None:
    audience = auditor.audiences.sample("gender", {"woman": 900, "man": 900}, consented=True)
    price = auditor.audits.quote(auditor.audits.requests.envy_freeness(audience, **ASKED))
    assert price.price.exploration_loss == 20_000
    POLICIES.well = True
    found = auditor.audits.envy_freeness(audience, progress=False, **ASKED)
    certificate = found.certificate()
    assert certificate.verdict == "envy-free"
    assert certificate.envious_at_least < 8
    assert certificate.explain().startswith("Certified envy-free: at most 30 % of people would")
    again = auditor.audits.result(found.id)
    assert isinstance(again, EnvyFreenessResult)
    assert again.numbers() == found.numbers()
    POLICIES.well = False
    receipt = tmp_path / "receipt.json"
    asked = ["audit", "envy-freeness", audience.id, "--steps", "1000", "--tolerance", "0.3"]
    asked += ["--alpha", "0.5", "--delta", "0.1", "--gamma", "0.3", "--lam", "0.3"]
    asked += ["--targets", "40", "--epsilon", "10", "--quiet", "-p", "envy", "--json"]
    said = CliRunner().invoke(app, [*asked, "--price"])
    assert json.loads(said.stdout)["price"]["exploration_loss"] == "20000"
    done = CliRunner().invoke(app, [*asked, "--receipt", str(receipt)])
    assert done.exit_code == 0, done.output
    row = json.loads(done.stdout)
    assert row["verdict"] == "not-envy-free"
    saved = EnvyFreenessResult.from_receipt(receipt)
    assert saved.certificate().envious_at_least >= 32
    out = tmp_path / "envy.html"
    read = CliRunner().invoke(app, ["report", str(receipt), "--out", str(out), "--json"])
    assert json.loads(read.stdout)["sentence"] == row["sentence"]
    assert " ".join(row["sentence"].split()[:4]) in out.read_text()
    with pytest.raises(ExplorationExhaustedError) as refused:
        auditor.audits.envy_freeness(audience, progress=False, **ASKED)
    assert (refused.value.asked, refused.value.remaining) == (Decimal(20_000), Decimal(10_000))


def test_a_study_explores_within_both_limits_and_pays_once(
    exploring: Deployment, auditor: Auditor, tmp_path: Path
) -> None:
    POLICIES.well = True
    asked = {"steps": 500, "tolerance": 0.3, "alpha": 0.5, "gamma": 0.3, "lam": 0.3, "targets": 40}
    audit = {"kind": "envy-freeness", "audience": "people", "epsilon": 10, **asked}
    sample = {"attribute": "gender", "sizes": {"woman": 900, "man": 900}, "consented": True}
    study = {
        "version": 1, "title": "Envy", "platform": exploring.url, "delta": 0.1,
        "audiences": {"people": sample}, "audits": {"envy": audit},
    }  # fmt: skip
    file = tmp_path / "envy.yaml"
    file.write_text(json.dumps(study), encoding="utf-8")

    def run(*words: str) -> str:
        done = CliRunner().invoke(app, ["audit", str(file), *words, "-q", "-p", "envy"])
        assert done.exit_code == 0, done.output
        return done.output

    assert re.search(r"\b30 epsilon\b.*\b10000\b.*\breward\b", " ".join(run("--dry-run").split()))
    run("--yes")
    run("--yes")
    [mandate] = auditor.budget().mandates
    assert (mandate.spent, mandate.exploration_spent) == (Decimal(30), Decimal(10_000))
    [found] = Results.load(tmp_path / "envy-results" / "results.json").audits
    assert found.numbers["verdict"] == "envy-free"
    assert found.numbers["loss_at_most"] == "10000"


def test_who_did_not_agree_is_not_explored(auditor: Auditor) -> None:
    audience = auditor.audiences.sample("gender", {"woman": 900, "man": 900})
    with pytest.raises(NoConsentError, match="consented=True"):
        auditor.audits.envy_freeness(audience, progress=False, **ASKED)
    assert auditor.budget().mandates[0].spent == 0


def test_a_released_audit_cannot_be_stopped(exploring: Deployment, auditor: Auditor) -> None:
    POLICIES.well = True
    audience = auditor.audiences.sample("gender", {"woman": 900, "man": 900}, consented=True)
    found = auditor.audits.envy_freeness(
        audience, steps=500, tolerance="0.3", alpha="0.5", delta="0.1", gamma="0.3", lam="0.3",
        targets=12, epsilon=10, cost_epsilon=0, progress=False,
    )  # fmt: skip
    assert found.release.arms_per_person == 1
    assert found.cost_per_target is None
    for staff in (exploring.regulator, operator(exploring)):
        with pytest.raises(ConflictError):
            staff.stop(found.id, "too late")
