"""Those who wait for a lock are served together, and nobody for another's sake worse."""

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from api.audits.queue.group_commit import GroupCommit
from api.kernel.errors import UnavailableError

Act = Callable[[Sequence[int]], Sequence[int]]


def negated(some: Sequence[int]) -> list[int]:
    return [-each for each in some]


class Lock:
    """A lock that the test holds at first, and what was done while it was held, batch by batch."""

    def __init__(self, act: Act = negated) -> None:
        self.act, self.held = act, threading.Lock()
        self.batches: list[list[int]] = []

    @contextmanager
    def hold(self) -> Iterator[None]:
        with self.held:
            yield

    def do(self, _: None, some: Sequence[int]) -> Sequence[int]:
        self.batches.append(list(some))
        return self.act(some)


class Broken(Lock):
    """A lock that nobody gets."""

    def __init__(self, error: type[BaseException]) -> None:
        super().__init__()
        self.error = error

    @contextmanager
    def hold(self) -> Iterator[None]:
        with self.held:
            raise self.error
        yield


def asked(
    lock: Lock,
    numbers: Sequence[int],
    joins: Callable[[int, Sequence[int]], bool] = lambda *_: True,
    hopeless: tuple[type[Exception], ...] = (),
) -> list[Future[int]]:
    """All have come, one after the other, before the lock is free; how it went for each."""
    together = GroupCommit(lock.hold, lock.do, joins, hopeless)
    with ThreadPoolExecutor(len(numbers)) as pool, lock.held:
        answers = []
        for number in numbers:
            answers.append(pool.submit(together, number))
            while len(together._waiting) < len(answers):
                threading.Event().wait(0.001)
    assert together._waiting == []
    return answers


def test_waiting_requests_run_in_one_batch_each_with_its_own_answer() -> None:
    lock = Lock()
    assert [each.result() for each in asked(lock, range(1, 8))] == [-1, -2, -3, -4, -5, -6, -7]
    assert lock.batches == [[1, 2, 3, 4, 5, 6, 7]]


def test_who_may_not_join_is_served_next_in_the_order_of_coming() -> None:
    lock = Lock()
    answers = asked(lock, [1, 11, 2, 21, 12, 3], lambda one, others: one // 10 == others[0] // 10)
    assert [each.result() for each in answers] == [-1, -11, -2, -21, -12, -3]
    assert lock.batches == [[1, 2, 3], [11, 12], [21]]


def test_who_comes_later_is_served_later() -> None:
    lock = Lock()
    together = GroupCommit(lock.hold, lock.do, lambda *_: True)
    assert [together(number) for number in (1, 2, 3)] == [-1, -2, -3]
    assert lock.batches == [[1], [2], [3]]


def test_what_is_wrong_with_one_is_its_own_matter() -> None:
    def act(some: Sequence[int]) -> Sequence[int]:
        if 3 in some:
            raise ValueError("three")
        return some

    lock = Lock(act)
    one, three, five = asked(lock, [1, 3, 5])
    assert (one.result(), five.result()) == (1, 5)
    with pytest.raises(ValueError, match="three"):
        three.result()
    assert lock.batches == [[1, 3, 5], [1], [3], [5]]


def test_what_is_wrong_for_all_is_not_tried_for_each() -> None:
    def act(_: Sequence[int]) -> Sequence[int]:
        raise ConnectionError

    lock = Lock(act)
    answers = asked(lock, [1, 2, 3], hopeless=(ConnectionError,))
    assert [type(each.exception()) for each in answers] == [ConnectionError] * 3
    assert lock.batches == [[1, 2, 3]]


@pytest.mark.parametrize("error", [OSError, SystemExit])
def test_where_the_lock_cannot_be_had_nobody_waits_for_ever(error: type[BaseException]) -> None:
    answers = asked(Broken(error), [1, 2, 3], hopeless=(OSError,))
    assert [type(each.exception()) for each in answers] == [error] * 3


def test_a_lock_that_is_lost_on_the_way_is_not_waited_for_again_by_each() -> None:
    """The batch fails for one of them, and then there is no lock any more."""

    class Lost(Lock):
        @contextmanager
        def hold(self) -> Iterator[None]:
            with self.held:
                if len(self.batches) > 1:
                    raise ConnectionError
                yield

        def do(self, held: None, some: Sequence[int]) -> Sequence[int]:
            super().do(held, some)
            if len(some) > 1:
                raise ValueError
            return some

    lock = Lost()
    one, *others = asked(lock, [1, 2, 3, 4], hopeless=(ConnectionError,))
    assert one.result() == 1
    assert [type(each.exception()) for each in others] == [ConnectionError] * 3
    assert lock.batches == [[1, 2, 3, 4], [1]]


def test_without_a_lock_incompatible_requests_fail_too() -> None:
    lock = Broken(ConnectionError)
    answers = asked(lock, [1, 2, 3], lambda *_: False, (ConnectionError,))
    assert [type(each.exception()) for each in answers] == [ConnectionError] * 3


def test_who_cannot_be_chosen_does_not_keep_the_next_ones() -> None:
    def joins(one: int, _: Sequence[int]) -> bool:
        if one == 2:
            raise MemoryError
        return False

    lock = Lock()
    one, two, three = asked(lock, [1, 2, 3], joins)
    assert isinstance(one.exception(), MemoryError)
    assert (two.result(), three.result()) == (-2, -3)


def test_what_fails_at_the_end_of_the_lock_was_not_done() -> None:
    """As a transaction that cannot be committed."""

    class Late(Lock):
        @contextmanager
        def hold(self) -> Iterator[None]:
            with self.held:
                yield
                if self.batches[-1] != [2]:
                    raise ValueError

    one, two, three = asked(Late(), [1, 2, 3])
    assert [type(each.exception()) for each in (one, three)] == [ValueError] * 2
    assert two.result() == -2


def test_who_has_waited_for_too_long_is_refused_and_not_served_later() -> None:
    lock = Lock()
    together = GroupCommit(lock.hold, lock.do, lambda *_: True, patience=0.05)
    with ThreadPoolExecutor(3) as pool:
        with lock.held:
            first = pool.submit(together, 1)
            while not together._waiting:
                threading.Event().wait(0.001)
            with pytest.raises(UnavailableError) as refused:
                together(2)
        assert first.result() == -1
    assert refused.value.headers["Retry-After"]
    assert lock.batches == [[1]]
    assert together(3) == -3
    assert together._waiting == []
