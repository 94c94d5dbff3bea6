"""The quota of unpaid matching: by what was uploaded, durably, and in all processes together."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

import pytest
from sqlmodel import select

from api.audiences import quota
from api.db import MatchingQuotaRow, Store
from api.kernel.errors import MatchingQuotaError
from api.kernel.hard_limits import IDENTIFIERS_PER_DAY, LEAST_OF_A_PART
from api.kernel.settings import Settings
from api.platforms.interfaces import Platform
from auditor_client import AuditorError
from auditor_client.errors import MatchingQuotaError as RefusedError
from auditor_client.errors import RateLimitedError
from platform_sim import World
from tests.system.raw import csv, matched, raw, refused, stored, usernames
from tests.world import Deployment, deployed

PARTS = 3


@pytest.fixture(scope="module")
def limited(new_database: Callable[[], str], platform: Platform) -> Iterator[Deployment]:
    day = {"identifiers_per_day": PARTS * LEAST_OF_A_PART}
    with deployed(new_database(), platform, embedded_worker=False, **day) as running:
        yield running


def used(store: Store, auditor_id: str) -> int:
    with store.read() as session:
        return session.exec(
            select(MatchingQuotaRow.identifiers).where(MatchingQuotaRow.auditor_id == auditor_id)
        ).one()


@pytest.mark.parametrize("strangers", [True, False])
def test_parts_count_each_time_they_are_sent_regardless_of_matches(
    limited: Deployment, world: World, strangers: bool
) -> None:
    store, auditor = limited.service.store, limited.auditor()
    me, body = raw(limited, auditor), csv(usernames(world, 5, strangers=strangers))
    opened = me.made("/v1/audiences", {"groups": ["g0"]})["id"]
    for _ in range(PARTS):  # one part, again and again
        assert me.put(opened, "g0", body).is_success
    auditor_id = auditor.budget().mandates[0].auditor_id
    assert used(store, auditor_id) == PARTS * LEAST_OF_A_PART
    before = stored(matched(store))
    answer = me.put(opened, "g0", body)
    refused(answer, "matching-quota", "midnight UTC")
    assert 0 < int(answer.headers["retry-after"]) <= 86_400
    assert answer.json()["limit"] == PARTS * LEAST_OF_A_PART
    assert stored(store) == before
    assert used(store, auditor_id) == PARTS * LEAST_OF_A_PART
    # What is there can be sealed, and others have their own quota.
    assert me.seal(opened)["state"] == "sealed"
    other = raw(limited, limited.auditor())
    assert other.audience({"g0": usernames(world, 5)})["state"] == "sealed"


def test_a_part_that_is_refused_for_another_reason_counts_nothing(
    limited: Deployment, world: World
) -> None:
    auditor = limited.auditor()
    me = raw(limited, auditor)
    opened = me.made("/v1/audiences", {"groups": ["g0"]})["id"]
    for _ in range(PARTS + 1):
        refused(me.put(opened, "g0", b"nickname\nada\n"), "malformed-members")
    assert me.put(opened, "g0", csv(usernames(world, 5))).is_success
    assert used(limited.service.store, auditor.budget().mandates[0].auditor_id) == LEAST_OF_A_PART


def test_the_sdk_says_so_and_does_not_wait_for_tomorrow(limited: Deployment, world: World) -> None:
    import polars as pl

    auditor = limited.auditor()
    names = usernames(world, 8)
    frame = pl.DataFrame({"username": names, "group": [f"of {n % 4}" for n in range(8)]})
    with pytest.raises(RefusedError) as raised:
        auditor.audiences.upload(frame, "username", "group", progress=False)
    assert isinstance(raised.value, RateLimitedError)
    assert isinstance(raised.value, AuditorError)


def settings_of(limited: Deployment, identifiers: int) -> Settings:
    return limited.service.settings.model_copy(update={"identifiers_per_day": identifiers})


def test_many_at_once_pass_exactly_as_often_as_they_may(limited: Deployment) -> None:
    """By stores of their own, as processes have."""
    auditor_id = limited.auditor().budget().mandates[0].auditor_id
    stores = [Store(limited.service.settings.database_url) for _ in range(2)]
    settings = settings_of(limited, 10 * LEAST_OF_A_PART)

    def count(number: int) -> bool:
        try:
            with stores[number % 2].write() as session:
                quota.count(session, auditor_id, 1, settings)
        except MatchingQuotaError:
            return False
        return True

    with ThreadPoolExecutor(6) as threads:
        passed = list(threads.map(count, range(24)))
    assert sum(passed) == 10
    assert used(limited.service.store, auditor_id) == 10 * LEAST_OF_A_PART
    for store in stores:
        store.close()


def test_a_new_day_begins_at_nothing(limited: Deployment, monkeypatch: pytest.MonkeyPatch) -> None:
    auditor_id = limited.auditor().budget().mandates[0].auditor_id
    store, settings = limited.service.store, settings_of(limited, 50_000)

    def count(at: datetime, identifiers: int) -> None:
        monkeypatch.setattr(quota, "now", lambda: at)
        with store.write() as session:
            quota.count(session, auditor_id, identifiers, settings)

    count(datetime(2031, 5, 1, 12, tzinfo=UTC), 40_000)
    late = datetime(2031, 5, 1, 23, 59, 50, tzinfo=UTC)
    with pytest.raises(MatchingQuotaError) as raised:
        count(late, 10_001)
    assert raised.value.headers == {"Retry-After": "10"}
    count(late, 10_000)
    count(datetime(2031, 5, 2, tzinfo=UTC), 50_000)
    assert used(store, auditor_id) == 50_000


def test_processes_whose_clocks_differ_at_midnight_count_together(
    limited: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One is in tomorrow already, the other in today still: neither begins at nothing again."""
    auditor_id = limited.auditor().budget().mandates[0].auditor_id
    store, settings = limited.service.store, settings_of(limited, 50_000)
    behind = datetime(2031, 5, 1, 23, 59, 59, tzinfo=UTC)
    ahead = datetime(2031, 5, 2, 0, 0, 1, tzinfo=UTC)

    def count(at: datetime) -> None:
        monkeypatch.setattr(quota, "now", lambda: at)
        with store.write() as session:
            quota.count(session, auditor_id, 20_000, settings)

    count(ahead)
    count(behind)
    assert used(store, auditor_id) == 40_000
    for at in (behind, ahead):
        with pytest.raises(MatchingQuotaError):
            count(at)


@pytest.mark.parametrize(
    "given",
    [
        {"identifiers_per_day": IDENTIFIERS_PER_DAY + 1},
        {"identifiers_per_day": LEAST_OF_A_PART - 1},
        {"match_rate": 1_000_001},
        {"match_seconds": 0.019},
    ],
)
def test_no_setting_makes_it_looser(limited: Deployment, given: dict[str, Any]) -> None:
    settings = limited.service.settings
    kept: dict[str, Any] = {"database_url": settings.database_url, "issuer": settings.issuer}
    key = settings.key_encryption_key
    assert Settings(**kept, key_encryption_key=key)
    with pytest.raises(ValueError, match=next(iter(given))):
        Settings(**kept, key_encryption_key=key, **given)
