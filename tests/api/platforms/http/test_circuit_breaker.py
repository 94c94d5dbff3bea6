"""When a platform that does not answer is asked again."""

import pytest

from api.platforms.fault_isolation import PlatformDownError
from api.platforms.http.circuit_breaker import Breaker
from tests.refusals import refuses


class Clock:
    """Time passes only when somebody sleeps."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.slept.append(seconds)


class Probe:
    def __init__(self, *answers: bool) -> None:
        self.answers = list(answers)

    def __call__(self) -> str:
        if not self.answers.pop(0):
            raise ConnectionError
        return "up"


def breaker(clock: Clock) -> Breaker:
    return Breaker(3, 0.5, 10.0, clock.sleep, lambda: clock.now)


def test_it_asks_a_few_times_with_growing_pauses() -> None:
    clock = Clock()
    assert breaker(clock).require_up(Probe(False, False, True), ConnectionError) == "up"
    assert clock.slept == [0.5, 1.0]


def test_then_it_leaves_the_platform_alone_and_one_attempt_decides() -> None:
    clock = Clock()
    circuit = breaker(clock)
    with pytest.raises(PlatformDownError):
        circuit.require_up(Probe(False, False, False), ConnectionError)
    clock.sleep(9.9)
    with refuses(PlatformDownError, "left-alone"):
        circuit.require_up(Probe(), ConnectionError)
    clock.sleep(0.2)
    with pytest.raises(PlatformDownError):
        circuit.require_up(Probe(False), ConnectionError)
    clock.sleep(10.1)
    assert circuit.require_up(Probe(True), ConnectionError) == "up"
    assert not circuit.is_open


def test_another_error_is_no_outage() -> None:
    circuit = breaker(Clock())

    def broken() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        circuit.require_up(broken, ConnectionError)
    assert not circuit.is_open
