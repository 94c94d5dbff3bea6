"""Streams that wait for the next state: told soon, by few looks, and nothing is left behind."""

import asyncio
import threading
from collections.abc import Callable, Collection, Coroutine
from dataclasses import dataclass, field
from typing import Any

import pytest

from api.audits import events
from api.audits.events import AuditEvents

# Seconds after which something that was to happen has not.
PATIENCE = 20.0


class GoneError(Exception):
    pass


@dataclass
class StateSource:
    """A source of states: it records the requests, and a read may fail."""

    states: dict[str, str]
    looks: list[set[str]] = field(default_factory=list)
    failing: bool = False

    def read(self, names: Collection[str]) -> dict[str, str]:
        self.looks.append(set(names))
        if self.failing:
            raise GoneError
        return {name: self.states[name] for name in names if name in self.states}


def run(test: Coroutine[Any, Any, None]) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(PATIENCE):
            await test

    asyncio.run(bounded())


async def until(condition: Callable[[], object]) -> None:
    while not condition():
        await asyncio.sleep(0.005)


def left_behind(streams: AuditEvents) -> bool:
    return bool(streams._waiting) or (streams._looking is not None and not streams._looking.done())


@pytest.fixture
def no_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody looks by themselves for as long as a test may take."""
    monkeypatch.setattr(events, "_SOON", 10 * PATIENCE)
    monkeypatch.setattr(events, "_LATE", 10 * PATIENCE)


def test_a_state_change_is_published() -> None:
    async def test() -> None:
        source = StateSource({"a": "charged"})
        streams = AuditEvents(source.read)
        stream = asyncio.create_task(streams.next_state("a", "charged"))
        await until(lambda: len(source.looks) > 1)
        assert not stream.done()
        source.states["a"] = "running"
        assert await stream == "running"
        # What has changed since it was shown is told as well.
        assert await streams.next_state("a", "charged") == "running"

    run(test())


def test_one_look_serves_many_streams(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "_SOON", 0.01)

    async def test() -> None:
        source = StateSource({"a": "running", "b": "released"})
        streams = AuditEvents(source.read)
        following_a = [asyncio.create_task(streams.next_state("a", "charged")) for _ in range(50)]
        following_b = [asyncio.create_task(streams.next_state("b", "running")) for _ in range(50)]
        assert await asyncio.gather(*following_a, *following_b) == (
            ["running"] * 50 + ["released"] * 50
        )
        assert source.looks == [{"a", "b"}]

    run(test())


def test_the_more_wait_the_fewer_are_the_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)
        await real(0)

    real = asyncio.sleep
    monkeypatch.setattr(asyncio, "sleep", sleep)

    async def test(streams: int) -> None:
        names = [f"a{number}" for number in range(streams)]
        source = StateSource(dict.fromkeys(names, "running"))
        shared = AuditEvents(source.read)
        await asyncio.gather(*(shared.next_state(name, "charged") for name in names))

    for streams, pause in (
        (1, events._SOON),
        (5, 5 * events._SOON),
        (1_000, events._LATE),
    ):
        pauses.clear()
        run(test(streams))
        assert pauses[0] == pause


def test_the_word_of_a_worker_is_believed_at_once_and_nobody_looks(no_looks: None) -> None:
    async def test() -> None:
        source = StateSource({"a": "charged", "b": "charged"})
        streams = AuditEvents(source.read)
        stream, other = (asyncio.create_task(streams.next_state(name, "charged")) for name in "ab")
        await until(lambda: len(streams._waiting) == 2)
        threading.Thread(target=streams.publish, args=("a", "running")).start()
        assert await stream == "running"
        assert not other.done()
        other.cancel()
        assert source.looks == []

    run(test())


def test_a_word_between_two_states_is_not_lost(no_looks: None) -> None:
    async def test() -> None:
        streams = AuditEvents(StateSource({}).read)
        first = asyncio.create_task(streams.next_state("a", "charged"))
        await until(lambda: streams._waiting)
        for state in ("running", "released"):  # before the stream can ask for the second
            streams.publish("a", state)
        assert await first in ("running", "released")
        assert await streams.next_state("a", "running") == "released"

    run(test())


def test_few_words_are_kept(no_looks: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "_RECENT_STATES_KEPT", 2)

    async def test() -> None:
        streams = AuditEvents(StateSource({}).read)
        first = asyncio.create_task(streams.next_state("a", "charged"))
        await until(lambda: streams._waiting)
        for name in "abc":
            streams.publish(name, "running")
        assert await first == "running"
        assert streams._said == {"b": "running", "c": "running"}

    run(test())


def test_a_look_that_is_older_than_a_word_tells_nobody() -> None:
    async def test() -> None:
        source, heard = StateSource({"a": "charged"}), threading.Event()

        def read(names: Collection[str]) -> dict[str, str]:
            found = source.read(names)
            if len(source.looks) == 1:
                source.states["a"] = "released"
                streams.publish("a", "running")
                assert heard.wait(PATIENCE)
            return found

        streams = AuditEvents(read)
        assert await streams.next_state("a", "charged") == "running"
        later = asyncio.create_task(streams.next_state("a", "running"))
        await until(lambda: streams._waiting)
        heard.set()
        assert await later == "released"

    run(test())


def test_looks_that_fail_end_every_stream_and_later_ones_work() -> None:
    async def test() -> None:
        source = StateSource({"a": "charged", "b": "charged"}, failing=True)
        streams = AuditEvents(source.read)
        ended = await asyncio.gather(
            *(streams.next_state(name, "charged") for name in "ab"), return_exceptions=True
        )
        assert [type(each) for each in ended] == [GoneError, GoneError]
        source.failing = False
        source.states["a"] = "running"
        assert await streams.next_state("a", "charged") == "running"

    run(test())


def test_an_audit_that_is_gone_ends_no_stream() -> None:
    async def test() -> None:
        source = StateSource({"a": "charged"})
        streams = AuditEvents(source.read)
        kept, gone = (asyncio.create_task(streams.next_state(name, "charged")) for name in "ab")
        await until(lambda: source.looks.count({"a", "b"}) > 1)
        source.states["a"] = "running"
        assert await kept == "running"
        assert not gone.done()
        gone.cancel()
        await until(lambda: not left_behind(streams))

    run(test())


def test_a_stream_that_is_cut_off_leaves_nothing_behind() -> None:
    async def test() -> None:
        source = StateSource({"a": "charged", "b": "charged"})
        streams = AuditEvents(source.read)
        cut, kept = (asyncio.create_task(streams.next_state(name, "charged")) for name in "ab")
        await until(lambda: {"a", "b"} in source.looks)
        cut.cancel()
        await until(lambda: source.looks[-1] == {"b"})
        kept.cancel()
        await until(lambda: not left_behind(streams))
        looks = len(source.looks)
        await asyncio.sleep(3 * events._SOON)
        assert len(source.looks) == looks

    run(test())


def test_a_word_when_nobody_listens_or_the_loop_is_gone_does_no_harm() -> None:
    source = StateSource({"a": "running"})
    streams = AuditEvents(source.read)
    streams.publish("a", "running")

    async def listen() -> None:
        assert await streams.next_state("a", "charged") == "running"

    run(listen())
    streams.publish("a", "running")
    run(listen())  # and another loop, as tests have them, begins anew
