"""Checks of `Logs`: it returns all rows of the requested people, and of nobody else."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from api.kernel.checks import Checks, NotApplicableError
from api.platforms.conformance.subject import Subject
from api.platforms.http.public_facts import DIGEST
from api.platforms.interfaces import Log, Logs, Persons

LOGS = Checks[Subject]()
_PEOPLE = 300


@LOGS.check(
    "describe every log: ranges with the smaller number first, categories with their values"
)
def logs_are_described(subject: Subject) -> str | None:
    for name, log in _logs(subject).logs().items():
        if any(not low < high for low, high in log.numbers.values()):
            return f"{name}: a range is empty"
        if any(len(set(values)) != len(values) or not values for values in log.words.values()):
            return f"{name}: a categorical column has no values, or a duplicate"
        if log.model_digest is not None and not DIGEST.fullmatch(log.model_digest):
            return f"{name}: model_digest is not `sha256:` and 64 hex digits"
    return None


@LOGS.check("return `person` and each requested column, by its name")
def read_has_the_columns(subject: Subject) -> str | None:
    for name, log, rows in _all(subject):
        columns = _columns(log)
        if missing := [each for each in ("person", *columns) if each not in rows.column_names]:
            return f"{name}: there is no column {', '.join(missing)}"
        if not pa.types.is_integer(rows["person"].type):
            return f"{name}: `person` is not a whole number"
        numeric = (pa.types.is_floating, pa.types.is_integer, pa.types.is_boolean)
        for column in log.numbers:
            if not any(is_one(rows[column].type) for is_one in numeric):
                return f"{name}: {column} is not numeric"
    return None


@LOGS.check("return rows of the requested people only", warns=True)
def read_is_about_the_people_asked_for(subject: Subject) -> str | None:
    persons = subject.people(_PEOPLE)[::2]
    for name, _, rows in _all(subject, persons):
        strange = ~np.isin(np.asarray(rows["person"]), persons)
        if strange.any():
            return f"{name}: {strange.sum()} rows are of people who were not requested"
    return None


@LOGS.check("return all rows of a person, for any number of people in the request")
def read_does_not_depend_on_the_batch(subject: Subject) -> str | None:
    persons = subject.people(_PEOPLE)
    for name, log, rows in _all(subject, persons):
        together = _counts(rows, persons[:10])
        alone = [len(_read(subject, name, log, persons[i : i + 1])) for i in range(10)]
        if list(together) != alone[: len(together)]:
            return f"{name}: somebody has other rows alone than in a batch"
    return None


@LOGS.check("return the same rows again: past events do not change")
def read_is_the_same_again(subject: Subject) -> str | None:
    persons = subject.people(_PEOPLE)
    for name, log, rows in _all(subject, persons):
        again = _read(subject, name, log, persons)
        if not np.array_equal(_counts(rows, persons), _counts(again, persons)):
            return f"{name}: somebody has more or fewer rows the second time"
    return None


@LOGS.check("answer an empty batch with no rows: the service uses it as a health check")
def read_answers_an_empty_batch(subject: Subject) -> str | None:
    for name, _, rows in _all(subject, np.empty(0, np.int64)):
        if len(rows):
            return f"{name}: an empty batch got {len(rows)} rows"
    return None


@LOGS.check(
    "stay within the stated ranges and categories; other values are clipped or dropped", warns=True
)
def read_is_within_what_is_stated(subject: Subject) -> str | None:
    for name, log, rows in _all(subject):
        for column, (low, high) in log.numbers.items():
            numbers = np.asarray(rows[column].cast(pa.float64()))
            if np.any((numbers < low) | (numbers > high)):
                return f"{name}: {column} has numbers outside of {low} to {high}"
        for column, values in log.words.items():
            found = pc.unique(rows[column].cast(pa.string()).drop_null()).to_pylist()
            if strange := sorted(set(found) - set(values)):
                return f"{name}: {column} has {len(strange)} categories that are not stated"
    return None


def _logs(subject: Subject) -> Logs:
    if subject.platform.logs is None:
        raise NotApplicableError("there are no logs")
    return subject.platform.logs


def _all(subject: Subject, persons: Persons | None = None) -> Iterator[tuple[str, Log, pa.Table]]:
    persons = subject.people(_PEOPLE) if persons is None else persons
    for name, log in _logs(subject).logs().items():
        yield name, log, _read(subject, name, log, persons)


def _columns(log: Log) -> list[str]:
    return [*log.numbers, *log.words]


def _read(subject: Subject, name: str, log: Log, persons: Persons) -> pa.Table:
    batches = list(_logs(subject).read(name, persons, _columns(log)))
    if not batches:
        return pa.table({each: pa.nulls(0) for each in ("person", *_columns(log))})
    return pa.Table.from_batches(batches)


def _counts(rows: pa.Table, persons: Persons) -> Persons:
    """Return the number of rows of each of these people."""
    found, counts = np.unique(np.asarray(rows["person"], np.int64), return_counts=True)
    counts_by_person = dict(zip(found.tolist(), counts.tolist(), strict=True))
    return np.array([counts_by_person.get(person, 0) for person in persons.tolist()], np.int64)
