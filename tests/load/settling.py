"""Waiting until a service that was overloaded has come to rest."""

import asyncio
import time

from tests.load.http import Socket

PATIENCE = 45.0
_QUICK = 0.1
_IN_A_ROW = 5


def wait_until_idle(url: str) -> bool:
    """Wait until `/readyz` answers quickly several times in a row; return whether it did."""
    return asyncio.run(_wait(url))


async def _wait(url: str) -> bool:
    deadline, quick = time.monotonic() + PATIENCE, 0
    while quick < _IN_A_ROW and time.monotonic() < deadline:
        async with Socket(url) as socket:
            answer = await socket.ask(
                "GET", "/readyz", within=max(_QUICK, deadline - time.monotonic())
            )
        quick = quick + 1 if answer.status == 200 and answer.seconds < _QUICK else 0
        await asyncio.sleep(_QUICK)
    return quick == _IN_A_ROW
