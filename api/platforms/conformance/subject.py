"""Subject of the checks: an adapter, and people that it knows."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from api.kernel.checks import NotApplicableError
from api.platforms.http.client import AdapterClientOptions
from api.platforms.http.platform import HttpDirectory
from api.platforms.interfaces import Persons, Platform

# Number of people in one check.
_FEW, _PEOPLE = 200, 2_000
_TYPES = {"username": pa.string(), "email_sha256": pa.binary(32), "phone_sha256": pa.binary(32)}
KINDS = tuple(_TYPES)
TRIAL: Mapping[str, Any] = {
    "kind": "job",
    "title": "Software engineer",
    "text": "Build and run data pipelines.",
    "attributes": {"occupation": "software"},
    "image": None,
}


@dataclass(frozen=True)
class Subject:
    """Adapter to check; `known` are identifiers of real accounts, `persons` numbers of real people.

    Recommendations are shown to people only with `explore`. A call about n people may take
    call_seconds + n · person_seconds.
    """

    platform: Platform
    known: Mapping[str, pa.Array]
    persons: Persons
    explore: bool = False
    call_seconds: float = 10.0
    person_seconds: float = 0.001
    # Options of the connection, if it is reached over HTTP.
    connection: AdapterClientOptions | None = None

    def people(self, most: int = _PEOPLE) -> Persons:
        """Return known people, sorted, at most `most` of them."""
        if not len(self.persons):
            raise NotApplicableError("no people are known: give some with --identifiers")
        return self.persons[:most]

    @property
    def context(self) -> dict[str, str | float]:
        """Return the default of every variable."""
        scores = self.platform.scores
        return {name: values[0] for name, values in scores.context.items()} if scores else {}


def subject_of(
    platform: Platform, identifiers: Mapping[str, pa.Array] | None = None, **limits: Any
) -> Subject:
    """Return a subject with the people of the identifiers, of the directory and of samples."""
    known = {**_listed(platform), **(identifiers or {})}
    found = [_matched(platform, kind, some) for kind, some in known.items()]
    persons = np.unique(np.concatenate([*found, _sampled(platform), np.empty(0, np.int64)]))
    return Subject(platform, known, persons[persons >= 0][:_PEOPLE], **limits)


def array_of(kind: str, identifiers: list[Any]) -> pa.Array:
    return pa.array(identifiers, _TYPES[kind])


def held_by_some(platform: Platform, kind: str, most: int) -> tuple[Persons, pa.Array]:
    """Return people whom the directory lists, at most `most` of a large remote one."""
    if platform.directory is None:
        raise NotApplicableError("there is no directory")
    if isinstance(platform.directory, HttpDirectory):
        return platform.directory.held(kind, most)
    return platform.directory.held(kind)


def _listed(platform: Platform) -> dict[str, pa.Array]:
    """Return identifiers of a few people of the directory, if there is one."""
    listed = {}
    for kind in KINDS:
        with suppress(Exception):  # another check reports it
            listed[kind] = held_by_some(platform, kind, _FEW)[1][:_FEW]
    return {kind: some for kind, some in listed.items() if len(some)}


def _matched(platform: Platform, kind: str, identifiers: pa.Array) -> Persons:
    try:
        return np.asarray(platform.people.match(kind, identifiers), np.int64)
    except Exception:  # another check reports it
        return np.empty(0, np.int64)


def _sampled(platform: Platform) -> Persons:
    found: list[Persons] = []
    offered: Mapping[str, Mapping[str, int]] = {}
    with suppress(Exception):  # here and below, another check reports it
        offered = platform.people.offers()
    for attribute, values in offered.items():
        with suppress(Exception):
            sizes = {value: min(most, _FEW) for value, most in values.items()}
            drawn = platform.people.sample(attribute, sizes, np.random.default_rng())
            found += [np.asarray(persons, np.int64) for persons in drawn.values()]
    return np.concatenate([*found, np.empty(0, np.int64)])
