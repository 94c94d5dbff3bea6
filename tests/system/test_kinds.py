"""Every kind of audit from end to end, over a socket, on both databases."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from api.platforms.interfaces import Platform
from auditor_client import (
    Auditor,
    MatchCountResult,
    MostSkewedResult,
    NamedAudience,
    ScoreCdfResult,
    new_key,
    save_profile,
)
from auditor_client.audiences.tables import read_members
from auditor_client.cli.app import app
from auditor_client.errors import AboveLifetimeCapError, MandateError, UnsupportedAuditError
from openapi.resources import AuditKind, AuditRequest, Content
from platform_sim import SOFTWARE_JOB, SimulatedPlatform, recruit
from tests.refusals import refuses
from tests.world import Deployment, deployed, sqlite_url

pytestmark = pytest.mark.long_on_postgresql

KINDS: list[AuditKind] = ["score-histogram", "score-cdf", "match-count", "most-skewed"]


def vetted(deployment: Deployment, **mandate: Any) -> str:
    """A new auditor's id, with a mandate for every kind."""
    auditor_id = deployment.regulator.auditors.add("Lab").id
    until = datetime.now(UTC) + timedelta(days=1)
    granted: dict[str, Any] = {"kinds": KINDS, "purpose": "kinds", "valid_until": until}
    deployment.regulator.mandates.grant(auditor_id, **(granted | mandate))
    return auditor_id


def auditor_with(deployment: Deployment, **mandate: Any) -> Auditor:
    return deployment.researcher(vetted(deployment, **mandate))


def upload(auditor: Auditor, **changes: Any) -> Content:
    fields = {name: value for name, value in SOFTWARE_JOB.items() if name != "image"}
    return auditor.contents.upload(**(fields | changes))


def volunteers(platform: Platform) -> Any:
    assert isinstance(platform.people, SimulatedPlatform)
    return recruit(platform.people.world, 1_200, seed=3)


def audience_of(auditor: Auditor, platform: Platform) -> NamedAudience:
    frame = volunteers(platform)
    return auditor.audiences.upload(frame, id="email", by="gender", where="qualified")


def matched(platform: Platform) -> dict[str, int]:
    """Return the number of matched people, which only a test may know."""
    members = read_members(volunteers(platform), "email", "gender", "qualified")
    return {
        name: len(set(platform.people.match(members.kind, tokens).tolist()) - {-1})
        for name, tokens in members.groups.items()
    }


def spent(auditor: Auditor) -> Decimal:
    [mandate] = auditor.budget().mandates
    return mandate.spent


def test_match_counts_are_near_the_truth(
    deployment: Deployment, platform: Platform, tmp_path: Path
) -> None:
    auditor = auditor_with(deployment, epsilon_limit="10")
    truth = matched(platform)
    found = auditor.audits.match_count(audience_of(auditor, platform), epsilon=2)
    assert found.counts.keys() == truth.keys() == {"woman", "man"}
    # Two counts, noise of scale 1/2: one of them is off by 10 with probability 2 exp(-20) < 1e-8.
    assert all(abs(found.counts[name] - truth[name]) < 10 for name in truth)
    assert found.error_95 < 10
    assert spent(auditor) == 4  # Under change-one, twice epsilon.
    again = auditor.audits.result(found.id)
    assert isinstance(again, MatchCountResult)
    assert again.release == found.release
    saved = MatchCountResult.from_receipt(found.save_receipt(tmp_path / "receipt.json"))
    assert saved.counts == found.counts


def test_running_counts_are_near_the_truth(
    deployment: Deployment, platform: Platform, tmp_path: Path
) -> None:
    auditor = auditor_with(deployment, epsilon_limit="10")
    truth = matched(platform)
    found = auditor.audits.score_cdf(
        upload(auditor), audience_of(auditor, platform), bins=8, epsilon=2
    )
    assert found.edges == [step / 8 for step in range(1, 9)]
    # The last is a weighted mean of the noisy root and the sum of nine noisy leaves, of scale 1
    # each: off by 60 with probability below 1e-10 (Chernoff, s = 1/2).
    assert all(abs(found.cumulative[name][-1] - truth[name]) < 60 for name in truth)
    assert found.table().num_rows == 18
    assert spent(auditor) == 4
    saved = ScoreCdfResult.from_receipt(found.save_receipt(tmp_path / "receipt.json"))
    assert saved.table() == found.table()


def test_the_most_skewed_content_is_the_one_the_platform_is_biased_on(
    new_database: Callable[[], str], biased_platform: Platform, tmp_path: Path
) -> None:
    with deployed(new_database(), biased_platform) as deployment:
        auditor = auditor_with(deployment, epsilon_limit="10")
        audience = audience_of(auditor, biased_platform)
        news = upload(auditor, kind="news", title="Election results", attributes={})
        contents = [news, upload(auditor)]
        # The skews are 333 and 19 people, the scale is 1: P(mistake) < e^-300.
        found = auditor.audits.most_skewed(contents, audience, bins=4, epsilon=2)
        assert (found.chosen, found.position) == (contents[1], 1)
        assert spent(auditor) == 4
        saved = MostSkewedResult.from_receipt(found.save_receipt(tmp_path / "receipt.json"))
        assert saved.chosen == contents[1]


def test_the_most_skewed_compares_two_groups_only(
    deployment: Deployment, platform: Platform
) -> None:
    auditor = auditor_with(deployment, epsilon_limit="10")
    audience = auditor.audiences.sample("gender", {"woman": 20})
    contents = [upload(auditor), upload(auditor, title="Nurse")]
    with refuses(UnsupportedAuditError, "not-two-groups"):
        auditor.audits.most_skewed(contents, audience, bins=4)
    assert spent(auditor) == 0


def test_gaussian_noise_is_paid_in_rho(deployment: Deployment, platform: Platform) -> None:
    auditor = auditor_with(deployment, rho_limit="3", delta="0.000001")
    audience, content = audience_of(auditor, platform), upload(auditor)
    audit = auditor.audits.run(
        content, audience, bins=10, mechanism="discrete-gaussian", rho=0.5, size_rho=0.25
    )
    price = audit.release.price
    assert (price.epsilon, price.currency) == (None, "rho")
    # Changing a person moves two cells of each table: twice rho.
    assert price.debit == spent(auditor) == Decimal("1.5")
    # σ² = 1 in 11 bins: a sum that is off by 40 is 12 standard deviations off.
    truth = matched(platform)
    assert all(abs(sum(audit.counts[name]) - truth[name]) < 40 for name in truth)
    assert audit.noisy_sizes.keys() == {"woman", "man"}
    frame = audit.table(consistent=True).to_pylist()
    assert all(row["count"] >= 0 for row in frame)
    women = sum(row["count"] for row in frame if row["group"] == "woman")
    assert women == pytest.approx(audit.noisy_sizes["woman"])
    gap = audit.fairness_gap()
    assert 0 <= gap.low <= gap.high <= 1


def test_a_mandate_in_rho_pays_for_laplace_noise_and_a_verdict(
    deployment: Deployment, platform: Platform
) -> None:
    auditor = auditor_with(deployment, rho_limit="3")
    audit = auditor.audits.run(upload(auditor), audience_of(auditor, platform), bins=10)
    assert audit.release.price.currency == "rho"
    assert audit.fairness_gap().verdict(alpha=0.2) == "fair"


def test_a_mandate_in_epsilon_does_not_pay_for_gaussian_noise(
    deployment: Deployment, platform: Platform
) -> None:
    auditor = auditor_with(deployment, epsilon_limit="10")
    audience = auditor.audiences.sample("gender", {"woman": 20, "man": 20})
    with refuses(MandateError, "no-mandate-in-rho"):
        auditor.audits.run(upload(auditor), audience, mechanism="discrete-gaussian", rho=1)
    assert spent(auditor) == 0


@pytest.mark.parametrize("kind", ["score-cdf", "match-count", "most-skewed"])
def test_a_kind_must_be_allowed_by_name(deployment: Deployment, kind: AuditKind) -> None:
    others = [other for other in KINDS if other != kind]
    auditor = auditor_with(deployment, epsilon_limit="10", kinds=others)
    audience = auditor.audiences.sample("gender", {"woman": 20, "man": 20})
    contents = [upload(auditor), upload(auditor, title="Nurse")]
    asking = auditor.audits.requests
    requests: dict[str, AuditRequest] = {
        "score-cdf": asking.score_cdf(contents[0], audience, bins=4),
        "match-count": asking.match_count(audience),
        "most-skewed": asking.most_skewed(contents, audience, bins=4),
    }
    with pytest.raises(MandateError, match=kind):
        auditor.audits.submit(requests[kind])
    for other, request in requests.items():
        if other != kind:
            assert auditor.audits.submit(request).kind == other


def test_audits_are_priced_together_and_nothing_is_spent(deployment: Deployment) -> None:
    auditor = auditor_with(deployment, epsilon_limit="5")
    audience = auditor.audiences.sample("gender", {"woman": 20, "man": 20})
    content, asking = upload(auditor), auditor.audits.requests
    batch = auditor.audits.price_all(
        [
            asking.score_histogram(content, audience, bins=4, epsilon=1),
            asking.match_count(audience, epsilon="0.5"),
            asking.score_cdf(content, audience, bins=4, epsilon=1),
        ]
    )
    assert [quote.price.debit for quote in batch.quotes] == [2, 1, 2]
    assert [quote.remaining_after for quote in batch.quotes] == [3, 2, 0]
    assert [quote.buys for quote in batch.quotes] == [2, 3, 1]
    assert batch.debits == {"epsilon": 5}
    assert batch.covered
    assert spent(auditor) == 0


def test_a_mandate_that_renews_says_so(deployment: Deployment) -> None:
    auditor = auditor_with(
        deployment, epsilon_limit="4", renewal=("rolling", 30), lifetime_limit="6"
    )
    audience = auditor.audiences.sample("gender", {"woman": 20, "man": 20})
    auditor.audits.match_count(audience, epsilon=1)
    [mandate] = auditor.budget().mandates
    assert mandate.renewal is not None
    assert (mandate.renewal.kind, mandate.renewal.days) == ("rolling", 30)
    assert mandate.lifetime_limit == 6
    assert mandate.spent == mandate.remaining == 2


def test_an_audit_above_the_lifetime_cap_is_refused_before_the_charge(
    tmp_path_factory: pytest.TempPathFactory, platform: Platform
) -> None:
    url = sqlite_url(tmp_path_factory.mktemp("cap"))
    with deployed(url, platform, person_lifetime_rho=Decimal(2)) as deployment:
        auditor = auditor_with(deployment, epsilon_limit="10")
        audience = auditor.audiences.sample("gender", {"woman": 20, "man": 20})
        with pytest.raises(AboveLifetimeCapError, match=r"\b2\b"):
            auditor.audits.match_count(audience, epsilon="1.01")
        assert spent(auditor) == 0
        assert auditor.audits.match_count(audience, epsilon=1).counts.keys() == {"woman", "man"}


def test_the_command_runs_every_kind(deployment: Deployment, tmp_path: Path) -> None:
    sign_up(deployment, vetted(deployment, rho_limit="100"), tmp_path / "key.jwk")
    with Auditor.from_profile("kinds") as auditor:
        audience = auditor.audiences.sample("gender", {"woman": 50, "man": 60}).id
        contents = [upload(auditor).id, upload(auditor, title="Nurse").id]
    receipt = tmp_path / "receipt.json"

    found = command("audit", "match-count", audience, "--receipt", str(receipt))
    assert found["found"].keys() == {"woman", "man"}
    assert MatchCountResult.from_receipt(receipt).id == found["audit"]
    assert command("audit", "show", found["audit"]) == found

    cdf = command("audit", "cdf", contents[0], audience, "--bins", "4")
    assert len(cdf["up_to"]) == len(cdf["woman"]) == 5
    assert command("audit", "show", cdf["audit"]) == cdf

    skewed = command("audit", "most-skewed", audience, *contents, "--bins", "4")
    assert skewed["content"] in contents
    assert command("audit", "show", skewed["audit"]) == skewed

    gaussian = ["--bins", "4", "--mechanism", "discrete-gaussian", "--rho", "0.5"]
    quote = command("price", contents[0], audience, *gaussian)
    assert quote["price"]["epsilon"] is None
    histogram = command("audit", "run", contents[0], audience, *gaussian)
    assert 0 <= histogram["low"] <= histogram["efg"] <= histogram["high"] <= 1
    assert histogram["currency"] == "rho"
    assert command("audit", "show", histogram["audit"]) == histogram

    kinds = {audit["kind"] for audit in command("audit", "list")}
    assert kinds == set(KINDS)
    [mandate] = command("budget")
    assert mandate["currency"] == "rho"


def sign_up(deployment: Deployment, auditor_id: str, key: Path) -> None:
    person = deployment.regulator.researchers.add("Ada", auditor_id=auditor_id, jwk=new_key(key))
    save_profile("kinds", deployment.url, person.id, key)


def command(*words: str) -> Any:
    """Return a command's JSON output."""
    done = CliRunner().invoke(app, [*words, "-p", "kinds", "--json"])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)
