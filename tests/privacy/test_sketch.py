"""Sketches against the sets they are of."""

import secrets
from hashlib import sha256

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from privacy.sketch import SIZE, Sketch, keyed_hashes, similarity

KEY = bytes(range(32))


def tokens(numbers: range | list[int]) -> bytes:
    return b"".join(sha256(str(number).encode()).digest() for number in numbers)


def sketch_of(numbers: range | list[int], key: bytes = KEY, at_once: int = 1_000) -> Sketch:
    made, data = Sketch(key), tokens(numbers)
    step = 32 * at_once
    passed = b"".join(made.watch(data[start : start + step] for start in range(0, len(data), step)))
    assert passed == data
    return made


def test_a_hash_is_the_mac_of_one_token() -> None:
    token = secrets.token_bytes(32)
    # CBC from a first block of zeros ends in the CBC-MAC.
    encryptor = Cipher(algorithms.AES(KEY), modes.CBC(bytes(16))).encryptor()
    mac = (encryptor.update(token) + encryptor.finalize())[-16:]
    assert keyed_hashes(KEY, token).tolist() == [int.from_bytes(mac[:8], "little")]
    assert keyed_hashes(KEY, b"").tolist() == []


def test_a_sketch_is_the_smallest_hashes_however_they_came() -> None:
    everything = np.unique(keyed_hashes(KEY, tokens(range(5_000))))
    for at_once in (1, 7, 1_000, 10_000):
        sketch = sketch_of(range(5_000), at_once=at_once)
        assert sketch.smallest.tolist() == everything[:SIZE].tolist()
    backwards = sketch_of([*range(4_999, -1, -1), *range(100)])
    assert backwards.smallest.tolist() == everything[:SIZE].tolist()


def test_small_uploads_are_compared_exactly() -> None:
    one, other = sketch_of(range(100)), sketch_of(range(50, 150))
    found = similarity(one.smallest, other.smallest)
    assert (found.estimate, found.standard_error) == (50 / 150, 0)
    nobody = sketch_of([])
    assert similarity(nobody.smallest, nobody.smallest).estimate == 0
    assert similarity(nobody.smallest, one.smallest).estimate == 0


@pytest.mark.parametrize("common", [0, 2_000, 10_000, 19_000, 20_000])
def test_large_ones_within_a_few_standard_errors(common: int) -> None:
    one, other = sketch_of(range(20_000)), sketch_of(range(20_000 - common, 40_000 - common))
    truth = common / (40_000 - common)
    found = similarity(one.smallest, other.smallest)
    # The key is fixed: this either holds or does not, always.
    assert abs(found.estimate - truth) <= 4 * found.standard_error
    assert 0 < found.standard_error <= 0.5 / SIZE**0.5


def test_under_another_key_nothing_is_alike() -> None:
    one, other = sketch_of(range(5_000)), sketch_of(range(5_000), bytes(32))
    assert similarity(one.smallest, other.smallest).estimate == 0


def test_the_key_is_not_printed() -> None:
    assert repr(KEY) not in repr(Sketch(KEY))
