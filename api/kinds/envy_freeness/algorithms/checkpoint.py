"""State of a fleet as bytes, and its exact restoration.

The bytes are arrays in NumPy's own format, without pickled objects: reading them runs no code.
"""

import io
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from api.kinds.envy_freeness.algorithms.batch import BatchOutcomes, Fleet

Arrays = Mapping[str, NDArray[Any]]
_ROW, _OUTCOME = "row_", "outcome_"


def pack_state(arrays: Arrays) -> bytes:
    """Return named arrays as bytes."""
    sink = io.BytesIO()
    np.savez(sink, allow_pickle=False, **arrays)
    return sink.getvalue()


def unpack_state(data: bytes) -> dict[str, NDArray[Any]]:
    with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
        return dict(arrays)


def arrays_of(fleet: Fleet[Any]) -> dict[str, NDArray[Any]]:
    """Return the state that a fleet needs between two blocks."""
    rows = {_ROW + name: array for name, array in fleet.rows._asdict().items()}
    outcomes = {_OUTCOME + f.name: getattr(fleet.outcomes, f.name) for f in fields(BatchOutcomes)}
    return {"step": np.array(fleet.step), **rows, **outcomes}


def restore_state(fleet: Fleet[Any], arrays: Arrays) -> None:
    """Restore the state of the arrays in a new fleet of the same terms."""
    rows = fleet.rows._make(arrays[_ROW + name] for name in fleet.rows._asdict())
    outcomes = BatchOutcomes(**{f.name: arrays[_OUTCOME + f.name] for f in fields(BatchOutcomes)})
    fleet.resume(rows, int(arrays["step"]), outcomes)
