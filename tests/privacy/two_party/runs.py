"""Whole runs of the service's protocol in memory."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from nacl.public import PrivateKey
from numpy.typing import NDArray

from privacy.two_party import (
    AuditorParty,
    CandidatePeople,
    Entries,
    PlatformParty,
    RunTerms,
    Uploaded,
)
from privacy.two_party.joins import keep_first_rows
from privacy.two_party.sums import EncryptedTable, NoisySums

Array = NDArray[np.int64]
REGULATOR = PrivateKey.generate()
KEY = bytes(REGULATOR.public_key)


@dataclass
class World:
    """Terms, what each party holds, and the noise that the platform is handed."""

    terms: RunTerms
    weights: Array
    values: Array
    join: Uploaded | CandidatePeople
    tokens: bytes | None = None
    noise: Array | None = None
    reads: list[Array] = field(default_factory=list)
    releases: int = 0

    def auditor(self) -> AuditorParty:
        return AuditorParty(self.terms, self.weights, regulator_key=KEY, tokens=self.tokens)

    def platform(self) -> PlatformParty:
        return PlatformParty(self.terms, self.join, self._values, self._release)

    def run(self) -> NDArray[np.object_]:
        auditor, platform = self.auditor(), self.platform()
        for _ in exchanged(auditor, platform):
            pass
        assert auditor.transcript == platform.transcript
        return auditor.sums

    def expected(self, persons: Array) -> NDArray[np.object_]:
        """The same in the clear: `persons` of the rows."""
        who = keep_first_rows(persons)
        values = np.where(who[:, np.newaxis] >= 0, self.values[who], 0).astype(object)
        return np.asarray(self.weights.astype(object).T @ values + self._noise)

    @property
    def _noise(self) -> Array:
        shape = self.terms.bounds.shape
        return np.zeros(shape, np.int64) if self.noise is None else self.noise

    def _values(self, persons: Array) -> Array:
        self.reads.append(persons)
        return self.values[persons]

    def _release(self, table: EncryptedTable) -> NoisySums:
        self.releases += 1
        return table.plus(self._noise)


def exchanged(auditor: AuditorParty, platform: PlatformParty) -> Iterator[tuple[bytes, bytes]]:
    """Every message with its answer, as they pass."""
    message: bytes | None = auditor.start()
    while message is not None:
        answer = platform.receive(message)
        yield message, answer
        message = auditor.receive(answer)


def small(rows: int = 5, *, candidates: int | None = None, **changes: Any) -> RunTerms:
    terms: dict[str, Any] = {
        "audit": "aud_1",
        "rows": rows,
        "groups": 2,
        "cells": 2,
        "weights": Entries(0, 1_000, 1_000),
        "values": Entries(-50, 50, 100),
        "noise": 2**40,
        "candidates": candidates,
    }
    return RunTerms(**(terms | changes))


def random_world(terms: RunTerms, persons: Array, seed: int = 0) -> World:
    """An upload whose rows are these people, with random weights, values and noise."""
    rng = np.random.default_rng(seed)
    most, bounds = terms.weights.total // terms.groups, terms.values
    weights = rng.integers(0, most, (terms.rows, terms.groups), endpoint=True)
    each = min(bounds.high, bounds.total // terms.cells)
    people = max(int(persons.max(initial=0)) + 1, 1)
    low = max(bounds.low, -each)
    values = rng.integers(low, each, (people, terms.cells), endpoint=True)
    noise = rng.integers(-(2**30), 2**30, terms.bounds.shape)
    return World(terms, weights, values, Uploaded(persons), noise=noise)


def token(name: str) -> bytes:
    return name.encode().rjust(32, b"\0")


def psi_world(terms: RunTerms, rows: list[str], people: list[str]) -> World:
    """By PSI: rows of the upload, and the people of the platform."""
    world = random_world(terms, np.arange(len(people)))
    world.tokens = b"".join(map(token, rows))
    world.join = CandidatePeople(b"".join(map(token, people)), np.arange(len(people)))
    return world


Make = Callable[[], World]
