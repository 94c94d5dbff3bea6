"""The planner: bounded, outside of the server, and alive again after its process failed."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Coroutine
from itertools import islice
from pathlib import Path
from typing import Any

import httpx2
import pytest

from api.console.planner.planner import Planner, PlannerLimits
from api.console.planner.questions import Question
from api.kernel.errors import NotFoundError, UnavailableError
from tests.world import Deployment, sqlite_url

# Seconds: the processes of the planner import SciPy on a busy machine.
PATIENCE = 240.0
WAITING = PlannerLimits(waiting_seconds=PATIENCE)


def question(number: int) -> Question:
    return Question(bins=2 + number)


def run(test: Coroutine[Any, Any, None]) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(PATIENCE):
            await test

    asyncio.run(bounded())


def running(planner: Planner) -> int:
    return len(planner._running)


async def until_pid(planner: Planner) -> int:
    while (pid := planner._numbers.pid) is None:
        await asyncio.sleep(0.01)
    return pid


def refused_with_a_wait(answer: object) -> bool:
    return isinstance(answer, UnavailableError) and int(answer.headers["Retry-After"]) > 0


def test_the_numbers_are_those_of_the_sdk() -> None:
    from auditor_client.planning.sample_size import sample_size

    async def test() -> None:
        planner = Planner(WAITING)
        try:
            found = await planner.needed(Question(), "ada")
            assert found.theorem == 1557  # 8/α² · ln(3|A||Y|/δ)
            assert found.exact == sample_size(0.2, 0.05, 2, 20, 1.0, "exact")
            assert planner.cached(Question()) == found
            assert b"description" in await planner.curve(Question(), "ada")
            with pytest.raises(NotFoundError):
                await planner.curve(Question(bins=1), "ada")
        finally:
            await planner.close()

    run(test())


def test_questions_beyond_the_bounds_are_refused_at_once() -> None:
    async def test() -> None:
        planner = Planner(WAITING)
        try:
            # Refusals come at the first step; nothing is answered before the process has started.
            tasks = [
                asyncio.create_task(planner.needed(question(n), f"network {n // 3}"))
                for n in range(30)
            ]
            done, waiting = await asyncio.wait(tasks, timeout=0)
            assert running(planner) == len(waiting) == 8
            assert all(refused_with_a_wait(task.exception()) for task in done)
            # Two of the first network's three were taken.
            assert [task in waiting for task in tasks[:4]] == [True, True, False, True]
        finally:
            await planner.close()
            await asyncio.gather(*tasks, return_exceptions=True)
        assert running(planner) == 0
        assert not planner._asked

    run(test())


def test_equal_questions_share_one_calculation() -> None:
    async def test() -> None:
        planner = Planner(PlannerLimits(waiting_seconds=PATIENCE))
        try:
            tasks = [asyncio.create_task(planner.needed(Question(), f"n{n}")) for n in range(17)]
            await asyncio.wait(tasks[16:])
            assert running(planner) == 1
            assert refused_with_a_wait(tasks[16].exception())
            assert len({(await task).exact for task in tasks[:16]}) == 1
        finally:
            await planner.close()

    run(test())


def test_a_process_that_dies_is_replaced() -> None:
    async def test() -> None:
        planner = Planner(WAITING)
        try:
            asking = asyncio.create_task(planner.needed(Question(), "ada"))
            first = await until_pid(planner)
            os.kill(first, signal.SIGKILL)
            assert refused_with_a_wait((await asyncio.wait([asking]))[0].pop().exception())
            assert (await planner.needed(Question(), "ada")).theorem == 1557
            assert planner._numbers.pid != first
        finally:
            await planner.close()

    run(test())


def test_a_calculation_that_takes_too_long_is_ended() -> None:
    async def test() -> None:
        planner = Planner(PlannerLimits(waiting_seconds=PATIENCE, calculation_seconds=0))
        try:
            asking = asyncio.create_task(planner.needed(Question(bins=500, groups=8), "ada"))
            pid = await until_pid(planner)
            with pytest.raises(UnavailableError) as refused:
                await asking
            assert refused_with_a_wait(refused.value)
            with pytest.raises(ProcessLookupError):
                os.kill(pid, 0)
        finally:
            await planner.close()

    run(test())


def test_a_caller_who_waited_long_is_asked_to_come_back_for_the_answer() -> None:
    async def test() -> None:
        planner = Planner(PlannerLimits(waiting_seconds=0.01))
        try:
            with pytest.raises(UnavailableError) as refused:
                await planner.needed(Question(), "ada")
            assert refused_with_a_wait(refused.value)
            while running(planner):
                await asyncio.sleep(0.01)
            assert (await planner.needed(Question(), "ada")).theorem == 1557
        finally:
            await planner.close()

    run(test())


def test_closing_ends_the_processes() -> None:
    async def test() -> None:
        planner = Planner(WAITING)
        asking = asyncio.create_task(planner.needed(Question(), "ada"))
        pid = await until_pid(planner)
        await planner.close()
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
        with pytest.raises(asyncio.CancelledError):
            await asking

    run(test())


def test_one_network_cannot_fill_the_planner(sqlite_deployment: Deployment) -> None:
    async def test() -> None:
        async with httpx2.AsyncClient(base_url=sqlite_deployment.url, timeout=PATIENCE) as client:
            asked = [client.get(f"/console/plan/curve?bins={400 + n}&groups=8") for n in range(12)]
            answers = [asyncio.create_task(each) for each in asked]
            for answer in islice(asyncio.as_completed(answers), 10):
                response = await answer
                assert response.status_code == 503, response.text
                assert int(response.headers["retry-after"]) > 0
            # The page itself and the rest of the service never wait for the planner.
            assert (await client.get("/healthz")).status_code == 200
            assert (await client.get("/console/plan")).status_code == 200
            for answer in answers:
                answer.cancel()
            await asyncio.gather(*answers, return_exceptions=True)

    run(test())


SERVE_AND_PLAN = """
import sys
from starlette.testclient import TestClient
from api.app.app import create_app
from api.app.container import build_container
from api.db import Store
from tests.databases import prepare
from tests.world import make_settings, small_platform

store = Store(sys.argv[1])
prepare(store)
settings = make_settings(sys.argv[1], "http://127.0.0.1", embedded_worker=False)
heavy = {"scipy", "altair"}
with TestClient(create_app(build_container(settings, small_platform()))) as client:
    while (answer := client.get("/console/plan?bins=3")).status_code == 503:
        assert answer.headers["retry-after"]
    assert answer.status_code == 200, answer.text
    assert "1\\u202f178" in answer.text  # 8/α² · ln(3|A||Y|/δ), three bins
    assert not heavy & sys.modules.keys(), heavy & sys.modules.keys()
"""


def test_the_server_plans_without_importing_scipy(tmp_path: Path) -> None:
    root = Path(__file__).parents[2]
    command = [sys.executable, "-c", SERVE_AND_PLAN, sqlite_url(tmp_path)]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
