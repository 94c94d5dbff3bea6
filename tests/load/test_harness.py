"""The load test's own parts: when a miss counts, and what counts as an answer."""

import asyncio
from collections.abc import Callable, Iterator

import pytest

from api.app.admission import Slots
from api.app.capacity import Share
from api.kernel.errors import ApiError, OverloadedError
from api.web.problem_responses import database_unavailable, respond
from tests.load.goals import REPEATS, Goal, Judge, StuckError, quantile
from tests.load.http import Answer, Socket
from tests.load.probe import Probes, health_goal
from tests.load.reads import Burst
from tests.load.routes import Route, shapes


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


def test_a_missed_speed_is_told_from_a_missing_answer() -> None:
    judge = Judge(lambda line: None)
    judge.count([Goal("p99", 2.0, 1.0, is_speed=True), Goal("p99", 0.5, 1.0, is_speed=True)])
    assert (judge.missed, judge.broken) == (1, 0)
    judge.count([Goal("p99", float("inf"), 1.0, is_speed=True), Goal("unanswered", 2, 0)])
    assert (judge.missed, judge.broken) == (3, 2)


def test_only_a_refusal_that_says_when_to_come_back_is_shedding() -> None:
    later, overload = {"retry-after": "1"}, b'{"reason": "overload"}'
    assert Answer(429, 0.0, later).is_shed
    assert Answer(503, 0.0, later, overload).is_shed
    assert not Answer(503, 0.0, {}, overload).is_shed
    assert not Answer(500, 0.0, later, overload).is_shed


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b'{"reason": null}', b"<html>"])
def test_a_service_that_is_broken_does_not_shed(body: bytes) -> None:
    assert not Answer(503, 0.0, {"retry-after": "2"}, body).is_shed


def test_the_service_tells_shedding_from_a_database_that_is_gone() -> None:
    """The harness reads what the service writes."""

    def answer(error: ApiError) -> Answer:
        sent = respond(error)
        headers = {name.lower(): value for name, value in sent.headers.items()}
        return Answer(sent.status_code, 0.0, headers, bytes(sent.body))

    slots = Slots("requests", Share(0, 9))
    with pytest.raises(OverloadedError) as shed:
        slots.take("somebody")
    assert answer(shed.value).is_shed
    assert not answer(database_unavailable(TimeoutError())).is_shed


def _burst(*statuses: int) -> list[Goal]:
    route = Route("/x", "/x", "anybody")
    later = {"retry-after": "1"}
    return Burst(route, [Answer(each, 0.0, later) for each in statuses]).goals("it", 0.001)


def test_a_burst_that_only_meets_refusals_or_nothing_is_missed() -> None:
    def missed(goals: list[Goal]) -> set[str]:
        return {goal.name.rpartition(": ")[2] for goal in goals if not goal.is_met}

    assert missed(_burst(*[429] * 200)) == {"answered with 200"}
    assert missed(_burst(*[404] * 200)) == {"unanswered", "answered with 200"}
    assert missed(_burst(*[200] * 20, *[429] * 180)) == set()


def test_a_missing_object_is_an_answer_only_where_none_was_made() -> None:
    values = dict.fromkeys(("audit_id", "content_id", "audience_id", "application_id"), "x")
    values |= dict.fromkeys(("name", "number", "old", "new"), "1")
    assert all(route.expected == 200 for route in shapes(values))
    assert "/v1/ledger/export" in {route.template for route in shapes(values)}


def test_quantiles_are_values_that_were_measured() -> None:
    assert quantile([float(n) for n in range(1, 101)], 0.99) == 99
    assert quantile([], 0.99) == 0


def test_one_silence_in_fifty_probes_misses_the_goal_of_healthz() -> None:
    quick, slow = Probes("", seconds=[0.01] * 50), Probes("", seconds=[0.01] * 49 + [9.0])
    assert health_goal("it", quick, 0.001).is_met
    assert not health_goal("it", slow, 0.001).is_met


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
