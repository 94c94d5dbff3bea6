"""The rate limiter, by the clock on the wall."""

import threading
import time
from dataclasses import dataclass

import pytest

from api.identity.caller import Caller
from api.identity.rate_limit import RateLimitedAuthenticator
from api.kernel.errors import RateLimitedError
from api.web.token_buckets import LocalBuckets, Rate


@dataclass
class Known:
    """An authenticator that believes everybody."""

    def authenticate(self, bearer: str) -> Caller:
        return Caller(bearer, bearer, "auditor", "auditor_x")


def limiter(per_minute: int, burst: int) -> RateLimitedAuthenticator:
    return RateLimitedAuthenticator(Known(), LocalBuckets(Rate(per_minute, burst)))


def admitted(limit: RateLimitedAuthenticator, times: int, who: str = "ada") -> int:
    count = 0
    for _ in range(times):
        try:
            limit.authenticate(who)
        except RateLimitedError:
            continue
        count += 1
    return count


def wait_told(limit: RateLimitedAuthenticator, who: str = "ada") -> int:
    with pytest.raises(RateLimitedError) as refused:
        limit.authenticate(who)
    return int(refused.value.headers["Retry-After"])


def test_a_burst_is_admitted_and_no_more() -> None:
    assert admitted(limiter(per_minute=1, burst=5), 20) == 5


def test_one_researcher_does_not_use_up_anothers_share() -> None:
    limit = limiter(per_minute=1, burst=2)
    assert admitted(limit, 5, "ada") == 2
    assert admitted(limit, 5, "grace") == 2


def test_the_rate_is_kept_over_time() -> None:
    limit = limiter(per_minute=1_200, burst=1)
    count, start = 0, time.monotonic()
    while (elapsed := time.monotonic() - start) < 1:
        count += admitted(limit, 1)
        time.sleep(0.005)
    # Twenty a second and one at once; a busy machine can only make it fewer.
    assert 1 <= count <= elapsed * 20 + 2


def test_waiting_for_the_retry_after_suffices_despite_earlier_attempts() -> None:
    limit = limiter(per_minute=60, burst=1)
    assert admitted(limit, 1) == 1
    deadline = time.monotonic() + wait_told(limit)
    while time.monotonic() < deadline - 0.1:
        time.sleep(0.1)
        if time.monotonic() < deadline - 0.1:
            assert wait_told(limit) >= 1
    time.sleep(max(0.0, deadline - time.monotonic()))
    assert admitted(limit, 1) == 1


def test_a_refusal_names_the_shortest_whole_wait() -> None:
    limit = limiter(per_minute=6, burst=1)
    assert admitted(limit, 1) == 1
    assert 9 <= wait_told(limit) <= 10


def test_threads_do_not_slip_through_together() -> None:
    limit = limiter(per_minute=1, burst=50)
    counts: list[int] = []
    threads = [
        threading.Thread(target=lambda: counts.append(admitted(limit, 25))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(counts) == 50
