"""No side door (R2): what an auditor sees does not depend on people, but for the noisy numbers."""

import json
import re
import time
from collections.abc import Iterator
from typing import Any

import httpx2
import numpy as np
import pytest
from numpy.typing import NDArray

from api.platforms.interfaces import Platform
from platform_sim import World
from platform_sim.people import identifiers
from tests.system.adapters import FAULTS, GOSSIP, Faulty, on
from tests.system.raw import CSV, Raw, csv, raw, request_for, usernames
from tests.system.scene import wait
from tests.world import Deployment, deployed, sqlite_url

pytestmark = pytest.mark.long_on_postgresql

VARYING = re.compile(r"[a-z]+_[0-9a-f]{30}|sha256:[0-9a-f]{64}|\d{4}-\d\d-\d\dT[0-9:.]+(Z|\+00:00)")


def shown(answer: httpx2.Response) -> tuple[int, dict[str, str], str]:
    """All that an answer tells, without identifiers, digests and times."""
    headers = {name: value for name, value in answer.headers.items() if name != "date"}
    if "location" in headers:
        headers["location"] = VARYING.sub("…", headers["location"])
    # Times are written without trailing zeros.
    if VARYING.search(answer.text):
        headers.pop("content-length", None)
    return answer.status_code, headers, VARYING.sub("…", answer.text)


def without_numbers(release: str) -> str:
    """A release without what went through the waist, its receipt and its time."""
    body = json.loads(release)
    for group in body["groups"]:
        group["counts"] = len(group["counts"])
        group["outside"] = group["size"]["value"] = "noisy"
    return VARYING.sub("…", json.dumps(body | {"receipt": len(body["receipt"].split("."))}))


def audit_of(deployment: Deployment, names: list[str], content: dict[str, Any]) -> Iterator[object]:
    """Everything an auditor can look at, from the first upload to the release."""
    me = raw(deployment, deployment.auditor())
    content = me.content(**content)
    made = me.post("/v1/audiences", {"groups": ["g0", "g1"]})
    yield shown(made)
    audience = made.json()
    half = len(names) // 2
    yield shown(me.put(audience["id"], "g0", csv(names[:half])))
    yield shown(me.put(audience["id"], "g1", csv(names[half:])))
    path = f"/v1/audiences/{audience['id']}"
    yield shown(me.get(path))
    yield shown(me.post(f"{path}/seal", {"salt": "A" * 32}))
    yield shown(me.get(path))
    yield shown(me.get("/v1/audiences"))
    body = request_for(content, audience)
    yield shown(me.post("/v1/audits/price", body))
    submitted = me.submit(body)
    yield shown(submitted)
    yield from looks(deployment, me, submitted.json()["id"])


def looks(deployment: Deployment, me: Raw, audit_id: str) -> Iterator[object]:
    path = f"/v1/audits/{audit_id}"
    yield shown(me.get(path))
    yield shown(me.get(f"{path}/release"))
    assert deployment.service.worker().run_one()
    yield shown(me.get(path))
    yield shown(me.get(f"{path}/events"))
    yield shown(me.get("/v1/audits"))
    yield shown(me.get("/v1/budget"))
    release = me.get(f"{path}/release")
    yield release.status_code, without_numbers(release.text)


def test_strangers_and_members_look_the_same_from_outside(idle: Deployment, world: World) -> None:
    members, strangers = usernames(world, 40), usernames(world, 40, strangers=True)
    # The digest of a part covers its bytes, so that is all that may differ.
    assert [len(name) for name in members] == [len(name) for name in strangers]
    seen = [list(audit_of(idle, names, {})) for names in (members, strangers)]
    for one, other in zip(*seen, strict=True):
        assert one == other


@pytest.fixture(scope="module")
def faulty(
    tmp_path_factory: pytest.TempPathFactory, platform: Platform, world: World
) -> Iterator[Deployment]:
    assert platform.scores is not None
    scores = Faulty(platform.scores, victim=int(world.directory.holders("username")[3]))
    url = sqlite_url(tmp_path_factory.mktemp("faulty"))
    limits = {"embedded_worker": False, "lease_seconds": 0.01}
    with deployed(url, on(platform, scores), **limits) as running:
        yield running


@pytest.fixture(scope="module")
def healthy_looks(faulty: Deployment, world: World) -> list[object]:
    return list(audit_of(faulty, usernames(world, 40), {"title": "a job"}))


@pytest.mark.parametrize("fault", FAULTS)
def test_a_bad_value_for_one_person_is_cut_and_nobody_sees_it(
    faulty: Deployment, world: World, healthy_looks: list[object], fault: str
) -> None:
    looks_like = list(audit_of(faulty, usernames(world, 40), {"title": fault}))
    assert looks_like == healthy_looks


@pytest.mark.parametrize("fault", FAULTS)
def test_everybody_but_that_one_person_is_scored(
    faulty: Deployment, world: World, fault: str
) -> None:
    me = raw(faulty, faulty.auditor())
    audience = me.audience({"g0": usernames(world, 40)})
    body = request_for(me.content(title=fault), audience, epsilon="10", size_epsilon="10")
    audit = me.submit(body).json()
    assert faulty.service.worker().run_one()
    [group] = me.get(f"/v1/audits/{audit['id']}/release").json()["groups"]
    # False alarm: six cells at scale 0.1, each off by more than 2 with probability 2e-13.
    assert abs(group["outside"] - 1) <= 2
    assert abs(group["size"]["value"] - 40) <= 2
    assert abs(sum(group["counts"]) - 39) <= 2 * 4


def test_a_platform_that_is_down_fails_the_audit_after_some_attempts_and_keeps_the_charge(
    faulty: Deployment, world: World
) -> None:
    auditor = faulty.auditor()
    me = raw(faulty, auditor)
    worker = faulty.service.worker()
    views = []
    for names in (usernames(world, 10), usernames(world, 10, strangers=True)):
        audience = me.audience({"g0": names})
        audit = me.submit(request_for(me.content(title="down"), audience)).json()
        for _ in range(5):
            assert worker.run_one()
            time.sleep(0.02)  # longer than a lease
        final = me.get(f"/v1/audits/{audit['id']}")
        views.append(VARYING.sub("…", final.text))
        assert final.json()["failure"] == "platform-down"
        assert GOSSIP not in final.text
    assert views[0] == views[1]
    [mandate] = auditor.budget().mandates
    assert mandate.spent == 5
    entries = [e for e in faulty.regulator.ledger.entries() if e.auditor_id == mandate.auditor_id]
    assert [e.kind for e in entries if e.kind in ("charge", "failure", "refund")] == [
        "failure",
        "charge",
    ] * 2


def sizes(me: Raw, audience: dict[str, Any]) -> list[int]:
    body = request_for(me.content(), audience, epsilon="10", size_epsilon="10")
    audit = me.submit(body).json()
    assert wait(me, audit["id"]) == "released"
    release = me.get(f"/v1/audits/{audit['id']}/release").json()
    return [group["size"]["value"] for group in release["groups"]]


def called(world: World, people: NDArray[np.int64]) -> dict[str, list[str]]:
    """The same people under all their names."""
    names = identifiers.usernames(world.seed, people, world.surnames[people])
    emails = identifiers.emails(world.seed, people, world.surnames[people])
    phones = identifiers.phones(world.seed, people)
    return {
        "username": names.to_pylist(),
        "email_sha256": [each.hex() for each in identifiers.sha256_each(emails).to_pylist()],
        "phone_sha256": [each.hex() for each in identifiers.sha256_each(phones).to_pylist()],
    }


def test_a_person_under_several_identifiers_counts_once(
    deployment: Deployment, world: World
) -> None:
    directory = world.directory
    everywhere = np.intersect1d(directory.holders("email"), directory.holders("phone"))
    people = np.intersect1d(everywhere, directory.holders("username"))[:30]
    me = raw(deployment, deployment.auditor())
    audience = me.made("/v1/audiences", {"groups": ["g0"]})
    for part, (kind, values) in enumerate(called(world, people).items()):
        body = csv([*values, *values[:10]], kind)  # and some of them twice
        assert me.put(audience["id"], "g0", body, CSV, part).is_success
    sealed = me.seal(audience["id"])
    assert sealed["groups"][0]["members"] == 120
    # False alarm: noise at scale 0.1 beyond 2 has probability 2e-13.
    [size] = sizes(me, sealed)
    assert abs(size - 30) <= 2


def test_a_person_in_two_groups_counts_in_the_first_unless_more_are_declared(
    deployment: Deployment, world: World
) -> None:
    me, names = raw(deployment, deployment.auditor()), usernames(world, 40)
    groups = {"g0": names[:20], "g1": names[10:30], "g10": names[:40]}
    # False alarm: noise at scale 0.1 beyond 2 has probability 2e-13; at scale 0.3, beyond 6, 2e-10.
    for found, expected in zip(sizes(me, me.audience(groups)), (20, 10, 10), strict=True):
        assert abs(found - expected) <= 2
    many = me.audience(groups, groups_per_person=3)
    for found, expected in zip(sizes(me, many), (20, 20, 40), strict=True):
        assert abs(found - expected) <= 6
