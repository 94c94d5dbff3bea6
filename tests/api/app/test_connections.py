"""The time that a client has for its answer, on a connection without a socket."""

import asyncio
from typing import cast
from unittest.mock import Mock

import pytest
from uvicorn import Config
from uvicorn.server import ServerState

from api.app import connections
from api.app.connections import LimitedProtocol, limited_protocol


async def connected(
    answer_seconds: float, unread: int = 10, number: int = 1
) -> list[LimitedProtocol]:
    protocol = limited_protocol(30, answer_seconds, 100, unread)
    config, state = Config(Mock()), ServerState()
    config.load()
    made = [protocol(config=config, server_state=state, app_state={}) for _ in range(number)]
    for each in made:
        each.connection_made(Mock())
    return made


def was_dropped(protocol: LimitedProtocol) -> bool:
    return bool(cast("Mock", protocol.transport).abort.called)


async def read_in_drops(protocol: LimitedProtocol, times: int, seconds: float) -> None:
    for _ in range(times):
        protocol.pause_writing()
        await asyncio.sleep(seconds)
        protocol.resume_writing()


def test_reading_in_drops_does_not_win_the_whole_time_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connections, "_EARNED_SECONDS", 0.01)

    async def read() -> None:
        [slow] = await connected(answer_seconds=0.3)
        await read_in_drops(slow, times=3, seconds=0.05)
        assert not was_dropped(slow)
        await read_in_drops(slow, times=8, seconds=0.05)
        assert was_dropped(slow)

    asyncio.run(read())


def test_reading_fast_enough_earns_the_time_that_it_takes() -> None:
    async def read() -> None:
        [quick] = await connected(answer_seconds=0.3)
        await read_in_drops(quick, times=20, seconds=0.03)
        assert not was_dropped(quick)

    asyncio.run(read())


def test_the_answer_that_has_waited_for_the_longest_makes_room() -> None:
    async def read() -> None:
        first, second, third = await connected(answer_seconds=30, unread=2, number=3)
        for each in (first, second):
            each.pause_writing()
        first.resume_writing()
        first.pause_writing()
        third.pause_writing()
        assert [was_dropped(each) for each in (first, second, third)] == [False, True, False]
        assert list(first.unread) == [first, third]

    asyncio.run(read())
