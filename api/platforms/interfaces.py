"""Capabilities of a platform, as small protocols.

A platform implements the ones that it has, with types of the standard library, NumPy and Arrow
only. The catalogue offers the kinds of audit that they support. Everything that `match`, `sample`,
`confirmed`, `score`, `read`, `scan`, `consenting` and `rewards` return is private. Only the waist
releases a function of it.

A person number is stable for the life of an account. An identifier resolves to at most one person,
by a rule that does not depend on the other identifiers in a request.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

Persons = NDArray[np.int64]
# Columns of rows by name, all of the same length.
Columns = Mapping[str, NDArray[Any]]
NOBODY = -1
# Role of the people whose lists or feeds the rows of a log are.
VIEWER = "viewer"


class People(Protocol):
    """People of the platform."""

    def match(self, kind: str, identifiers: pa.Array) -> Persons:
        """Return the person behind each identifier, in order, NOBODY where there is none.

        `kind` is `username` (an array of strings), `email_sha256` or `phone_sha256` (arrays of 32
        bytes, `fixed_size_binary(32)`).
        """
        ...

    def offers(self) -> Mapping[str, Mapping[str, int]]:
        """Return attribute → value → the number of people who may be sampled among those who
        declared it.

        These are public figures, not live counts. The values of one attribute are disjoint.
        """
        ...

    def sample(
        self, attribute: str, sizes: Mapping[str, int], rng: np.random.Generator
    ) -> Mapping[str, Persons]:
        """Draw for each value exactly this many distinct people who declared it, uniformly."""
        ...

    def confirmed(self, code: str) -> Persons:
        """Return the people who confirmed on the platform that they take part under this code,
        sorted.
        """
        ...


class Scores(Protocol):
    """Scores of the model."""

    @property
    def model_digest(self) -> str:
        """Return `sha256:…` of the model that scores; it changes when the model does."""
        ...

    @property
    def score_range(self) -> tuple[float, float]:
        """Return the public range of scores."""
        ...

    @property
    def context(self) -> Mapping[str, Sequence[str | float]]:
        """Return the temporal variables that an audit freezes, with public values, the default
        first.
        """
        ...

    def score(
        self, content: Mapping[str, Any], persons: Persons, context: Mapping[str, str | float]
    ) -> NDArray[np.float64]:
        """Return the relevance of the content to each person, in order.

        `content` has `kind`, `title`, `text` (strings), `attributes` (strings by name) and `image`
        (bytes or None). `context` has a value for every variable.
        """
        ...


class Directory(Protocol):
    """Directory of everybody who could be in an audience that is not revealed to the platform."""

    def held(self, kind: str) -> tuple[Persons, pa.Array]:
        """Return all people with an identifier of this kind, and their identifiers.

        Identifiers are normalised as in the catalogue's codebook, in the types that `match` takes.
        If a person has several identifiers, the first one counts.
        """
        ...


@dataclass(frozen=True)
class Traffic:
    """Public facts of a log of recommendations: the meaning of its columns.

    `strategy` is the categorical column with the strategy that showed a row. `random` is its
    category for uniformly random items, None without such items. `signals` are numeric columns, 0
    or 1. `creators` are categorical columns with the group of the item's creator. `day` is the
    column of days.
    """

    strategy: str
    random: str | None
    signals: tuple[str, ...]
    creators: tuple[str, ...]
    day: str | None = None


@dataclass(frozen=True)
class Ranking:
    """Public facts of a log of ranked lists: the meaning of its columns.

    `query` has an integer that identifies a list, `place` the rank in the list, from 1 on. In a log
    of viewers, whose lists these are, `candidate` has the number of the listed person, null for
    nobody. It is None if items are listed, and in a log of candidates, whose lists belong to
    nobody. A viewer's rows do not depend on who is listed in them. No auditor can request these
    columns.
    """

    query: str
    place: str
    candidate: str | None = None


@dataclass(frozen=True)
class Log:
    """Public facts of a log.

    `person` is the role of the people whose rows they are, and whose privacy is counted:
    `candidate`, `viewer`. `numbers` are numeric columns with their range, `words` categorical
    columns with their categories. `model_digest` is that of the model that scored the rows.
    """

    person: str
    numbers: Mapping[str, tuple[float, float]]
    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    model_digest: str | None = None
    traffic: Traffic | None = None
    ranking: Ranking | None = None


class Logs(Protocol):
    """Logs: rows of past events, by person."""

    def logs(self) -> Mapping[str, Log]:
        """Return the logs by name. They are public, and as stable as a schema."""
        ...

    def read(self, log: str, persons: Persons, columns: Sequence[str]) -> Iterable[pa.RecordBatch]:
        """Return all rows of these people, who are distinct and sorted, and may be nobody.

        Columns: `person` (the number), and the requested ones. Numeric columns have any numeric
        type, null for missing values. Categorical columns are strings or a dictionary of strings.
        Rows that are ordered by person are read faster.
        """
        ...


class LogFragments(Protocol):
    """Logs as they are stored, on many machines: a person's rows may be in any number of pieces."""

    def pieces(self, log: str) -> Sequence[str]:
        """Return the names of the pieces of a log, in a stable order."""
        ...

    def scan(self, log: str, piece: str, columns: Sequence[str]) -> Iterable[pa.RecordBatch]:
        """Return all rows of a piece, of anybody, with the columns that `Logs.read` has.

        An odd row should not make it fail. If it fails, everybody's rows are read by `Logs.read`,
        which takes longer, and people for whom that fails are dropped. A missing piece is an
        outage.
        """
        ...


class Policies(Protocol):
    """Policies: recommendations of people, and rewards from those of others."""

    @property
    def policies_digest(self) -> str:
        """Return `sha256:…` of the model and everybody's recommendations.

        It changes when they do.
        """
        ...

    @property
    def step_seconds(self) -> float:
        """Return the length of a step in seconds: public, above 0, the same for everybody."""
        ...

    def consenting(self, persons: Persons) -> NDArray[np.bool_]:
        """Return who agrees, at this moment, to be shown other recommendations."""
        ...

    def rewards(
        self, course: str, targets: Persons, arms: Persons, steps: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Show each target the recommendations of the arm, and return the reward for the target.

        Rewards are in [0, 1]; if the arm is the target, it is shown its own recommendations. A step
        of a target has a number, from 0, within the course. If it is requested again, as after a
        crash, it is not repeated: the answer is the first one.
        """
        ...


@dataclass(frozen=True)
class LogColumns:
    """Columns that are read from a log."""

    log: str
    columns: tuple[str, ...]


@dataclass(frozen=True)
class Platform:
    """A platform by name, with its capabilities."""

    name: str
    people: People
    scores: Scores | None = None
    logs: Logs | None = None
    pieces: LogFragments | None = None
    policies: Policies | None = None
    directory: Directory | None = None
