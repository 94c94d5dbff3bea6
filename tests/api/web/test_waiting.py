"""Waits of the event loop for a slot: they end in time."""

import asyncio

import pytest

from api.kernel.errors import UnavailableError
from api.web.waiting import hold_slot


def test_who_gets_no_slot_in_time_is_refused() -> None:
    async def wait() -> None:
        slots = asyncio.Semaphore(1)
        async with hold_slot(slots, seconds=0.01):
            with pytest.raises(UnavailableError) as refused:
                async with hold_slot(slots, seconds=0.01):
                    raise AssertionError("two have the one slot")
            assert refused.value.headers["Retry-After"]
        async with hold_slot(slots, seconds=0.01):
            pass

    asyncio.run(wait())


def test_a_time_limit_of_the_work_itself_is_its_own_matter() -> None:
    async def work() -> None:
        async with hold_slot(asyncio.Semaphore(1)):
            raise TimeoutError("of the work")

    with pytest.raises(TimeoutError, match="of the work"):
        asyncio.run(work())
