"""Hostile traffic: a flood of planning questions, slow and idle connections, unread answers."""

import asyncio
import random
import time
from collections.abc import Awaitable, Sequence
from contextlib import suppress

from tests.load.http import Answer, Socket

PARALLEL = 40
ADDRESSES = 3
# Seconds that the three addresses ask, once per second each.
PLAN_SECONDS = 8.0
_PLAN_PATIENCE = 30.0

SLOW = 1_050
# Seconds after which no slow and no idle connection is left.
CLOSED_WITHIN = 30.0
# How often a slow connection sends another byte or header, in seconds.
_TRICKLE = 1.0
_BODY = b"POST %s HTTP/1.1\r\nhost: x\r\ncontent-type: %s\r\ncontent-length: 1000\r\n\r\n"
_FORM, _JSON = b"application/x-www-form-urlencoded", b"application/json"
# What a slow connection sends at once, and then a piece at a time; none sends credentials.
_SLOW: tuple[tuple[bytes, bytes], ...] = (
    (b"GET /healthz HTTP/1.1\r\nhost: x\r\n", b"x-slow: 1\r\n"),
    (b"", b"G"),
    (_BODY % (b"/oauth/token", _FORM), b"a"),
    (_BODY % (b"/v1/applications", _JSON), b" "),
    (_BODY % (b"/v1/audits", _JSON), b" "),
    (_BODY % (b"/console/sign-in", _FORM), b"a"),
)

# Sockets that ask for a large page many times over and read none of it.
UNREAD = 60
_PIPELINED = b"GET /openapi.json HTTP/1.1\r\nhost: x\r\n\r\n" * 50
# Attempts to sign in meanwhile, and the seconds that each may take.
SIGN_INS, SIGN_IN_SECONDS = 20, 5.0


def flood_planner(url: str, number: int) -> list[Answer]:
    """Ask 40 different questions together, and more from three addresses once per second.

    Each flood has questions and addresses of its own: answers are cached, and strangers are counted
    by address.
    """
    sources = [f"127.0.{number}.{host}" for host in range(1, ADDRESSES + 1)]
    return asyncio.run(_flood(url, sources, random.Random(number)))


async def _flood(url: str, sources: Sequence[str], rng: random.Random) -> list[Answer]:
    asked: list[Awaitable[Answer]] = [_plan(url, rng, sources[0]) for _ in range(PARALLEL)]
    for second in range(int(PLAN_SECONDS)):
        asked += [_plan(url, rng, source, float(second)) for source in sources]
    return await asyncio.gather(*asked)


async def _plan(url: str, rng: random.Random, source: str, after: float = 0.0) -> Answer:
    question = (
        f"alpha={rng.uniform(0.05, 0.2):.5f}&delta={rng.uniform(0.01, 0.1):.5f}"
        f"&epsilon={rng.uniform(0.5, 2):.5f}&groups={rng.randint(2, 4)}&bins={rng.randint(20, 100)}"
    )
    await asyncio.sleep(after)
    async with Socket(url, source) as socket:
        return await socket.ask("GET", f"/console/plan?{question}", within=_PLAN_PATIENCE)


def open_slowly(url: str, connections: int = SLOW) -> list[float | None]:
    """Open slow connections, and return after how long the server closed each, or None."""
    return asyncio.run(_slowly(url, connections))


async def _slowly(url: str, connections: int) -> list[float | None]:
    kinds = [_SLOW[number % len(_SLOW)] for number in range(connections)]
    return await asyncio.gather(*(_trickle(url, *kind) for kind in kinds))


async def _trickle(url: str, begin: bytes, piece: bytes) -> float | None:
    """Send a request piece by piece until the server closes the connection."""
    began = time.monotonic()
    socket = Socket(url)
    try:
        async with asyncio.timeout(CLOSED_WITHIN):
            reader, writer = await socket.connect()
            writer.write(begin)
            while not await _is_closed(reader):
                writer.write(piece)
    except TimeoutError:
        return None
    except OSError:
        pass  # reset by the server
    finally:
        socket.close()
    return time.monotonic() - began


async def _is_closed(reader: asyncio.StreamReader) -> bool:
    """Wait for one trickle's time, and return whether the server has closed the connection."""
    until = time.monotonic() + _TRICKLE
    while (left := until - time.monotonic()) > 0:
        try:
            async with asyncio.timeout(left):
                if not await reader.read(65_536):
                    return True
        except TimeoutError:
            return False
    return False


def keep_idle(url: str) -> float | None:
    """Return after how long the server closed a connection that was used once, or None."""
    return asyncio.run(_idle(url))


async def _idle(url: str) -> float | None:
    async with Socket(url) as socket:
        answer = await socket.ask("GET", "/v1/catalogue", within=CLOSED_WITHIN)
        assert answer.status == 200, answer
        began = time.monotonic()
        reader, _ = await socket.connect()
        with suppress(TimeoutError):
            await asyncio.wait_for(reader.read(), CLOSED_WITHIN)
            return time.monotonic() - began
    return None


def leave_unread(url: str, within: float = SIGN_IN_SECONDS) -> list[Answer]:
    """Ask from three addresses without reading, and return how sign-in answers a fourth."""
    return asyncio.run(_unread(url, within))


async def _unread(url: str, within: float) -> list[Answer]:
    held = [Socket(url, f"127.1.0.{1 + number % ADDRESSES}") for number in range(UNREAD)]
    try:
        for socket in held:
            _, writer = await socket.connect()
            writer.write(_PIPELINED)
        await asyncio.sleep(2 * _TRICKLE)
        return [await _sign_in(url, within) for _ in range(SIGN_INS)]
    finally:
        for socket in held:
            socket.close()


async def _sign_in(url: str, within: float) -> Answer:
    """Ask for a token without a proof: the refusal is an answer."""
    headers = {"content-type": _FORM.decode()}
    async with Socket(url, "127.1.0.9") as socket:
        body = b"grant_type=client_credentials"
        return await socket.ask("POST", "/oauth/token", headers, body, within=within)


def still_open(closed: Sequence[float | None]) -> int:
    return sum(each is None for each in closed)
