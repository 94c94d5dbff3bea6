"""Waits of requests for a slot, without a thread and with a time limit."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from api.kernel.errors import OverloadedError

# Longest wait of a request for its slot, in seconds; then it is refused.
PATIENCE = 20.0


@asynccontextmanager
async def hold_slot(slots: asyncio.Semaphore, seconds: float | None = None) -> AsyncIterator[None]:
    """Hold one of these slots, or refuse the request if none becomes free in time."""
    seconds = PATIENCE if seconds is None else seconds
    try:
        async with asyncio.timeout(seconds):
            await slots.acquire()
    except TimeoutError:
        raise OverloadedError(
            f"The service is busy: no slot became free within {seconds:g} s. Nothing was done."
            " Try again in 2 s.",
            headers={"Retry-After": "2"},
        ) from None
    try:
        yield
    finally:
        slots.release()
