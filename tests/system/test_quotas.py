"""Quotas: refused above the limit, with what to do, and never passed by two at once."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx2
import pytest

from api.platforms.interfaces import Platform
from auditor_client.errors import ConflictError, QuotaExceededError
from platform_sim import World
from tests.system.raw import JOB, Raw, csv, raw, refused, usernames
from tests.world import Deployment, deployed

CONTENTS, AUDIENCES, UPLOADS, PARTS = 3, 6, 2, 4
AT_ONCE = 8


@pytest.fixture(scope="module")
def limited(new_database: Callable[[], str], platform: Platform) -> Iterator[Deployment]:
    quotas = {
        "contents_per_auditor": CONTENTS,
        "audiences_per_auditor": AUDIENCES,
        "open_uploads_per_auditor": UPLOADS,
        "parts_per_audience": PARTS,
    }
    with deployed(new_database(), platform, embedded_worker=False, **quotas) as running:
        yield running


@pytest.fixture
def me(limited: Deployment) -> Raw:
    return raw(limited, limited.auditor())


def at_once(send: Callable[[int], httpx2.Response]) -> list[httpx2.Response]:
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(send, range(AT_ONCE)))


def kept(answers: list[httpx2.Response]) -> int:
    for answer in answers:
        if not answer.is_success:
            refused(answer, "quota-exceeded")
    return sum(answer.is_success for answer in answers)


def test_contents_sent_at_once_stay_within_the_quota(limited: Deployment, me: Raw) -> None:
    assert kept(at_once(lambda _: me.post("/v1/contents", JOB))) == CONTENTS
    answer = me.post("/v1/contents", JOB)
    refused(answer, "quota-exceeded", "contents_per_auditor")
    assert answer.status_code == 409
    assert answer.json()["limit"] == CONTENTS
    assert len(me.get("/v1/contents").json()["items"]) == CONTENTS
    # Others have their own.
    assert raw(limited, limited.auditor()).content()["id"]


def test_open_uploads_opened_at_once_stay_within_the_quota(me: Raw) -> None:
    answers = at_once(lambda _: me.post("/v1/audiences", {"groups": ["g0"]}))
    assert kept(answers) == UPLOADS
    first = next(answer.json()["id"] for answer in answers if answer.is_success)
    assert me.call("DELETE", f"/v1/audiences/{first}").is_success
    assert me.post("/v1/audiences", {"groups": ["g0"]}).is_success
    refused(me.post("/v1/audiences", {"groups": ["g0"]}), "quota-exceeded", "Seal or delete one")


def test_audiences_that_are_not_erased_stay_within_the_quota(me: Raw, world: World) -> None:
    people = usernames(world, 3)
    made = [me.audience({"g0": people}) for _ in range(AUDIENCES)]
    refused(me.post("/v1/audiences", {"groups": ["g0"]}), "quota-exceeded", "DELETE /v1/audiences")
    group = {"label": "g0", "value": "woman", "size": 1}
    sample = {"attribute": "gender", "groups": [group]}
    refused(me.post("/v1/audiences/samples", sample), "quota-exceeded")
    assert me.call("DELETE", f"/v1/audiences/{made[0]['id']}").is_success
    assert me.audience({"g0": people})["state"] == "sealed"


def test_parts_sent_at_once_stay_within_the_quota(me: Raw, world: World) -> None:
    opened = me.made("/v1/audiences", {"groups": ["g0", "g1"]})["id"]
    body = csv(usernames(world, 3))
    labels = ("g0", "g1")
    answers = at_once(lambda number: me.put(opened, labels[number % 2], body, part=number))
    assert kept(answers) == PARTS
    there = next(number for number in range(AT_ONCE) if answers[number].is_success)
    # A part that is sent again takes no place.
    assert me.put(opened, labels[there % 2], body, part=there).is_success
    refused(me.put(opened, "g0", body, part=100), "quota-exceeded", "larger parts")
    assert me.call("DELETE", f"/v1/audiences/{opened}/groups/g0").is_success
    assert me.put(opened, "g1", body, part=100).is_success


def test_the_sdk_says_so_at_once(limited: Deployment) -> None:
    auditor = limited.auditor()
    for _ in range(CONTENTS):
        auditor.contents.upload(**JOB)
    with pytest.raises(QuotaExceededError) as refusal:
        auditor.contents.upload(**JOB)
    assert isinstance(refusal.value, ConflictError)
    assert refusal.value.code == "quota-exceeded"
