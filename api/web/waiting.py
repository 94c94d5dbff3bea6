"""Waits of requests for a place, without a thread and with a time limit."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from api.kernel.errors import OverloadedError

# Longest wait of a request for its place, in seconds; then it is refused.
PATIENCE = 20.0


@asynccontextmanager
async def hold_place(
    places: asyncio.Semaphore, seconds: float | None = None
) -> AsyncIterator[None]:
    """Hold one of these places, or refuse the request if none becomes free in time."""
    seconds = PATIENCE if seconds is None else seconds
    try:
        async with asyncio.timeout(seconds):
            await places.acquire()
    except TimeoutError:
        raise OverloadedError(
            f"The service is busy: no place became free within {seconds:g} s. Nothing was done."
            " Try again in 2 s.",
            headers={"Retry-After": "2"},
        ) from None
    try:
        yield
    finally:
        places.release()
