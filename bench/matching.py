"""Matching a part of 100,000 identifiers, compared with the default public pace (ADR 21).

As many parts are matched at once as one process has slots for; the slowest of them is measured.
The platform is simulated: in this process, and in another one that is reached by HTTP. A ratio
above one is a part that would be late.
"""

import multiprocessing
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import uvicorn

from api.app.compose import make_simulated_platform
from api.audiences.background_matcher import SLOTS_PER_UPLOAD
from api.audiences.matching import count_matching_work, match_isolating_failures
from api.audiences.parsing import Members
from api.kernel.hard_limits import MATCH_RATE, MATCH_SECONDS
from api.kernel.settings import Settings
from api.platforms.fault_isolation import PlatformDownError
from api.platforms.http.platform import HttpPlatform
from api.platforms.http.server import served
from api.platforms.interfaces import People
from api.platforms.public_pace import Pace
from auditor_client.audiences.parts import ROWS_PER_PART
from bench.harness import Figure

COMMAND = "python -m bench matching"
ROUNDS = 9
PEOPLE = 300_000
SLOTS = SLOTS_PER_UPLOAD * Settings.model_fields["uploads_at_once"].default
_HOST, _PORT = "127.0.0.1", 18_479


def run(rows: int = ROWS_PER_PART) -> list[Figure]:
    """Return one figure for each kind of identifier and connection to the platform."""
    platform = make_simulated_platform(people=PEOPLE)
    assert platform.directory is not None
    kinds = ("email_sha256", "username")
    parts = [Members(kind, platform.directory.held(kind)[1][:rows]) for kind in kinds]
    here = [_figure(platform.people, part, "in process") for part in parts]
    with _reached_by_http() as people:
        return here + [_figure(people, part, "by HTTP") for part in parts]


def _figure(people: People, part: Members, where: str) -> Figure:
    declared = Pace(MATCH_SECONDS, MATCH_RATE).duration(count_matching_work(part))
    match_isolating_failures(
        people, part
    )  # the simulated platform makes its index at its first use
    took = [_slowest(people, part) for _ in range(ROUNDS)]
    name = f"{SLOTS} parts of {len(part.identifiers):,} × {part.kind} matched at once, {where}"
    return Figure.of(name, took, [declared] * ROUNDS, "≤ 1", COMMAND)


def _slowest(people: People, part: Members) -> float:
    def timed(_: int) -> float:
        begun = time.perf_counter()
        match_isolating_failures(people, part)
        return time.perf_counter() - begun

    with ThreadPoolExecutor(SLOTS) as threads:
        return max(threads.map(timed, range(SLOTS)))


@contextmanager
def _reached_by_http() -> Iterator[People]:
    server = multiprocessing.get_context("spawn").Process(target=_serve, daemon=True)
    server.start()
    try:
        platform = _connected(time.monotonic() + 60)
        yield platform.people
        platform.close()
    finally:
        server.terminate()
        server.join()


def _serve() -> None:
    app = served(make_simulated_platform(people=PEOPLE))
    uvicorn.run(app, host=_HOST, port=_PORT, log_level="warning")


def _connected(give_up: float) -> HttpPlatform:
    while True:
        try:
            return HttpPlatform.at(f"http://{_HOST}:{_PORT}")
        except PlatformDownError:
            if time.monotonic() > give_up:
                raise
            time.sleep(0.2)
