"""One process of the planner, as the server sees it: started when needed, ended when stuck."""

import asyncio
import os
import sys
from asyncio.subprocess import PIPE, Process

from api.console.planner.questions import Calculation

# Seconds for a process to start: it imports SciPy, on a machine that may be busy.
_STARTING_SECONDS = 120.0
_LONGEST_ANSWER = 4 * 2**20
# Settings hold secrets, which a calculation does not need.
_SECRETS = "PLATFORM_AUDITOR_"
# One core per process.
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


class CalculatorError(Exception):
    """The process ended, or took too long and was ended. The next question starts another."""


class Calculator:
    """Calculations of one process, in the order of arrival."""

    def __init__(self, limit_seconds: int) -> None:
        self._limit = limit_seconds
        self._lock = asyncio.Lock()
        self._process: Process | None = None

    @property
    def pid(self) -> int | None:
        """Return the id of the process, if it runs."""
        return self._process.pid if self._process else None

    async def calculate(self, asked: Calculation) -> bytes:
        """Return the answer; a process that fails to give one is ended."""
        async with self._lock:
            try:
                process = self._process or await self._start()
                return await self._ask(process, asked.model_dump_json().encode())
            except BaseException:
                # Its next line would answer this question.
                await self.end()
                raise

    async def end(self) -> None:
        """Kill the process, if there is one."""
        process, self._process = self._process, None
        if process is None:
            return
        if process.returncode is None:
            process.kill()
        if process.stdin is not None:
            process.stdin.close()
        if process.stdout is not None:
            await process.stdout.read()
        await process.wait()

    async def _start(self) -> Process:
        # The process also ends itself, some seconds later, if this one is gone.
        command = (sys.executable, "-P", "-m", "api.console.planner.process", str(self._limit + 5))
        self._process = await asyncio.create_subprocess_exec(
            *command, stdin=PIPE, stdout=PIPE, limit=_LONGEST_ANSWER, env=_environment()
        )
        await _read_line(self._process, _STARTING_SECONDS)
        return self._process

    async def _ask(self, process: Process, question: bytes) -> bytes:
        assert process.stdin is not None  # noqa: S101
        process.stdin.write(question + b"\n")
        return await _read_line(process, self._limit)


async def _read_line(process: Process, seconds: float) -> bytes:
    assert process.stdout is not None  # noqa: S101
    try:
        async with asyncio.timeout(seconds):
            answer = await process.stdout.readline()
    except TimeoutError as error:
        raise CalculatorError(f"the calculation took more than {seconds:g} s") from error
    if not answer.endswith(b"\n"):
        raise CalculatorError("its process ended")
    return answer[:-1]


def _environment() -> dict[str, str]:
    """Return the environment of the process: ours without settings, with the path of our code."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_SECRETS)}
    return kept | _ONE_THREAD | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
