"""One of several processes that submit audits from many threads at once."""

import json
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

from api.app.container import build_container
from api.identity.caller import load_caller
from api.kernel.errors import RefusalError
from api.kernel.settings import Settings
from openapi.resources import REQUEST
from privacy.ledger.statements import Statement
from tests.faults.host import PRELOADED
from tests.faults.tiny_platform import make


@dataclass(frozen=True)
class Attempts:
    """The attempts of one process: each request under its own key, all at once."""

    settings: dict[str, Any]
    researcher_id: str
    requests: dict[str, dict[str, Any]]
    statements: dict[str, Statement]
    folder: Path


def submit_all(attempts: Attempts, number: int) -> None:
    """Wait for the file `go`, submit, and leave the outcomes by key."""
    service = build_container(Settings(**attempts.settings), make(str(attempts.folder)))
    with service.store.read() as session:
        caller = load_caller(session, attempts.researcher_id)
    assert caller

    def attempt(key: str) -> str:
        request = REQUEST.validate_python(attempts.requests[key])
        while not (attempts.folder / "go").exists():
            time.sleep(0.002)
        try:
            audit = service.submissions.submit(caller, request, attempts.statements[key])
        except RefusalError as refusal:
            return refusal.code
        return audit.id

    with ThreadPoolExecutor(len(attempts.requests)) as threads:
        outcomes = threads.map(attempt, attempts.requests)
        (attempts.folder / f"ready-{number}").touch()
        text = json.dumps(dict(zip(attempts.requests, outcomes, strict=True)))
    (attempts.folder / f"outcomes-{number}").write_text(text)
    service.store.close()


def race(racers: list[Attempts]) -> dict[str, str]:
    """Start them all, let them go at once, and gather what came of every key."""
    context = get_context("forkserver")
    context.set_forkserver_preload([*PRELOADED, "tests.faults.racer"])
    processes: list[ForkServerProcess] = []
    folder = racers[0].folder
    for number, racer in enumerate(racers):
        process = context.Process(target=submit_all, args=(racer, number), daemon=True)
        process.start()
        processes.append(process)
    while len(list(folder.glob("ready-*"))) < len(racers):
        assert all(process.is_alive() for process in processes)
        time.sleep(0.01)
    (folder / "go").touch()
    for process in processes:
        process.join()
        assert process.exitcode == 0
    outcomes: dict[str, str] = {}
    for number in range(len(racers)):
        outcomes |= json.loads((folder / f"outcomes-{number}").read_text())
    return outcomes
