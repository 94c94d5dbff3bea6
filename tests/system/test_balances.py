"""Balances of people, audited by a regulator's own auditor with noise."""

import json
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from typer.testing import CliRunner

from api.platforms.interfaces import Platform
from auditor_client import Auditor, BalanceHistogramResult, InputError, new_key, save_profile
from auditor_client.cli.app import app
from auditor_client.errors import MandateError
from openapi.resources import AuditKind
from platform_sim import World
from tests.system.raw import raw, refused, request_for, usernames
from tests.system.scene import run
from tests.world import Deployment, deployed

BALANCES: AuditKind = "balance-histogram"


@pytest.fixture(scope="module")
def capped(new_database: Callable[[], str], platform: Platform) -> Iterator[Deployment]:
    """A service on which a person bears 10 of rho in a lifetime, as on a real one."""
    with deployed(new_database(), platform, person_lifetime_rho=Decimal(10)) as running:
        yield running


@pytest.fixture
def oversight(capped: Deployment) -> Auditor:
    """The regulator's own organisation, with a mandate for balances."""
    return capped.auditor(epsilon="100", kinds=[BALANCES])


def as_frame(groups: dict[str, list[str]]) -> Any:
    rows = [(name, label) for label, names in groups.items() for name in names]
    return pa.table({"username": [n for n, _ in rows], "group": [g for _, g in rows]})


def test_balances_come_through_the_waist(
    capped: Deployment, oversight: Auditor, world: World, tmp_path: Path
) -> None:
    names = usernames(world, 80)
    me = raw(capped, capped.auditor())
    body = request_for(me.content(), me.audience({"g0": names[:40]}), size_epsilon="0")
    run(me, body)  # 2 of rho, a fifth of the cap
    frame = as_frame({"audited": names[:40], "spared": names[40:]})
    audience = oversight.audiences.upload(frame, id="username", by="group")
    found = oversight.audits.balance_histogram(audience, bins=[0, 0.1, 0.3, 1], epsilon=1)
    # Eight cells, noise of scale 1: one is off by 20 with probability below 8 exp(-20) < 2e-8.
    expected = {"audited": [0, 40, 0], "spared": [40, 0, 0]}
    for name, counts in expected.items():
        assert all(abs(n - m) < 20 for n, m in zip(found.counts[name], counts, strict=True))
        assert abs(found.outside[name]) < 20
    assert oversight.budget().mandates[0].spent == 2
    assert (found.error_95, found.table().num_rows) == (3, 8)
    assert any("could not be debited within the cap" in rule for rule in found.release.rules)
    assert " 2 rho" in found.words
    saved = BalanceHistogramResult.from_receipt(found.save_receipt(tmp_path / "receipt.json"))
    assert saved.table() == found.table()
    again = oversight.audits.result(found.id)
    assert isinstance(again, BalanceHistogramResult)
    assert again.release == found.release


def test_its_own_charge_is_left_out_and_the_next_one_sees_it(
    capped: Deployment, oversight: Auditor, world: World
) -> None:
    frame = as_frame({"all": usernames(world, 140)[100:]})
    audience = oversight.audiences.upload(frame, id="username", by="group")
    for expected in ([40, 0, 0], [0, 40, 0], [0, 0, 40]):
        found = oversight.audits.balance_histogram(audience, bins=[0, 0.15, 0.3, 1], epsilon=1)
        # As above; each charge is a fifth of the cap.
        assert all(abs(n - m) < 20 for n, m in zip(found.counts["all"], expected, strict=True))


def test_the_exhausted_are_in_no_bin(capped: Deployment, oversight: Auditor, world: World) -> None:
    names = usernames(world, 200)[160:]
    me = raw(capped, capped.auditor())
    body = request_for(me.content(), me.audience({"g0": names}), size_epsilon="0")
    for _ in range(5):
        run(me, body)
    audience = oversight.audiences.upload(as_frame({"all": names}), id="username", by="group")
    found = oversight.audits.balance_histogram(audience, bins=2, epsilon=1)
    # Three cells: off by 20 with probability below 1e-8. The forty would be in the last bin.
    assert all(abs(count) < 20 for count in [*found.counts["all"], found.outside["all"]])


def test_what_samples_took_is_not_counted(capped: Deployment, oversight: Auditor) -> None:
    sample = oversight.audiences.sample("gender", {"woman": 200})
    for _ in range(2):
        found = oversight.audits.balance_histogram(sample, bins=[0, 0.1, 1], epsilon="0.5")
        # Neither time is the other's charge in what is read. Noise of scale 4 (the size is exact):
        # off by 90 with probability below 1e-9, and other tests audited fewer than 50 of these.
        assert found.counts["woman"][0] > 60
    assert oversight.budget().mandates[0].spent == 2


def test_a_mandate_must_name_the_kind(capped: Deployment, world: World) -> None:
    auditor = capped.auditor()
    sample = auditor.audiences.sample("gender", {"woman": 20})
    with pytest.raises(MandateError, match="balance-histogram"):
        auditor.audits.balance_histogram(sample)
    [mandate] = auditor.budget().mandates
    assert mandate.kinds == ["score-histogram"]


@pytest.mark.parametrize("edges", [[0, 2], [-0.1, 1], [0.5], [1, 0], [0, 0.5, 0.5, 1]])
def test_bins_are_shares_that_increase(oversight: Auditor, edges: list[float]) -> None:
    with pytest.raises(InputError):
        oversight.audits.balance_histogram("audience_" + "0" * 30, bins=edges)


def test_the_service_checks_the_bins_too(capped: Deployment, oversight: Auditor) -> None:
    me = raw(capped, oversight)
    audience = oversight.audiences.sample("gender", {"woman": 20})
    body = {"kind": BALANCES, "audience_id": audience.id, "epsilon": "0.1"}
    refused(me.submit(body | {"bins": {"edges": [0.5, 0.2]}}), "invalid-bins")
    refused(me.submit(body | {"bins": {"edges": [0, 1.5]}}), "invalid-request")
    assert me.submit(body | {"bins": {"edges": [0, 1]}}).status_code == 202


def test_the_command_asks_for_balances(
    capped: Deployment, oversight: Auditor, tmp_path: Path
) -> None:
    auditor_id = oversight.budget().mandates[0].auditor_id
    key = tmp_path / "key.jwk"
    person = capped.regulator.researchers.add("Ada", auditor_id=auditor_id, jwk=new_key(key))
    save_profile("balances", capped.url, person.id, key)
    sample = oversight.audiences.sample("gender", {"woman": 20})
    words = ["audit", "balances", sample.id, "--edges", "0,0.5,1", "--epsilon", "0.5", "--json"]
    done = CliRunner().invoke(app, [*words, "-p", "balances", "-q"])
    assert done.exit_code == 0, done.output
    shown = json.loads(done.output)
    assert shown["shares_of_the_cap"] == ["0 to 0.5", "0.5 to 1"]
    assert len(shown["woman"] if "woman" in shown else shown["g0"]) == 2
    assert "lifetime cap" in shown["note"]
    again = CliRunner().invoke(app, ["audit", "show", shown["audit"], "-p", "balances", "--json"])
    assert json.loads(again.output)["audit"] == shown["audit"]
