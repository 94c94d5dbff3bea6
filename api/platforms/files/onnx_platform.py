"""Platform made of files: a model in ONNX, and a Parquet table of its features of people.

The digest in every receipt is that of the files. A person's score does not depend on who else is
scored, not even in its last bit. Every run of the model has the same number of rows, filled up with
zeros for fewer people. A person is always at the same position modulo `LANES`. Sums and
exponentials differ in their last bits by the memory position of a row modulo `LANES`, and by
nothing else.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, FiniteFloat

from api.platforms.files.people_table import PeopleTable, TableError
from api.platforms.interfaces import Persons, Platform
from api.platforms.row_sampling import find_runs

Tensors = Mapping[str, NDArray[Any]]
# Function from content and context to inputs of the model, for a model that reads no text itself.
Reader = Callable[[Mapping[str, Any], Mapping[str, str | float]], Tensors]
_TYPES = {
    "tensor(double)": np.float64,
    "tensor(float)": np.float32,
    "tensor(int64)": np.int64,
    "tensor(int32)": np.int32,
}
_CHUNK = 1 << 20
# Whole vectors of any type, and whole blocks of rows of a matrix product.
LANES = 192


class OnnxOptions(BaseModel):
    """`[platform_options]` of a platform made of files.

    `inputs` names the columns of the table for each input of the model that is about people. The
    other inputs are the output of `reader` (`module:function`, called with `reader_files`) for
    content and context. Without a reader, they are `kind`, `title` and `text` of the content and
    variables of the context, by their names. `files` are further files that decide a score, for the
    digest.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = "files"
    model: Path
    people: Path
    inputs: Annotated[dict[str, tuple[str, ...]], Field(min_length=1)]
    reader: Annotated[str | None, Field(pattern=r"^[\w.]+:\w+$")] = None
    reader_files: dict[str, Path] = {}
    files: tuple[Path, ...] = ()
    score_range: tuple[FiniteFloat, FiniteFloat]
    context: dict[str, tuple[str | FiniteFloat, ...]] = {}
    offers: dict[str, dict[str, int]] = {}
    rows_per_run: Annotated[int, Field(ge=LANES, le=1_048_576, multiple_of=LANES)] = 16 * LANES


@dataclass(frozen=True)
class OnnxPlatform(Platform):
    @classmethod
    def load(cls, **options: Any) -> "OnnxPlatform":
        chosen = OnnxOptions(**options)
        table = PeopleTable(chosen.people, chosen.offers)
        scores = OnnxScores(chosen, table)
        return cls(name=chosen.name, people=table, scores=scores, directory=table)


class OnnxScores:
    def __init__(self, options: OnnxOptions, table: PeopleTable) -> None:
        self._options, self._table = options, table
        read = [file for _, file in sorted(options.reader_files.items())]
        self.model_digest = digest_of([options.model, *options.files, *read])
        self._session = _session(options.model)
        inputs = {each.name: each for each in self._session.get_inputs()}
        if unknown := sorted(options.inputs.keys() - inputs.keys()):
            raise TableError(f"The model has no input {', '.join(unknown)}.")
        self._told = {name: each for name, each in inputs.items() if name not in options.inputs}
        self._read = _reader(options)
        self._features = {
            name: _shaped(table.features(columns, _type(inputs[name])), inputs[name])
            for name, columns in options.inputs.items()
        }
        # Row that fills up runs. It must not be a person's: the model might fail on it, for all
        # (R2).
        self._nobody = len(table.persons)

    @property
    def score_range(self) -> tuple[float, float]:
        return self._options.score_range

    @property
    def context(self) -> Mapping[str, Sequence[str | float]]:
        return self._options.context

    def score(
        self, content: Mapping[str, Any], persons: Persons, context: Mapping[str, str | float]
    ) -> NDArray[np.float64]:
        """Return the scores, NaN for people who are not in the table."""
        told = self._tell(content, context)
        rows = self._rows(persons)
        known = np.flatnonzero(rows >= 0)
        positions = assign_lanes(rows[known])
        size = self._options.rows_per_run
        # An empty batch also has one run.
        runs = int(positions.max(initial=0)) // size + 1
        stood = np.full(runs * size, self._nobody)
        stood[positions] = rows[known]
        found = np.concatenate([self._run(each, told) for each in np.split(stood, runs)])
        scores = np.full(len(persons), np.nan)
        scores[known] = found[positions]
        return scores

    def _tell(self, content: Mapping[str, Any], context: Mapping[str, str | float]) -> Tensors:
        told = self._read(content, context)
        if missing := sorted(self._told.keys() - told.keys()):
            raise ValueError(
                f"The reader returned nothing for the model's input {', '.join(missing)}."
            )
        return {
            name: np.asarray(told[name], _TYPES.get(each.type, np.object_))
            for name, each in self._told.items()
        }

    def _rows(self, persons: Persons) -> NDArray[np.intp]:
        """Return the position of each person in the table, or -1."""
        known = self._table.persons
        if not len(known):
            return np.full(len(persons), -1)
        row = np.minimum(np.searchsorted(known, persons), len(known) - 1)
        return np.where(known[row] == persons, row, -1)

    def _run(self, rows: NDArray[np.intp], told: Tensors) -> NDArray[np.float64]:
        seen = {name: features.take(rows, 0) for name, features in self._features.items()}
        [found] = self._session.run(self._output, {**told, **seen})
        return np.asarray(found, np.float64).reshape(len(rows))

    @property
    def _output(self) -> list[str]:
        return [self._session.get_outputs()[0].name]


def assign_lanes(rows: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return a position for each row, each its own, with the row's remainder modulo `LANES`."""
    lane = rows % LANES
    order = np.argsort(lane, kind="stable")
    first, count = find_runs(lane[order])
    rank = np.empty(len(rows), np.intp)
    rank[order] = np.arange(len(rows)) - np.repeat(first, count)
    return rank * LANES + lane


def digest_of(files: Sequence[Path]) -> str:
    """Return `sha256:…` of a file; for several files, of the list of their digests."""
    digests = [_digest_of_file(file) for file in files]
    if len(digests) == 1:
        return f"sha256:{digests[0]}"
    listed = "".join(f"{digest}\n" for digest in digests)
    return f"sha256:{hashlib.sha256(listed.encode()).hexdigest()}"


def _digest_of_file(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def _session(model: Path) -> Any:
    """Open the model on one thread, because the division of work among threads changes last
    bits.
    """
    try:
        import onnxruntime
    except ImportError as error:
        raise TableError('Install "platform-auditor[onnx]" to serve an ONNX model.') from error
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def _reader(options: OnnxOptions) -> Reader:
    if options.reader is None:
        return _as_it_is
    module, _, function = options.reader.partition(":")
    make = getattr(import_module(module), function)
    reader: Reader = make(**{name: str(path) for name, path in options.reader_files.items()})
    return reader


def _as_it_is(content: Mapping[str, Any], context: Mapping[str, str | float]) -> Tensors:
    told = {name: content[name] for name in ("kind", "title", "text")} | dict(context)
    return {name: np.array([value]) for name, value in told.items()}


def _type(each: Any) -> np.dtype[Any]:
    if each.type not in _TYPES:
        raise TableError(f"The model's input {each.name} is a {each.type}, but must be numeric.")
    return np.dtype(_TYPES[each.type])


def _shaped(features: NDArray[Any], each: Any) -> NDArray[Any]:
    """Return the features in the model's dimensions: one column may be a vector."""
    if len(each.shape) == 1 and features.shape[1] == 1:
        return features[:, 0]
    return features
