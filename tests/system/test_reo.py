"""Equal opportunity from end to end, over a socket, on both databases."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from typer.testing import CliRunner

from api.app.compose import JoinedLogs
from api.platforms.interfaces import Platform
from auditor_client import Auditor, InputError, NamedAudience, new_key, reo, save_profile
from auditor_client.cli.app import app
from auditor_client.errors import UnsupportedAuditError
from auditor_client.kinds.reo.result import ReoResult
from openapi.resources import AuditKind
from platform_sim import Feed, Impressions, World
from tests.refusals import refuses
from tests.system.raw import raw, refused, usernames
from tests.world import Deployment, deployed

pytestmark = pytest.mark.long_on_postgresql

KINDS: list[AuditKind] = ["reo"]
SIGNALS = ("like_video", "share", "follow", "finish", "download", "long_view")


@pytest.fixture(scope="module")
def impressions(world: World) -> Impressions:
    """A feed that favours young creators twofold, and a strategy that doubles that."""
    feed = Feed(ranking={"yes": 2.0}, activation=0.5)
    return Impressions(world, feed, days=2, rows_per_day=24_000)


@pytest.fixture(scope="module")
def service(
    new_database: Callable[[], str], platform: Platform, impressions: Impressions
) -> Iterator[Deployment]:
    logged = replace(platform, logs=JoinedLogs((impressions,)))
    with deployed(new_database(), logged) as running:
        yield running


def viewers(auditor: Auditor, world: World, count: int = 1_500) -> NamedAudience:
    names = usernames(world, count)
    half = ["one" if number % 2 else "other" for number in range(len(names))]
    return auditor.audiences.upload(
        pa.table({"username": names, "half": half}), id="username", by="half"
    )


def auditor_at(service: Deployment) -> Auditor:
    return service.auditor(kinds=KINDS, epsilon="100")


def whole(
    impressions: Impressions, world: World, count: int, strategy: str = "default"
) -> reo.Penalty:
    """The penalty of all rows of the audience, without any noise."""
    holders = world.directory.holders("username")[:count]
    table = impressions.table.filter(pc.is_in(impressions.table["person"], pa.array(holders)))
    asked, random = (
        table.filter(pc.equal(table["strategy"].cast(pa.string()), name))
        for name in (strategy, "random")
    )
    return reo.own_logs(asked, random, SIGNALS, "young_adult").penalty()


def test_an_audit_finds_the_lean_and_who_gains_by_it(
    service: Deployment, world: World, impressions: Impressions, tmp_path: Path
) -> None:
    auditor = auditor_at(service)
    found = auditor.audits.reo(
        viewers(auditor, world), "feed", creators="young_adult", epsilon=10, rows_per_person=3
    )
    ours = found.penalty("default", delta=1e-6)
    truth = whole(impressions, world, 1_500)
    # An interval at a confidence of one in a million; it is over viewers, the truth over rows.
    assert ours.low < truth.penalty < ours.high
    gains, sure = truth.relative["yes"], ours.delta_u["yes"]
    assert gains > 0 > truth.relative["no"]
    assert sure.low < gains < sure.high
    changed = found.difference("boosted", "default", delta=1e-6)
    gained = whole(impressions, world, 1_500, "boosted").penalty - truth.penalty
    assert changed.low < gained < changed.high
    assert found.release.price.debit == auditor.budget().mandates[0].spent == 20
    assert any("viewer" in rule for rule in found.release.rules)
    # Each of 1,500 viewers has at most three rows, in one group of the audience.
    assert 0 < sum(found.table()["positives"].to_pylist()) < 4_600
    again = auditor.audits.result(found.id)
    assert isinstance(again, ReoResult)
    assert again.release == found.release
    saved = ReoResult.from_receipt(found.save_receipt(tmp_path / "receipt.json"))
    assert saved.table() == found.table()
    assert saved.penalty().low == found.penalty().low


def test_days_groups_and_stages_in_one_release(service: Deployment, world: World) -> None:
    auditor = auditor_at(service)
    found = auditor.audits.reo(
        viewers(auditor, world), "feed", creators="region", groups=["north", "south"],
        strategies=["default", "recalled"], signals=["finish", "long_view"], days="all", epsilon=10,
    )  # fmt: skip
    assert found.release.days == ["day-01", "day-02"]
    watched = found.monitor("default")
    assert list(watched.days) == found.release.days
    # Nobody leans towards a region, but days are small: limits are wide, and hold.
    assert all(one.low < 0.2 for one in watched.days.values())
    parts = [found.positives("default", day, group) for day in found.release.days
             for group in ("one", "other")]  # fmt: skip
    assert found.positives("default") == {
        name: sum(part[name] for part in parts) for name in ("north", "south")
    }
    assert found.stages("recalled", "default").whole.low < 0.3
    assert found.parity("default").low < 0.2
    # Halves are drawn by lot: their viewers are suited alike.
    assert found.precision("default", delta=1e-6).low == 0
    for wrong in (("new", None, None), ("default", "day-09", None), ("default", None, "third")):
        with pytest.raises(InputError):
            found.positives(*wrong)


def test_noise_larger_than_the_counts_is_reported_and_not_raised(
    service: Deployment, world: World
) -> None:
    auditor = auditor_at(service)
    found = auditor.audits.reo(
        viewers(auditor, world, 60), "feed", creators="young_adult", epsilon="0.01"
    )
    ours = found.penalty()
    assert not ours.defined
    assert "too few" in ours.explain()
    assert ours.low <= ours.high
    for other in (found.parity(), found.precision()):
        assert not other.defined
        assert other.low <= other.high
    assert found.difference("boosted", "default").verdict == "inconclusive"
    with refuses(InputError, "no-days"):
        found.monitor()


def test_gaussian_noise_is_paid_in_rho(service: Deployment, world: World) -> None:
    auditor_id = service.regulator.auditors.add("Gauss").id
    until = datetime.now(UTC) + timedelta(days=1)
    service.regulator.mandates.grant(
        auditor_id, kinds=KINDS, purpose="rho", rho_limit="9", valid_until=until
    )
    auditor = service.researcher(auditor_id)
    found = auditor.audits.reo(
        viewers(auditor, world, 400), "feed", creators="young_adult",
        mechanism="discrete-gaussian", rho=2,
    )  # fmt: skip
    assert found.release.price.currency == "rho"
    assert found.release.price.debit == 4
    # sigma² = 1 / 2 rho
    assert found.noise.variance == pytest.approx(0.25)


def test_refusals_rest_on_the_request_and_public_facts(
    service: Deployment, world: World, platform: Platform, new_database: Callable[[], str]
) -> None:
    auditor = auditor_at(service)
    audience = viewers(auditor, world, 40)
    with refuses(UnsupportedAuditError, "no-such-words", "newest"):
        auditor.audits.reo(audience, "feed", creators="young_adult", strategies=["newest"])
    with refuses(UnsupportedAuditError, "not-a-group-of-creators"):
        auditor.audits.reo(audience, "feed", creators="day", groups=["day-01", "day-02"])
    with pytest.raises(InputError, match="2"):
        auditor.audits.reo(audience, "feed", creators="young_adult", groups=["yes"])
    assert auditor.budget().mandates[0].spent == 0
    # A direct request gets the same answer.
    body = {
        "kind": "reo", "audience_id": audience.id, "log": "feed", "signals": ["share"],
        "creators": "young_adult", "groups": ["yes"], "strategies": ["default"], "epsilon": "1",
    }  # fmt: skip
    refused(raw(service, auditor).submit(body), "invalid-request", "groups")


def test_without_random_traffic_the_question_is_refused(
    platform: Platform, world: World, new_database: Callable[[], str]
) -> None:
    blind = Impressions(world, Feed(activation=0.0), days=1, rows_per_day=8_000)
    with deployed(new_database(), replace(platform, logs=JoinedLogs((blind,)))) as running:
        auditor = running.auditor(kinds=KINDS, epsilon="100")
        assert "reo" not in auditor.catalogue().kinds
        audience = viewers(auditor, world, 40)
        with refuses(InputError, "no-random-traffic"):
            auditor.audits.reo(audience, "feed", creators="young_adult")
        body = {
            "kind": "reo", "audience_id": audience.id, "log": "feed", "signals": ["share"],
            "creators": "young_adult", "groups": ["yes", "no"], "strategies": ["default"],
            "epsilon": "1",
        }  # fmt: skip
        refused(raw(running, auditor).submit(body), "unsupported-audit", "random")
        assert auditor.budget().mandates[0].spent == 0


def test_the_command(
    service: Deployment, world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLATFORM_AUDITOR_HOME", str(tmp_path))
    auditor_id = service.regulator.auditors.add("Feed lab").id
    service.grant(auditor_id, "100", kinds=KINDS)
    key = tmp_path / "key.jwk"
    person = service.regulator.researchers.add("Ada", auditor_id=auditor_id, jwk=new_key(key))
    save_profile("feeds", service.url, person.id, key)
    with Auditor.from_profile("feeds") as auditor:
        audience = viewers(auditor, world, 400)
    asked = ["audit", "reo", audience.id, "feed", "--creators", "young_adult", "--epsilon", "5"]
    more = ["--strategies", "default", "--days", "day-01", "--signals", "share,finish"]
    receipt = ["--receipt", str(tmp_path / "receipt.json"), "--quiet"]
    done = CliRunner().invoke(app, [*asked, *more, *receipt, "-p", "feeds", "--json"])
    assert done.exit_code == 0, done.output
    row = json.loads(done.stdout)
    assert set(row["strategy"]) == {"default", None}
    assert "penalty" in row["penalty"]["default"] or "too few" in row["penalty"]["default"]
    assert row["debit"] == "10"
    assert ReoResult.from_receipt(tmp_path / "receipt.json").release.signals == ["share", "finish"]
