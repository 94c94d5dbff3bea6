"""The load test's own parts: when a miss counts, and what counts as an answer."""

import asyncio
from collections.abc import Callable, Iterator

import pytest

from tests.load.goals import REPEATS, Goal, Judge, StuckError, quantile
from tests.load.http import Answer, Socket
from tests.load.probe import Probes


def _values(*values: float) -> Callable[[], list[Goal]]:
    left: Iterator[float] = iter(values)
    return lambda: [Goal("seconds", next(left), 1.0)]


def test_a_goal_that_is_met_once_in_three_tries_counts_as_met() -> None:
    judge = Judge(lambda line: None)
    judge.hold(_values(9, 9, 0.5))
    assert (len(judge.goals), judge.missed) == (1, 0)


def test_a_goal_that_is_missed_in_every_try_counts_once() -> None:
    judge = Judge(lambda line: None)
    judge.hold(_values(*[9] * (REPEATS + 1)))
    assert str(judge) == "load: 1 goals, 1 missed"


def test_a_service_that_stays_stuck_is_not_measured_again() -> None:
    judge = Judge(lambda line: None)
    with pytest.raises(StuckError):
        judge.hold(_values(9), lambda: False)
    assert judge.missed == 1


def test_goals_from_below_and_numbers_that_were_not_measured() -> None:
    assert Goal("rate", 0.8, 0.8, at_least=True).is_met
    assert not Goal("rate", 0.79, 0.8, at_least=True).is_met
    assert not Goal("rate", float("nan"), 0.8).is_met


def test_only_a_refusal_that_says_when_to_come_back_is_shedding() -> None:
    assert Answer(503, 0.0, {"retry-after": "1"}).is_shed
    assert not Answer(503, 0.0).is_shed
    assert not Answer(500, 0.0, {"retry-after": "1"}).is_shed


def test_quantiles_are_values_that_were_measured() -> None:
    assert quantile([float(n) for n in range(1, 101)], 0.99) == 99
    assert quantile([], 0.99) == 0


def test_silence_counts_up_to_the_end_of_the_measurement() -> None:
    probes = Probes("", answered=[1.0, 2.0])
    assert probes.longest_silence(0.0, 30.0) == 28.0


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok", 200),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", 200),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nok", 0),
        (b"", 0),
    ],
)
def test_an_answer_that_breaks_off_is_none(sent: bytes, status: int) -> None:
    async def ask() -> Answer:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(sent)
            writer.close()

        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        async with (
            server,
            Socket(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}") as socket,
        ):
            return await socket.ask("GET", "/", within=60)

    answer = asyncio.run(ask())
    assert answer.status == status
    assert status == 0 or answer.body == b"ok"
