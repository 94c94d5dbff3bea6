"""Platform that is reached over HTTP: its scoring service has an adapter, in any language.

Mistakes of the adapter about some people are corrected as in process
(`api.platforms.fault_isolation`). A missing score is NaN, a missing person NOBODY, and an
unreadable answer counts as a failed call.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from api.platforms.directory import keep_usable
from api.platforms.fault_isolation import PlatformDownError
from api.platforms.http.client import AdapterClient, AdapterClientOptions, CallFailedError
from api.platforms.http.content_json import encode_content
from api.platforms.http.messages import Message
from api.platforms.http.model_version import AnsweringModel
from api.platforms.http.public_facts import DIGEST, PoliciesFacts, ScoresFacts
from api.platforms.interfaces import NOBODY, Log, Persons, Platform

_SEED_BYTES = 32
Told = TypeVar("Told")


@dataclass(frozen=True)
class HttpPlatform(Platform):
    """A platform with the capabilities that its adapter states."""

    @classmethod
    def at(cls, url: str, **options: Any) -> "HttpPlatform":
        """Connect; `options` are those of `AdapterClientOptions`."""
        client = AdapterClient(AdapterClientOptions(url=url, **options))
        try:
            facts = client.facts()
        except PlatformDownError:
            client.close()
            raise
        return cls(
            name=facts.name,
            people=HttpPeople(client),
            scores=HttpScores(client) if facts.scores else None,
            logs=HttpLogs(client) if facts.logs is not None else None,
            policies=HttpPolicies(client) if facts.policies else None,
            directory=HttpDirectory(client) if facts.directory else None,
        )

    def close(self) -> None:
        cast("HttpPeople", self.people).close()


class HttpPeople:
    def __init__(self, client: AdapterClient) -> None:
        self._client = client

    def close(self) -> None:
        self._client.close()

    def match(self, kind: str, identifiers: pa.Array) -> Persons:
        columns = pa.table({"identifier": identifiers})
        answers = _call_in_batches(self._client, "match", columns, {"kind": kind})
        found = _concatenate([_whole(each, "person") for each in list(answers)], np.int64)
        return np.where(found < 0, NOBODY, found)

    def offers(self) -> Mapping[str, Mapping[str, int]]:
        return self._client.facts().offers

    def sample(
        self, attribute: str, sizes: Mapping[str, int], rng: np.random.Generator
    ) -> Mapping[str, Persons]:
        seed = rng.bytes(_SEED_BYTES).hex()
        ask = {"attribute": attribute, "sizes": dict(sizes), "seed": seed}
        found = self._client.ask("sample", Message(_nothing(), ask), sum(sizes.values())).columns
        values, persons = _column(found, "value").cast(pa.string()), _whole(found, "person")
        return {value: persons[np.asarray(pc.equal(values, value))] for value in sizes}

    def confirmed(self, code: str) -> Persons:
        found = self._client.ask("confirmed", Message(_nothing(), {"code": code}), None).columns
        return np.unique(_whole(found, "person"))


class HttpScores:
    def __init__(self, client: AdapterClient) -> None:
        self._client = client
        self._model = AnsweringModel(self._facts.model_digest)

    @property
    def model_digest(self) -> str:
        return self._model.current(self._facts.model_digest)

    @property
    def score_range(self) -> tuple[float, float]:
        return self._facts.score_range

    @property
    def context(self) -> Mapping[str, Sequence[str | float]]:
        return self._facts.context

    def score(
        self, content: Mapping[str, Any], persons: Persons, context: Mapping[str, str | float]
    ) -> NDArray[np.float64]:
        ask = {"content": encode_content(content), "context": dict(context)}
        columns = pa.table({"person": persons})
        answers = _answers(self._client, "score", columns, ask)
        return _concatenate([self._of_the_model(each, ask) for each in list(answers)], np.float64)

    def _of_the_model(self, answer: Message, ask: Mapping[str, Any]) -> NDArray[np.float64]:
        if not self._model.is_of(_model_of(answer)):
            nobody = pa.table({"person": np.empty(0, np.int64)})
            self._model.require(_model_of(self._client.ask("score", Message(nobody, ask), 0)))
            raise CallFailedError("score", "the answer states another model than the empty one")
        return _numbers(answer.columns, "score")

    @property
    def _facts(self) -> ScoresFacts:
        return _there(self._client.facts().scores, "scores")


class HttpLogs:
    def __init__(self, client: AdapterClient) -> None:
        self._client = client

    def logs(self) -> Mapping[str, Log]:
        described = self._client.facts().logs or {}
        return {name: log.log() for name, log in described.items()}

    def read(self, log: str, persons: Persons, columns: Sequence[str]) -> Iterable[pa.RecordBatch]:
        ask = {"log": log, "columns": list(columns)}
        sent = pa.table({"person": persons})
        for rows in _call_in_batches(self._client, "read", sent, ask, one_each=False):
            yield from rows.select(["person", *columns]).to_batches()


class HttpPolicies:
    def __init__(self, client: AdapterClient) -> None:
        self._client = client

    @property
    def policies_digest(self) -> str:
        return self._facts.policies_digest

    @property
    def step_seconds(self) -> float:
        return self._facts.step_seconds

    def consenting(self, persons: Persons) -> NDArray[np.bool_]:
        answers = _call_in_batches(self._client, "consenting", pa.table({"person": persons}), {})
        agreed = [_column(each, "consents").cast(pa.bool_()) for each in list(answers)]
        return _concatenate([np.asarray(each.fill_null(False)) for each in agreed], np.bool_)

    def rewards(
        self, course: str, targets: Persons, arms: Persons, steps: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        columns = pa.table({"target": targets, "arm": arms, "step": steps})
        answers = _call_in_batches(self._client, "rewards", columns, {"course": course})
        return _concatenate([_numbers(each, "reward") for each in list(answers)], np.float64)

    @property
    def _facts(self) -> PoliciesFacts:
        return _there(self._client.facts().policies, "policies")


class HttpDirectory:
    def __init__(self, client: AdapterClient) -> None:
        self._client = client

    def held(self, kind: str, most: int | None = None) -> tuple[Persons, pa.Array]:
        """Return everybody, or `most` people, without transferring the rest."""
        asked = Message(_nothing(), {"kind": kind})
        found = self._client.ask("held", asked, None, most).columns[:most]
        return keep_usable(kind, _whole(found, "person"), _column(found, "identifier"))


def _call_in_batches(
    client: AdapterClient,
    call: str,
    columns: pa.Table,
    ask: Mapping[str, Any],
    *,
    one_each: bool = True,
) -> Iterator[pa.Table]:
    for answer in _answers(client, call, columns, ask, one_each=one_each):
        yield answer.columns


def _answers(
    client: AdapterClient,
    call: str,
    columns: pa.Table,
    ask: Mapping[str, Any],
    *,
    one_each: bool = True,
) -> Iterator[Message]:
    """Yield the answers about all rows, some rows per call; an empty batch also has one call.

    After a failed call the remaining calls are made as well, so that their number does not show
    which one failed.
    """
    size, failure = client.options.people_per_call, None
    for start in range(0, max(1, len(columns)), size):
        part = columns.slice(start, size)
        try:
            answer = client.ask(call, Message(part, ask), len(part))
        except CallFailedError as error:
            failure = error
            continue
        if one_each and len(answer.columns) != len(part):
            failure = CallFailedError(
                call, "the answer does not have one row for each requested row"
            )
        if failure is None:
            yield answer
    if failure is not None:
        raise failure


def _model_of(answer: Message) -> str:
    if answer.model_digest is None or not DIGEST.fullmatch(answer.model_digest):
        raise CallFailedError("score", "the answer does not state its model")
    return answer.model_digest


def _column(table: pa.Table, name: str) -> pa.Array:
    if name not in table.column_names:
        raise CallFailedError("answer", f"there is no column {name}")
    return table[name].combine_chunks()


def _whole(table: pa.Table, name: str) -> Persons:
    """Return person numbers, NOBODY for missing ones."""
    column = _column(table, name)
    if not pa.types.is_integer(column.type):
        raise CallFailedError("answer", f"{name} does not hold integers")
    return np.asarray(column.cast(pa.int64()).fill_null(NOBODY), np.int64)


def _numbers(table: pa.Table, name: str) -> NDArray[np.float64]:
    column = _column(table, name)
    if not (pa.types.is_floating(column.type) or pa.types.is_integer(column.type)):
        raise CallFailedError("answer", f"{name} is not numeric")
    return np.asarray(column.cast(pa.float64(), safe=False).fill_null(np.nan), np.float64)


def _concatenate(parts: list[NDArray[Any]], kind: type[np.generic]) -> NDArray[Any]:
    return np.concatenate([*parts, np.empty(0, kind)])


def _nothing() -> pa.Table:
    return pa.table({})


def _there(facts: Told | None, capability: str) -> Told:
    if facts is None:
        raise CallFailedError("platform", f"it no longer has {capability}: restart the service")
    return facts
