"""The index of digests finds what is there, where it was given first, and nothing else."""

import numpy as np
import pyarrow as pa
import pytest

from platform_sim.people.digests import NOWHERE, DigestIndex

rng = np.random.default_rng(0)


def digests(*rows: bytes) -> pa.Array:
    return pa.array(rows, pa.binary(32))


@pytest.mark.parametrize("held", [1, 2, 1_000, 70_000])
def test_everything_held_is_found_and_nothing_else(held: int) -> None:
    whole = rng.bytes(64 * held)
    array = pa.Array.from_buffers(pa.binary(32), 2 * held, [None, pa.py_buffer(whole)])
    index = DigestIndex(array.slice(held))  # an array may begin anywhere in its memory
    order = rng.permutation(2 * held)
    found = index.find(array.take(pa.array(order)))
    assert found.tolist() == np.where(order < held, NOWHERE, order - held).tolist()


def test_digests_that_differ_late_are_distinguished() -> None:
    alike = [bytes(31) + bytes([last]) for last in range(200)]
    index = DigestIndex(digests(*alike))
    assert index.find(digests(*alike[::-1])).tolist() == list(range(200))[::-1]
    assert index.find(digests(bytes(31) + b"\xff")).tolist() == [NOWHERE]


def test_the_first_of_several_is_found() -> None:
    index = DigestIndex(digests(b"b" * 32, b"a" * 32, b"a" * 32))
    assert index.find(digests(b"a" * 32, b"b" * 32)).tolist() == [1, 0]


def test_nothing_held_and_nothing_wanted() -> None:
    assert DigestIndex(digests()).find(digests(b"a" * 32)).tolist() == [NOWHERE]
    assert DigestIndex(digests(b"a" * 32)).find(digests()).tolist() == []
