"""Local buckets: memory is bounded, and the bound does not open the gate."""

import time

import pytest

from api.kernel.errors import RateLimitedError
from api.web import token_buckets
from api.web.token_buckets import MAX_BUCKETS, LocalBuckets, Rate


def admits(buckets: LocalBuckets, who: str) -> bool:
    try:
        buckets.take(who)
    except RateLimitedError:
        return False
    return True


def test_strangers_beyond_the_bound_share_one_bucket() -> None:
    buckets = LocalBuckets(Rate(per_minute=0.001, burst=2))
    for number in range(MAX_BUCKETS):
        assert admits(buckets, f"network {number}")
    assert [admits(buckets, f"newcomer {number}") for number in range(5)] == [True, True] + [
        False
    ] * 3
    assert len(buckets._buckets) <= MAX_BUCKETS + 1
    # Nobody's bucket was dropped to make room.
    assert admits(buckets, "network 0")
    assert not admits(buckets, "network 0")


def test_full_buckets_make_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(token_buckets, "MAX_BUCKETS", 3)
    monkeypatch.setattr(token_buckets, "_SWEEP_SECONDS", 0.0)
    buckets = LocalBuckets(Rate(per_minute=60 * 200, burst=1))
    for number in range(30):
        time.sleep(0.01)  # longer than a bucket takes to fill
        assert admits(buckets, f"network {number}")
    assert len(buckets._buckets) <= 3
    assert "" not in buckets._buckets
