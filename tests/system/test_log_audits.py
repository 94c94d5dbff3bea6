"""Audits of logs from end to end, over a socket, on both databases."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from typer.testing import CliRunner

from api.platforms.interfaces import Log, Logs, Persons, Platform
from auditor_client import (
    Auditor,
    InputError,
    LogCdfResult,
    NamedAudience,
    OutcomeTestResult,
    new_key,
    save_profile,
)
from auditor_client.cli.app import app
from auditor_client.errors import UnsupportedAuditError
from auditor_client.kinds.bias_size.result import BiasSizeResult, Corrections
from auditor_client.ledger import make_trust, verify_file
from openapi.resources import AuditKind
from platform_sim import World
from platform_sim.people import identifiers
from tests.logs.parquet import NOTIFIED, notified, opportunities, written
from tests.refusals import refuses
from tests.system.adapters import GOSSIP
from tests.system.raw import raw, refused, usernames
from tests.system.scene import wait
from tests.world import Deployment, deployed, sqlite_url

pytestmark = pytest.mark.long_on_postgresql

KINDS: list[AuditKind] = ["outcome-test", "log-cdf", "bias-size"]
BETTER = 0.2


def people(world: World) -> tuple[Persons, Persons]:
    """Two halves of those who have a user name."""
    holders = world.directory.holders("username")[:1_200]
    return holders[::2], holders[1::2]


@pytest.fixture(scope="module")
def logged(platform: Platform, world: World, tmp_path_factory: pytest.TempPathFactory) -> Platform:
    """The simulated people, with a log in which the second half turns out better than scored."""
    first, second = people(world)
    bias = dict.fromkeys(second.tolist(), BETTER)
    everybody = np.sort(np.concatenate([first, second]))
    folder = tmp_path_factory.mktemp("log")
    pl.DataFrame(notified(everybody, second)).write_parquet(folder / "notified.parquet")
    logs = written(folder, opportunities(everybody, 3, bias=bias))
    described = {**logs.described, "notified": NOTIFIED}
    return replace(platform, logs=replace(logs, described=described))


@pytest.fixture(scope="module")
def service(new_database: Callable[[], str], logged: Platform) -> Iterator[Deployment]:
    with deployed(new_database(), logged) as running:
        yield running


def audience_of(auditor: Auditor, world: World) -> NamedAudience:
    def names(persons: Persons) -> list[str]:
        found = identifiers.usernames(world.seed, persons, world.surnames[persons])
        return [str(name) for name in found.to_pylist()]

    first, second = people(world)
    labels = ["as scored"] * len(first) + ["better"] * len(second)
    table = pa.table({"username": names(first) + names(second), "half": labels})
    return auditor.audiences.upload(table, id="username", by="half")


def auditor_at(service: Deployment, **mandate: Any) -> Auditor:
    return service.auditor(kinds=KINDS, **({"epsilon": "100"} | mandate))


def test_an_outcome_test_finds_who_was_under_predicted(
    service: Deployment, world: World, tmp_path: Path
) -> None:
    auditor = auditor_at(service)
    audience = audience_of(auditor, world)
    found = auditor.audits.outcome_test(audience, "jobs", bins=[0, 0.4, 0.8], epsilon=5)
    assert found.release.price.assumes == ["other-people-in-rows"]
    moments = found.moments
    assert moments.groups == ("as scored", "better")
    counts, outcomes = moments.sums[:, :, 0], moments.sums[:, :, 1]
    # About 600 people a group, one row each, four in five of them below 0.8. Noise of scale 0.65
    # is off by 20 with probability below 1e-12, and 80 % of 600 by 60 with less than 1e-8.
    assert np.abs(counts.sum(axis=1) - 480).max() < 80
    # Differences of means of ± 1 of 240 people: eight deviations of 0.09 apart from twice 0.2.
    differences = outcomes[1] / counts[1] - outcomes[0] / counts[0]
    assert np.abs(differences - 2 * BETTER).max() < 0.72
    assert found.release.model_digest == "sha256:" + "a" * 64
    assert any("candidate" in rule for rule in found.release.rules)
    assert any("At most 1 row(s) of a person" in rule for rule in found.release.rules)
    assert found.release.price.debit == auditor.budget().mandates[0].spent == 10
    again = auditor.audits.result(found.id)
    assert isinstance(again, OutcomeTestResult)
    assert again.release == found.release
    saved = OutcomeTestResult.from_receipt(found.save_receipt(tmp_path / "receipt.json"))
    assert saved.table() == found.table()
    assert saved.numbers()["group"] == ["as scored", "as scored", "better", "better"]


def test_more_rows_a_person_are_more_noise_and_said_so(service: Deployment, world: World) -> None:
    auditor = auditor_at(service)
    audience = audience_of(auditor, world)
    found = auditor.audits.outcome_test(
        audience, "jobs", bins=1, epsilon=10, rows_per_person=3, where={"week": ["1", "2", "3"]}
    )
    assert found.moments.rows_per_person == 3
    # All 1,200 people have three rows; noise of scale 0.975 is off by 40 with less than 1e-15.
    assert np.abs(found.moments.sums[:, 0, 0] - 1_800).max() < 40
    assert found.part("moments").noise_scale == pytest.approx(3 * 3.25 / 10 * 2**20)


def test_bins_by_quantiles_are_bought_first(service: Deployment, world: World) -> None:
    auditor = auditor_at(service)
    audience = audience_of(auditor, world)
    found = auditor.audits.outcome_test(
        audience, "jobs", quantiles=4, quantile_epsilon=5, epsilon=10
    )
    assert sorted(audit.kind for audit in auditor.audits.list()) == ["log-cdf", "outcome-test"]
    assert auditor.budget().mandates[0].spent == 30
    edges = np.array(found.release.bins.edges)
    assert (edges[0], edges[-1], len(edges)) == (0, 1, 5)
    # Scores are uniform: a quartile of 1,200 is off by 0.0125; noise adds less than half of that.
    assert np.abs(edges - np.linspace(0, 1, 5)).max() < 0.12


def test_both_audits_are_paid_or_none(service: Deployment, world: World) -> None:
    auditor = auditor_at(service, epsilon="3")
    audience = audience_of(auditor, world)
    with refuses(InputError, "not-covered", "0.5 epsilon", "4 epsilon"):
        auditor.audits.outcome_test(audience, "jobs", quantiles=10, epsilon=2)
    assert auditor.budget().mandates[0].spent == 0


def test_the_size_of_a_bias_is_bought_with_what_the_test_released(
    service: Deployment, world: World, tmp_path: Path
) -> None:
    auditor = auditor_at(service)
    audience = audience_of(auditor, world)
    test = auditor.audits.outcome_test(audience, "notified", bins=[0.5, 0.75, 1], epsilon=10)
    corrections = Corrections.of(test.moments)
    assert corrections.add.keys() == {"as scored", "better"}
    found = auditor.audits.bias_size(
        audience, "notified", corrections, query="job", epsilon=10, places=50
    )
    moved = found.notifications()
    # About 300 and 120 of 600 are notified; corrected by about 0.3, with a deviation of 0.06, it is
    # about 210 of each. An estimate on the wrong side of 0 has a probability below 1e-6.
    assert moved["as scored"].high < 0 < moved["better"].low
    assert sum(each.before - each.after for each in moved.values()) == pytest.approx(0, abs=20)
    assert all(1 <= each.before <= 50 for each in found.ranks().values())
    assert all(each.low <= each.value <= each.high for each in found.ranks().values())
    outcome = found.outcome()
    assert outcome.low < outcome.value < outcome.high
    saved = BiasSizeResult.from_receipt(found.save_receipt(tmp_path / "receipt.json"))
    assert saved.numbers() == found.numbers()


def test_running_counts_of_a_log(service: Deployment, world: World, tmp_path: Path) -> None:
    auditor = auditor_at(service)
    found = auditor.audits.log_cdf(audience_of(auditor, world), "jobs", bins=8, epsilon=5)
    assert all(abs(running[-1] - 600) < 40 for running in found.cumulative.values())
    saved = LogCdfResult.from_receipt(found.save_receipt(tmp_path / "receipt.json"))
    assert saved.cumulative == found.cumulative


def test_gaussian_noise_is_paid_in_rho(service: Deployment, world: World) -> None:
    auditor_id = service.regulator.auditors.add("Gauss").id
    until = datetime.now(UTC) + timedelta(days=1)
    service.regulator.mandates.grant(
        auditor_id, kinds=KINDS, purpose="rho", rho_limit="9", valid_until=until
    )
    auditor = service.researcher(auditor_id)
    audience = audience_of(auditor, world)
    found = auditor.audits.outcome_test(
        audience, "jobs", bins=2, mechanism="discrete-gaussian", rho=2
    )
    price = found.release.price
    assert (price.currency, price.debit) == ("rho", Decimal(4))
    # σ² = 2.6875 / 4 rows: off by 10 with probability below 1e-20.
    assert np.abs(found.moments.sums[:, :, 0].sum(axis=1) - 600).max() < 10
    assert found.moments.noise_variance[0] == pytest.approx(2.6875 / 4)
    unmoved = Corrections.none([0.5, 1], ["as scored", "better"])
    size = auditor.audits.bias_size(
        audience, "notified", unmoved, query="job", mechanism="discrete-gaussian", rho=1
    )
    assert size.release.price.debit == 2
    # σ² = 8 / 2, twice the four cells that one row moves: off by 30 with probability below 1e-20.
    assert size.part("sums").noise_scale == pytest.approx(2 * size.release.unit, rel=1e-6)
    assert all(abs(each.before - each.after) < 30 for each in size.notifications().values())


def test_what_the_catalogue_does_not_offer_is_refused_before_it_is_paid(
    service: Deployment, world: World
) -> None:
    auditor = auditor_at(service)
    audience = audience_of(auditor, world)
    with refuses(InputError, "no-such-log", "jobs, notified"):
        auditor.audits.outcome_test(audience, "pymk")
    with refuses(InputError, "no-such-numbers", "score, outcome"):
        auditor.audits.outcome_test(audience, "jobs", outcome="hired")
    with refuses(UnsupportedAuditError, "no-such-words", "'53'", "'week'"):
        auditor.audits.outcome_test(audience, "jobs", where={"week": ["53"]})
    with refuses(UnsupportedAuditError, "range"):
        auditor.audits.outcome_test(audience, "jobs", outcome_range=(0, 5))
    assert auditor.budget().mandates[0].spent == 0


def test_a_platform_without_logs_does_not_offer_them(
    platform: Platform, new_database: Callable[[], str]
) -> None:
    with deployed(new_database(), replace(platform, logs=None)) as mute:
        me = raw(mute, mute.auditor(kinds=KINDS))
        offered = me.get("/v1/catalogue").json()
        assert offered["logs"] == []
        assert not set(KINDS) & set(offered["kinds"])
        sealed = me.audience({"g0": ["a"], "g1": ["b"]})
        body = {
            "kind": "log-cdf",
            "audience_id": sealed["id"],
            "log": "jobs",
            "column": "score",
            "bins": {"edges": [0, 1]},
            "epsilon": "1",
        }
        refused(me.submit(body), "unsupported-audit", "no logs")


def test_the_ledger_of_audits_of_logs_verifies_offline(
    service: Deployment, world: World, tmp_path: Path
) -> None:
    auditor = auditor_at(service)
    auditor.audits.log_cdf(audience_of(auditor, world), "jobs", bins=4)
    service.service.checkpointer().once()
    regulator = service.regulator
    jwk = regulator._key.as_dict(private=False)
    trust = make_trust(regulator.ledger.keys(), {regulator._researcher_id: jwk})
    found = verify_file(regulator.ledger.export(tmp_path / "ledger.jsonl"), trust)
    assert found.counts["charge"] == found.counts["release"] >= 1


def test_the_command_runs_every_kind(service: Deployment, world: World, tmp_path: Path) -> None:
    organisation = service.regulator.auditors.add("Lab").id
    service.grant(organisation, "100", kinds=KINDS)
    key = tmp_path / "key.jwk"
    person = service.regulator.researchers.add("Ada", auditor_id=organisation, jwk=new_key(key))
    save_profile("logs", service.url, person.id, key)
    with Auditor.from_profile("logs") as auditor:
        audience = audience_of(auditor, world).id

    found = command(
        "outcome-test", audience, "notified", "--edges", "0.5,0.75,1", "--epsilon", "10"
    )
    assert (found["debit"], found["group"][0]) == ("20", "as scored")
    assert found["verdict"] in ("fair", "unfair", "inconclusive")
    assert found["sentence"]
    quantiles = ["--quantiles", "3", "--where", "week=1,2", "--rows-per-person", "2"]
    assert len(command("outcome-test", audience, "jobs", *quantiles)["group"]) == 6
    cdf = command("log-cdf", audience, "jobs", "--bins", "4")
    assert len(cdf["better"]) == 5
    size = command("bias-size", audience, "notified", "--test", found["audit"], "--query", "job")
    assert size["opportunities"].keys() == {"as scored", "better"}


def command(*words: str) -> Any:
    """Return the JSON output of an audit's command."""
    done = CliRunner().invoke(app, ["audit", *words, "-p", "logs", "--json"])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


@dataclass(frozen=True)
class Faulty:
    """Goes wrong about one person, in one way."""

    inner: Logs
    victim: int
    way: str

    def logs(self) -> Mapping[str, Log]:
        return self.inner.logs()

    def read(self, log: str, persons: Persons, columns: Sequence[str]) -> Any:
        batches = list(self.inner.read(log, persons, columns))
        if self.victim not in persons or self.way == "sound":
            return batches
        if self.way == "raises":
            raise KeyError(GOSSIP)
        if self.way == "nothing":
            return None
        table = pa.Table.from_batches(batches)
        return table.set_column(1, columns[0], [[GOSSIP] * len(table)]).to_batches()


@pytest.mark.parametrize("way", ["sound", "raises", "words", "nothing"])
def test_an_adapter_that_fails_about_somebody_changes_nothing_that_is_seen(
    logged: Platform, world: World, tmp_path_factory: pytest.TempPathFactory, way: str
) -> None:
    victim = int(people(world)[0][0])
    assert logged.logs is not None
    faulty = replace(logged, logs=Faulty(logged.logs, victim, way))
    with deployed(sqlite_url(tmp_path_factory.mktemp("faulty")), faulty) as running:
        me = raw(running, running.auditor(kinds=KINDS))
        names = usernames(world, 40)
        sealed = me.audience({"g0": names[:20], "g1": names[20:]})
        body = {
            "kind": "outcome-test",
            "audience_id": sealed["id"],
            "log": "jobs",
            "bins": {"edges": [0, 1]},
            "outcome_range": {"low": 0, "high": 1},
            "epsilon": "1",
        }
        audit = me.submit(body).json()
        assert wait(me, audit["id"]) == "released"
        shown = me.get(f"/v1/audits/{audit['id']}").text
        assert GOSSIP not in shown + me.get(f"/v1/audits/{audit['id']}/release").text
