"""An audit from end to end, over a socket, on both databases."""

from collections.abc import Callable
from fractions import Fraction

import pytest

from api.platforms.interfaces import Platform
from auditor_client import Auditor
from openapi.resources import Content
from platform_sim import SOFTWARE_JOB, SimulatedPlatform, recruit
from tests.world import Deployment, deployed


def upload_job(auditor: Auditor) -> Content:
    return auditor.contents.upload(**{k: v for k, v in SOFTWARE_JOB.items() if k != "image"})


def world_of(platform: Platform) -> SimulatedPlatform:
    assert isinstance(platform.people, SimulatedPlatform)
    return platform.people


def test_a_fair_platform_is_called_fair_and_the_ledger_agrees(
    deployment: Deployment, platform: Platform
) -> None:
    auditor = deployment.auditor(epsilon="10")
    frame = recruit(world_of(platform).world, 1_200, seed=3)
    audience = auditor.audiences.upload(frame, id="email", by="gender", where="qualified")
    audit = auditor.audits.run(upload_job(auditor), audience, bins=10, epsilon=1.0)
    assert audit.fairness_gap(delta=0.05).verdict(alpha=0.2) == "fair"

    [mandate] = auditor.budget().mandates
    assert Fraction(mandate.spent) == Fraction("2.5")
    [charge] = deployment.regulator.charges(auditor_id=mandate.auditor_id)
    assert charge.audit_id == audit.id
    assert charge.debit == mandate.spent
    kinds = [
        e.kind for e in deployment.regulator.ledger.entries() if e.auditor_id == mandate.auditor_id
    ]
    assert kinds[:2] == ["release", "charge"]


def test_a_biased_platform_is_called_unfair(
    new_database: Callable[[], str], biased_platform: Platform
) -> None:
    with deployed(new_database(), biased_platform) as deployment:
        auditor = deployment.auditor()
        frame = recruit(world_of(biased_platform).world, 1_200, seed=4)
        audience = auditor.audiences.upload(frame, id="email", by="gender", where="qualified")
        audit = auditor.audits.run(upload_job(auditor), audience, bins=10, epsilon=1.0)
        assert audit.fairness_gap(delta=0.05).verdict(alpha=0.2) == "unfair"


def test_the_release_is_always_the_same_bytes(deployment: Deployment, platform: Platform) -> None:
    auditor = deployment.auditor()
    audience = auditor.audiences.sample("gender", {"woman": 50, "man": 60})
    request = auditor.audits.request(upload_job(auditor), audience, bins=4, epsilon=0.5)
    first = auditor.audits.submit(request, idempotency_key="same-key-twice")
    audit = auditor.audits.wait(first.id)
    assert auditor.audits.submit(request, idempotency_key="same-key-twice") == first
    assert auditor.audits.get(first.id).release == audit.release
    assert [group.size.value for group in audit.release.groups] == [60, 50]
    assert {group.size.kind for group in audit.release.groups} == {"known"}
    [mandate] = auditor.budget().mandates
    assert mandate.spent == pytest.approx(1)
