"""A local Ray cluster makes the same tables as one process, even if workers die."""

import gc
import os
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
import ray
from ray._private import services

from api.app.compose import load_engine, load_platform
from api.execution.in_process import InProcessEngine
from api.execution.ray.driver import RayEngine
from api.kernel.settings import RayCluster, load_settings
from api.kinds.context import AuditContext, in_process_context
from api.kinds.registry import KINDS, AudienceFacts
from api.operations.setup import write_settings
from api.platforms.fault_isolation import PlatformDownError
from api.platforms.interfaces import Platform
from openapi.resources import REQUEST
from privacy.tables.bounded_table import Table
from privacy.tables.membership import Membership
from tests.api.execution.adapter import FILES, PEOPLE, ROWS_OF_ONE, make, write_feed
from tests.durability.processes import until
from tests.refusals import refuses
from tests.world import deployed, sqlite_url

pytestmark = pytest.mark.long

CONTENT: dict[str, Any] = {
    "kind": "job",
    "title": "Engineer",
    "text": "",
    "attributes": {},
    "image": None,
}
IDS = {"audience_id": "audience_" + "0" * 30}
SCORED = IDS | {"content_id": "content_" + "0" * 30, "bins": {"edges": [0, 0.25, 0.5, 1]}}
LOGGED = IDS | {"log": "feed", "bins": {"edges": [0, 0.25, 0.5, 1]}, "epsilon": "1"}
MOMENTS = LOGGED | {"score": "score", "outcome": "outcome", "outcome_range": {"low": 0, "high": 1}}
ASKED: dict[str, dict[str, Any]] = {
    "score-histogram": SCORED | {"epsilon": "1"},
    "score-cdf": SCORED | {"epsilon": "1"},
    "most-skewed": IDS
    | {
        "contents": ["content_" + str(n) * 30 for n in range(2)],
        "bins": SCORED["bins"],
        "epsilon": "1",
    },
    "log-cdf": LOGGED | {"column": "score", "rows_per_person": 2},
    "outcome-test": MOMENTS | {"rows_per_person": 2},
    "bias-size": MOMENTS
    | {"query": "query", "rows_per_person": 2, "places": 5}
    | {"corrections": [{"label": f"g{n}", "add": [0.1 * n, 0, 0]} for n in range(2)]},
    "reo": IDS
    | {"log": "feed", "signals": ["like"], "creators": "region", "groups": ["north", "south"]}
    | {"strategies": ["usual"], "rows_per_person": 2, "epsilon": "1"},
}
HALVES = Membership((np.arange(0, PEOPLE, 2), np.arange(1, PEOPLE, 2)), 1)
BOTH = Membership((np.arange(PEOPLE), np.arange(0, PEOPLE, 3)), 2)


def _patiently(ask: Callable[..., Any]) -> Callable[..., Any]:
    """Ray gives its own processes 30 s to start, which a busy machine does not."""

    def answer(*about: Any) -> Any:
        deadline = time.monotonic() + 200
        while True:
            try:
                return ask(*about)
            except RuntimeError:
                if time.monotonic() > deadline:
                    raise

    return answer


@pytest.fixture(scope="module")
def cluster() -> Iterator[RayCluster]:
    """Two cores, and nothing outside of a folder that goes: its sockets need a short path."""
    with TemporaryDirectory(prefix="ray-") as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", folder)  # where it keeps the token of the cluster
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setattr(services, "get_node", _patiently(services.get_node))
        ray.init(
            "local",
            num_cpus=2,
            include_dashboard=False,
            object_store_memory=80 * 2**20,
            log_to_driver=False,
            _temp_dir=folder,
        )
        try:
            yield RayCluster(partitions=3)
        finally:
            ray.shutdown()
            with warnings.catch_warnings():
                # It does not wait for the processes that it has ended.
                warnings.simplefilter("ignore", ResourceWarning)
                gc.collect()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("people")
    write_feed(folder)
    return folder


@pytest.fixture(scope="module")
def here(folder: Path) -> Platform:
    return make(str(folder))


@pytest.fixture(scope="module")
def there(here: Platform, folder: Path, cluster: RayCluster) -> AuditContext:
    return AuditContext(here, RayEngine(here, partial(make, str(folder)), cluster))


@pytest.fixture
def same_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which rows are drawn is the same each time."""
    monkeypatch.setattr("secrets.randbits", lambda bits: 20_261_116)


def reduced(kind: str, on: Platform | AuditContext, people: Membership, **changes: Any) -> Table:
    context = on if isinstance(on, AuditContext) else in_process_context(on)
    request: Any = REQUEST.validate_python({"kind": kind, **ASKED[kind], **changes})
    labels = tuple(f"g{number}" for number in range(len(people.groups)))
    plan = KINDS[kind].plan(request, AudienceFacts(labels, people.groups_per_person, None))
    contents = [CONTENT] * len(request.content_ids)
    tables = KINDS[kind].reduce(request, plan, contents, people, context)
    return next(iter(tables.values()))


@pytest.mark.parametrize("kind", ASKED)
def test_the_bounded_tables_are_those_made_in_process(
    here: Platform, there: AuditContext, same_rows: None, kind: str
) -> None:
    one = kind in ("most-skewed", "bias-size")
    people = HALVES if one else BOTH
    found, expected = reduced(kind, there, people), reduced(kind, here, people)
    # All that the waist sees: so what it releases has the same distribution.
    assert found.bounds == expected.bounds
    assert found.cells.tolist() == expected.cells.tolist()
    assert found.cells.any()


def naive(platform: Platform, people: Membership) -> Table:
    """Every file reduced where it lies, and the tables added: nobody's rows were exchanged."""
    logs: Any = platform.logs

    class OneFile:
        def __init__(self, piece: str) -> None:
            self.piece = piece

        def logs(self) -> Any:
            return logs.logs()

        def read(self, log: str, persons: Any, columns: Any) -> Any:
            return logs.scan(log, self.piece, columns)

    pieces = [replace(platform, logs=OneFile(piece)) for piece in logs.pieces("feed")]
    tables = [reduced("log-cdf", piece, people) for piece in pieces]
    return sum(tables[1:], tables[0])


def test_rows_of_one_person_in_every_piece_are_cut_once(
    here: Platform, there: AuditContext
) -> None:
    """With the person and without: what one person adds, in L1, and what was promised of it."""

    def far(made: Callable[[Membership], Table]) -> int:
        everybody, others = (Membership((np.arange(n, PEOPLE),), 1) for n in (0, 1))
        return int(np.abs(made(everybody).cells.sum() - made(others).cells.sum()))

    promised = reduced("log-cdf", here, BOTH).bounds.added.l1 // BOTH.groups_per_person
    assert promised == 2 < ROWS_OF_ONE
    assert far(lambda people: reduced("log-cdf", there, people)) == promised
    assert far(lambda people: naive(here, people)) == FILES * promised


def test_a_process_that_dies_while_it_scores_is_replaced(
    here: Platform, there: AuditContext, folder: Path
) -> None:
    expected = reduced("score-histogram", here, BOTH)
    (folder / "hold").touch()
    for mark in folder.glob("began-*"):
        mark.unlink()
    found: list[Table] = []
    thread = threading.Thread(target=lambda: found.append(reduced("score-histogram", there, BOTH)))
    thread.start()
    try:
        until(lambda: list(folder.glob("began-*")), "somebody to score")
        [victim, *_] = [int(mark.name.split("-")[1]) for mark in folder.glob("began-*")]
        assert victim != os.getpid()
        os.kill(victim, signal.SIGKILL)
    finally:
        (folder / "hold").unlink()
        thread.join()
    assert found[0].cells.tolist() == expected.cells.tolist()
    assert len(list(folder.glob("began-*"))) >= 2


def test_an_outage_is_one_there_too(there: AuditContext, folder: Path) -> None:
    (folder / "down").touch()
    try:
        with pytest.raises(PlatformDownError):
            reduced("score-histogram", there, BOTH)
    finally:
        (folder / "down").unlink()
    with pytest.raises(PlatformDownError):
        reduced(
            "log-cdf",
            AuditContext(
                there.platform, RayEngine(there.platform, partial(make, "/nowhere"), RayCluster())
            ),
            BOTH,
        )


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """Return the state of the cluster's processes, apart from the worker's."""
    write_feed(tmp_path)
    return tmp_path


@pytest.mark.parametrize("kind", ["score-histogram", "log-cdf", "bias-size"])
def test_another_model_in_the_cluster_than_in_the_worker_scores_nobody(
    here: Platform, cluster: RayCluster, elsewhere: Path, kind: str
) -> None:
    (elsewhere / "model").write_text("b")
    engine = RayEngine(here, partial(make, str(elsewhere)), cluster)
    with refuses(PlatformDownError, "another-model"):
        reduced(kind, AuditContext(here, engine), HALVES)


def test_a_model_that_changes_in_the_cluster_while_it_scores_is_noticed(
    here: Platform, cluster: RayCluster, elsewhere: Path
) -> None:
    engine = RayEngine(here, partial(make, str(elsewhere)), cluster)
    (elsewhere / "hold").touch()

    def change() -> None:
        until(lambda: list(elsewhere.glob("began-*")), "somebody to score")
        (elsewhere / "model").write_text("b")
        (elsewhere / "hold").unlink()

    thread = threading.Thread(target=change)
    thread.start()
    try:
        with refuses(PlatformDownError, "another-model"):
            reduced("score-histogram", AuditContext(here, engine), BOTH)
    finally:
        thread.join()


@pytest.mark.parametrize("kind", ["log-cdf", "outcome-test"])
def test_a_person_who_breaks_a_scan_is_dropped_alone(
    here: Platform, there: AuditContext, folder: Path, same_rows: None, kind: str
) -> None:
    (folder / "touchy").touch()
    try:
        found, expected = reduced(kind, there, HALVES), reduced(kind, here, HALVES)
    finally:
        (folder / "touchy").unlink()
    assert found.cells.tolist() == expected.cells.tolist()
    assert found.cells.tolist() != reduced(kind, here, HALVES).cells.tolist()


def test_a_resource_that_no_machine_has_is_an_outage(
    here: Platform, there: AuditContext, folder: Path, cluster: RayCluster
) -> None:
    told = {"resource": "nobody_has_it", "patience_seconds": 1.0}
    engine = RayEngine(here, partial(make, str(folder)), cluster.model_copy(update=told))
    for kind in ("score-histogram", "log-cdf"):
        with refuses(PlatformDownError, "cluster-stalled"):
            reduced(kind, AuditContext(here, engine), BOTH)
    assert reduced("score-histogram", there, BOTH).cells.any()


def test_nothing_is_begun_before_what_was_given_up_has_ended(
    here: Platform, elsewhere: Path, cluster: RayCluster
) -> None:
    """Or it is stuck, and left: one that hangs for somebody's sake does not stop all others."""
    brisk = cluster.model_copy(update={"patience_seconds": 3.0})
    engine = RayEngine(here, partial(make, str(elsewhere)), brisk)
    there = AuditContext(here, engine)
    (elsewhere / "hold").touch()
    for _ in range(2):
        with refuses(PlatformDownError, "cluster-stalled"):
            reduced("score-histogram", there, BOTH)
        assert len(engine.given_up) == cluster.partitions
    (elsewhere / "hold").unlink()
    assert reduced("score-histogram", there, BOTH).cells.any()
    assert not engine.given_up


def test_settings_name_the_engine_and_only_the_adapter_goes_to_the_cluster(tmp_path: Path) -> None:
    file, key = tmp_path / "settings.toml", b"a-key-that-seals-all-other-keys"
    options, adapter = {"folder": str(tmp_path)}, "tests.api.execution.adapter:make"
    write_settings(file, "postgresql://auditor:hunter2@db/x", "http://x", key, options, adapter)
    settings = load_settings(file, ray=RayCluster(partitions=5))
    engine = load_engine(settings, load_platform(settings))
    assert isinstance(engine, RayEngine)
    assert engine.cluster.partitions == 5
    sent = ray.cloudpickle.dumps(engine.make)  # type: ignore[no-untyped-call]
    assert str(tmp_path).encode() in sent
    assert key not in sent
    assert b"hunter2" not in sent
    plain = load_settings(file)
    assert isinstance(load_engine(plain, load_platform(plain)), InProcessEngine)


def test_an_audit_runs_from_end_to_end(there: AuditContext, tmp_path: Path) -> None:
    with deployed(sqlite_url(tmp_path), there) as deployment:
        auditor = deployment.auditor()
        content = auditor.contents.upload(kind="job", title="Engineer")
        audience = auditor.audiences.sample("half", {"first": 400, "second": 500})
        audit = auditor.audits.run(content, audience, bins=2, epsilon=10, progress=False)
        groups = [
            (group.size.value or 0, sum(group.counts) + group.outside)
            for group in audit.release.groups
        ]
    assert sorted(size for size, _ in groups) == [400, 500]
    # Noise of scale 0.2 on three cells moves a sum by 20 with probability below 1e-12.
    assert all(abs(size - counted) < 20 for size, counted in groups)
