"""Capabilities of a platform, as small protocols.

A platform implements the ones it has, with standard-library, NumPy and Arrow types only, and the
catalogue offers the kinds of audit they carry. Everything `match`, `sample`, `confirmed`, `score`,
`read`, `scan`, `consenting` and `rewards` return is private: only the waist lets a function of it
out.

A person number is stable for the life of an account. An identifier resolves to at most one person,
by a rule that does not depend on who else is asked for.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

Persons = NDArray[np.int64]
# Columns of rows, by name and all of one length.
Columns = Mapping[str, NDArray[Any]]
NOBODY = -1
# The role of people whose lists or feeds the rows of a log are.
VIEWER = "viewer"


class People(Protocol):
    """People of the platform."""

    def match(self, kind: str, identifiers: pa.Array) -> Persons:
        """Return the person behind each identifier, in order, NOBODY where there is none.

        `kind` is `username` (an array of strings), `email_sha256` or `phone_sha256` (arrays of
        32 bytes, `fixed_size_binary(32)`).
        """
        ...

    def offers(self) -> Mapping[str, Mapping[str, int]]:
        """attribute → value → how many people may be sampled among those who declared it.

        Public figures, not live counts. The values of one attribute are disjoint.
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
        """`sha256:…` of the model that scores; it changes when the model does."""
        ...

    @property
    def score_range(self) -> tuple[float, float]:
        """The public range of scores."""
        ...

    @property
    def context(self) -> Mapping[str, Sequence[str | float]]:
        """Temporal variables an audit freezes, and their public values, the default first."""
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
    """Everybody who could be in an audience that the platform is not shown."""

    def held(self, kind: str) -> tuple[Persons, pa.Array]:
        """All people with an identifier of this kind, and their identifiers.

        Normalised as the catalogue's codebook says, of the types that `match` takes. Of several
        identifiers of a person the first counts.
        """
        ...


@dataclass(frozen=True)
class Traffic:
    """Public facts of a log of recommendations: the meaning of its columns.

    `strategy` is the column of words that says by which strategy a row was shown, and `random` its
    word for uniformly random items, None where there are none. `signals` are columns of numbers, 0
    or 1; `creators` are columns of words that say of which group the item's creator is; `day` is
    the column of days.
    """

    strategy: str
    random: str | None
    signals: tuple[str, ...]
    creators: tuple[str, ...]
    day: str | None = None


@dataclass(frozen=True)
class Ranking:
    """Public facts of a log of ranked lists: the meaning of its columns.

    `query` has a whole number that tells lists apart, `place` the place in one, from 1 on. In a log
    of viewers, whose lists these are, `candidate` has the person number of who is listed, null for
    nobody; where items are listed it is None, as in a log of candidates, whose lists are nobody's.
    A viewer's rows do not depend on who is listed in them. No auditor can ask for these columns.
    """

    query: str
    place: str
    candidate: str | None = None


@dataclass(frozen=True)
class Log:
    """Public facts of a log.

    `person` is the role of the people whose rows they are, and whose privacy is counted:
    `candidate`, `viewer`. `numbers` are columns with their range, `words` columns with their
    values. `model_digest` is that of the model that scored the rows.
    """

    person: str
    numbers: Mapping[str, tuple[float, float]]
    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    model_digest: str | None = None
    traffic: Traffic | None = None
    ranking: Ranking | None = None


class Logs(Protocol):
    """Logs: rows of what happened, by person."""

    def logs(self) -> Mapping[str, Log]:
        """Return the logs by name. Public, and as stable as a schema."""
        ...

    def read(self, log: str, persons: Persons, columns: Sequence[str]) -> Iterable[pa.RecordBatch]:
        """All rows of these people, who are distinct and sorted, and may be nobody.

        Columns: `person` (the number), and those asked for: numbers of any numeric type, null where
        there is none, and words as strings or as a dictionary of strings. Rows that are ordered by
        person are read faster.
        """
        ...


class LogFragments(Protocol):
    """Logs as they lie, on many machines: a person's rows may be in any number of pieces."""

    def pieces(self, log: str) -> Sequence[str]:
        """Return the names of the pieces of a log, in an order that stays."""
        ...

    def scan(self, log: str, piece: str, columns: Sequence[str]) -> Iterable[pa.RecordBatch]:
        """Return all rows of a piece, of anybody, with the columns that `Logs.read` has.

        An odd row should not make it fail: then everybody's rows are read by `Logs.read`, which
        takes longer, and people for whom that fails are dropped. A missing piece is an outage.
        """
        ...


class Policies(Protocol):
    """Recommendations of people, and rewards from those of others."""

    @property
    def policies_digest(self) -> str:
        """`sha256:…` of the model and everybody's recommendations; it changes when they do."""
        ...

    @property
    def step_seconds(self) -> float:
        """Return the length of a step in seconds: public, above 0, the same for everybody."""
        ...

    def consenting(self, persons: Persons) -> NDArray[np.bool_]:
        """Mark the people who agree, at this moment, to be shown other recommendations."""
        ...

    def rewards(
        self, course: str, targets: Persons, arms: Persons, steps: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Show each target what is recommended to the arm, and tell what it was worth to them.

        Rewards are in [0, 1]; where the arm is the target, it is shown its own. A step of a target
        has a number, from 0, within the course. Asked for again, as after a crash, it is not taken
        again: the answer is that of the first time.
        """
        ...


@dataclass(frozen=True)
class LogColumns:
    """The columns that are read of a log."""

    log: str
    columns: tuple[str, ...]


@dataclass(frozen=True)
class Platform:
    """A platform by name, with the capabilities it has."""

    name: str
    people: People
    scores: Scores | None = None
    logs: Logs | None = None
    pieces: LogFragments | None = None
    policies: Policies | None = None
    directory: Directory | None = None
