"""A tiny deployment on SQLite whose state can be saved and restored, and whose clock can be turned.

Three people, one auditor, one mandate that renews daily. The service is the real one, below its
routes. The platform is an adapter of the test's own, which notes whom it was asked to score.
"""

import base64
import sqlite3
import sys
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
from joserfc.jwk import OKPKey
from numpy.typing import NDArray
from sqlalchemy import event

from api.app.container import Container, build_container
from api.contents import service as contents
from api.db import AuditorRow, MandateRow, ResearcherRow, Store
from api.identity.caller import Caller
from api.kernel import clock
from api.kernel.ids import new_id
from api.kernel.settings import Settings
from api.operations.setup import register_first
from api.platforms.interfaces import NOBODY, Persons, Platform
from openapi.resources import ContentDraft
from tests.databases import prepare
from tests.one_model import OneModel
from tests.privacy_audit.states.processes import Process
from tests.statements import Maker

NAMES = ("ann", "bob", "cat")
# The value of the one attribute that people declared: all have a name.
CALLED = "called"
# One audit costs 2 of epsilon and 2 of rho, under change-one: a person can bear one, and not two.
CAP = Decimal(3)
LIMIT = Fraction(4)
LIFETIME = Fraction(8)
CANDIDATES = 4
BEGINNING = datetime(2030, 1, 1, tzinfo=UTC)
DAY = timedelta(days=1)
MINUTE = timedelta(minutes=1)


class TinyPeople:
    """People by user name, and the directory that hidden audiences are compared with."""

    def match(self, kind: str, identifiers: pa.Array) -> Persons:
        found = [NAMES.index(name) if name in NAMES else NOBODY for name in identifiers.to_pylist()]
        return np.array(found, np.int64)

    def offers(self) -> Mapping[str, Mapping[str, int]]:
        return {"name": {CALLED: len(NAMES)}}

    def sample(
        self, attribute: str, sizes: Mapping[str, int], rng: np.random.Generator
    ) -> Mapping[str, Persons]:
        """The first of all: a search goes through the same states again."""
        return {value: np.arange(size) for value, size in sizes.items()}

    def confirmed(self, code: str) -> Persons:
        raise NotImplementedError

    def held(self, kind: str) -> tuple[Persons, pa.Array]:
        return np.arange(len(NAMES)), pa.array(NAMES)


class NotingScores(OneModel):
    """A model that gives everybody the same score, and notes whom it scored."""

    def __init__(self) -> None:
        self.asked: set[int] = set()

    def score(
        self, content: Mapping[str, Any], persons: Persons, context: Mapping[str, str | float]
    ) -> NDArray[np.float64]:
        self.asked |= {int(person) for person in persons if person >= 0}
        return np.full(len(persons), 0.5)


@dataclass
class World:
    """The deployment, and what the operations need to speak with it."""

    service: Container
    caller: Caller
    maker: Maker
    content_id: str
    regulator_key: bytes
    scores: NotingScores
    path: Path
    # Whether two-party runs go step by step.
    fine: bool = False
    days: int = 0
    minutes: int = 0
    processes: tuple[Process, Process] = field(default_factory=lambda: (Process(), Process()))
    _held: sqlite3.Connection | None = None

    @property
    def store(self) -> Store:
        return self.service.store

    @property
    def settings(self) -> Settings:
        return self.service.settings

    def now(self) -> datetime:
        return BEGINNING + self.days * DAY + self.minutes * MINUTE

    def save(self) -> bytes:
        """Return the whole database."""
        with self._driver() as driver, sqlite3.connect(":memory:") as copy:
            driver.backup(copy)
            return zlib.compress(copy.serialize(), 1)

    def restore(self, image: bytes) -> None:
        with self._driver() as driver, sqlite3.connect(":memory:") as copy:
            copy.deserialize(_unpacked(image))
            copy.backup(driver)

    def rows(self, query: str) -> list[dict[str, Any]]:
        with self._driver() as driver:
            cursor = driver.execute(query)
            names = [column[0] for column in cursor.description]
            return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

    @contextmanager
    def held(self) -> Iterator[None]:
        """Read with one connection; a look at a state takes thirty queries."""
        with self._driver() as self._held:
            try:
                yield
            finally:
                self._held = None

    @contextmanager
    def _driver(self) -> Iterator[sqlite3.Connection]:
        if self._held is not None:
            yield self._held
            return
        connection = self.store.engine.raw_connection()
        try:
            driver = connection.driver_connection
            assert isinstance(driver, sqlite3.Connection)
            yield driver
        finally:
            connection.close()


# One state is gone back to as often as there are operations.
_unpacked = lru_cache(maxsize=1)(zlib.decompress)


@contextmanager
def opened(folder: Path, *, fine: bool = False) -> Iterator[World]:
    """Open a new world, whose clock is that of all modules of the service."""
    path = folder / "states.sqlite"
    settings = _settings(path)
    prepared = Store(settings.database_url)
    prepare(prepared)
    regulator = OKPKey.generate_key("Ed25519")
    regulator_id = register_first(prepared, "regulator", regulator.as_dict(private=False))
    prepared.close()
    scores, people = NotingScores(), TinyPeople()
    platform = Platform("tiny", people, scores=scores, directory=people)
    service = build_container(settings, platform)
    event.listen(service.store.engine, "connect", _hurry)
    caller, maker = _registered(service.store, regulator_id)
    for purpose in ("receipt", "ledger"):
        service.auth.keys.current(purpose)
    with service.store.write() as session:
        draft = ContentDraft.model_validate({"kind": "job", "title": "Engineer"})
        content = contents.create(session, caller, draft, settings)
    key = base64.urlsafe_b64decode(f"{regulator.as_dict(private=False)['x']}==")
    world = World(service, caller, maker, content.id, key, scores, path, fine)
    try:
        with _clock_of(world):
            yield world
    finally:
        service.store.close()


def _settings(path: Path) -> Settings:
    settings = Settings(
        database_url=f"sqlite:///{path}",
        issuer="http://127.0.0.1:9",
        key_encryption_key=base64.urlsafe_b64encode(bytes(32)).decode(),
        person_lifetime_rho=CAP,
        two_party_candidates=CANDIDATES,
        # Threads that renew leases end soon after their audits.
        lease_seconds=3.0,
        embedded_worker=False,
    )
    # Any two-party audit that is not answered may be given up at any time.
    return settings.model_copy(update={"two_party_hours": 0})


def _registered(store: Store, regulator_id: str) -> tuple[Caller, Maker]:
    auditor = AuditorRow(id=new_id("auditor"), name="Lab", created_at=BEGINNING)
    key = OKPKey.generate_key("Ed25519")
    researcher = ResearcherRow(
        id=new_id("researcher"),
        name="Ada",
        role="auditor",
        auditor_id=auditor.id,
        jwk=key.as_dict(private=False),
        key_thumbprint=key.thumbprint(),
        created_at=BEGINNING,
    )
    mandate = MandateRow(
        id=new_id("mandate"),
        auditor_id=auditor.id,
        granted_by=regulator_id,
        purpose="test",
        kinds=["score-histogram", "two-party"],
        epsilon_limit=LIMIT,
        renewal="fixed",
        renewal_days=1,
        lifetime_limit=LIFETIME,
        spent=Fraction(0),
        period_spent=Fraction(0),
        opened_share=Fraction(0),
        valid_from=BEGINNING,
        valid_until=BEGINNING + 3 * DAY,
        created_at=BEGINNING,
    )
    for row in (auditor, researcher, mandate):
        with store.write() as session:
            session.add(row)
    caller = Caller(researcher.id, "Ada", "auditor", auditor.id, researcher.jwk)
    return caller, Maker(researcher.id, key)


@contextmanager
def _clock_of(world: World) -> Iterator[None]:
    """Turn the clock of every module that has imported it."""
    real, patches = clock.now, []
    for name, module in sorted(sys.modules.items()):
        if name.startswith("api.") and getattr(module, "now", None) is real:
            patches.append(patch.object(module, "now", world.now))
    for each in patches:
        each.start()
    try:
        yield
    finally:
        for each in patches:
            each.stop()


def _hurry(connection: Any, _: Any) -> None:
    """Do without durability: here a crash is an exception, not a loss of power."""
    for pragma in ("journal_mode=MEMORY", "synchronous=OFF", "secure_delete=OFF"):
        connection.execute(f"PRAGMA {pragma}")
