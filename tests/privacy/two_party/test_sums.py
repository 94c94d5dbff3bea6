"""Encrypted sums: exact, and their noise tells the holder of the key nothing."""

from math import prod

import numpy as np
import pytest
from numpy.typing import NDArray

from privacy.errors import BoundsError
from privacy.two_party import Entries, NoisySums, RunTerms, randomness
from privacy.two_party.bfv_ring import SUMS, Ring, RingSize, add_modulo, load_ring, parse_words
from privacy.two_party.ciphertexts import rebuild_ciphertext
from privacy.two_party.errors import CiphertextError, NoiseBudgetError
from privacy.two_party.flooding import FRESH, STATISTICAL_BITS, Flooding
from privacy.two_party.keys import SecretKey
from privacy.two_party.randomness import LARGEST_ERROR, expand_label
from privacy.two_party.residues import MODULI, Words, combine_residues
from privacy.two_party.sums import EncryptedTable, encode_weights, encrypted_table, rerandomise
from tests.privacy.two_party.runs import Array, small
from tests.refusals import refuses

RING = load_ring(SUMS, MODULI[0])


@pytest.fixture(scope="module")
def key() -> SecretKey:
    return SecretKey(RING)


def table(key: SecretKey, terms: RunTerms, weights: Array, values: Array) -> EncryptedTable:
    """As the two parties make it, of one ring."""

    def blocks(number: int):  # type: ignore[no-untyped-def]
        for start in range(0, terms.rows, terms.block_rows):
            rows = weights[start : start + terms.block_rows]
            labels = [b"%d/%d" % (start, group) for group in range(terms.groups)]
            halves = [
                key.encrypt(encode_weights(RING, column), label)
                for column, label in zip(rows.T, labels, strict=True)
            ]
            yield [
                rebuild_ciphertext(RING, half, label)
                for half, label in zip(halves, labels, strict=True)
            ]

    zero = rebuild_ciphertext(RING, key.zero(b"zero"), b"zero")
    return encrypted_table(terms, [zero], blocks, values)


def decrypted(key: SecretKey, terms: RunTerms, sums: NoisySums) -> list[int]:
    most = terms.floodings[0].left
    return [combine_residues([key.decrypt(words[0], most)], [RING.modulus]) for words in sums.words]


@pytest.mark.parametrize("rows", [1, 8_191, 8_192, 16_383])
def test_sums_are_exact_over_blocks(key: SecretKey, rows: int) -> None:
    rng = np.random.default_rng(rows)
    terms = small(rows, values=Entries(-(2**20), 2**20, 2**21))
    weights = rng.integers(0, 500, (rows, 2), endpoint=True)
    values = rng.integers(-(2**20), 2**20, (rows, 2), endpoint=True)
    noise = rng.integers(-(2**39), 2**39, (2, 2))
    sums = table(key, terms, weights, values).plus(noise)
    assert decrypted(key, terms, sums) == (weights.T @ values + noise).ravel().tolist()


@pytest.mark.parametrize(("weight", "value"), [(0, 0), (0, 50), (500, 0), (500, -50), (500, 50)])
def test_extremes_are_exact_and_nothing_raises_on_zeros(
    key: SecretKey, weight: int, value: int
) -> None:
    terms = small(100)
    weights, values = np.full((100, 2), weight), np.full((100, 2), value)
    sums = table(key, terms, weights, values).plus(np.zeros((2, 2), np.int64))
    assert decrypted(key, terms, sums) == [100 * weight * value] * 4


def test_any_noise_of_64_bits_is_taken_modulo_the_plaintext(key: SecretKey) -> None:
    extremes = np.array([[2**63 - 1, -(2**63)], [2**53, -(2**53)]])
    made = table(key, small(), np.full((5, 2), 500), np.full((5, 2), 50))
    found = decrypted(key, small(), made.plus(extremes))
    expected = [(125_000 + int(noise)) % RING.modulus for noise in extremes.ravel()]
    assert [number % RING.modulus for number in found] == expected


def test_values_beyond_their_bounds_never_enter(key: SecretKey) -> None:
    weights = np.ones((5, 2), np.int64)
    for bad in (np.full((5, 2), 51), np.full((5, 2), -51), np.zeros((4, 2), np.int64)):
        with pytest.raises(BoundsError):
            table(key, small(), weights, bad)
    with refuses(BoundsError, "above-the-declared-bounds"):
        table(key, small(values=Entries(-50, 50, 99)), weights, np.full((5, 2), 50))


def test_noise_of_another_shape_is_refused(key: SecretKey) -> None:
    made = table(key, small(), np.ones((5, 2), np.int64), np.ones((5, 2), np.int64))
    with pytest.raises(BoundsError):
        made.plus(np.zeros(4, np.int64))


def phases(key: SecretKey, half: Words, label: bytes, count: int) -> list[int]:
    """The noise of an encryption of zero: its first coefficients, by the key."""
    uniform = expand_label(label, RING.primes, RING.degree)
    pair = RING.ciphertext(np.stack([uniform, uniform]), evaluated=True)
    RING.evaluator.multiply_plain_inplace(pair, key._multiplier)
    together = add_modulo(half, RING.parts(pair)[0], RING.primes)
    both = RING.ciphertext(np.stack([together, uniform]), evaluated=True)
    rows = RING.parts(RING.evaluator.transform_from_ntt(both))[0][:, :count]
    return [combine_residues([int(x) for x in column], RING.primes) for column in rows.T]


def noise_read(key: SecretKey, made: EncryptedTable) -> int:
    """Return the noise that the key's holder reads in addition to the sum, before modulus
    switching.
    """
    half, uniform = made.sums[0].flooded(0, 0)
    return key.read(np.concatenate([half[:, :1], uniform], axis=1))[1]


def test_without_flooding_the_noise_tells_the_values_and_with_it_nothing(
    key: SecretKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The unflooded twin is caught: its noise is that of the weights times the values."""
    terms = small(40, groups=1, cells=1, values=Entries(0, 2**20, 2**20))
    nothing = np.zeros((40, 1), np.int64)
    half = key.encrypt(encode_weights(RING, nothing[:, 0]), b"0/0")
    encrypt = SecretKey(RING, key._key).encrypt
    monkeypatch.setattr(key, "encrypt", lambda *args: half if args[1] == b"0/0" else encrypt(*args))
    errors = phases(key, half, b"0/0", 40)
    assert max(map(abs, errors)) <= 22
    rng = np.random.default_rng(4)
    true, *others = (rng.integers(0, 2**20, (40, 1)) for _ in range(6))
    told, *untold = (int(np.dot(errors, values[:, 0])) for values in (true, *others))
    made = table(key, terms, nothing, true)
    # Hiding adds e·u and e₁·s, of standard deviation 340 together: below 2^12 but for 1e-30.
    with monkeypatch.context() as patch:
        patch.setattr(randomness, "uniform_within", lambda bound: 0)
        assert abs(noise_read(key, made) - told) < 2**12
        # Others are as near by chance, of a deviation of 9 million, once in 3,000 times each.
        assert max(abs(noise_read(key, made) - each) for each in untold) > 2**12
    # Flooded, it is uniform over more than ±2^80: below 2^50 by chance in one of 2^30.
    assert abs(noise_read(key, made) - told) > 2**50
    assert terms.floodings[0].bound > 2**80


def solved(made: EncryptedTable) -> list[int]:
    """c₁ = a·v + a₀·u + e₁, solved for v as if u were 1 and e₁ nothing, by one prime."""
    prime = RING.primes[0]
    _, uniform = made.sums[0].flooded(0, 0)
    pair = RING.ciphertext(np.stack([uniform, uniform]), evaluated=False)
    seen = RING.parts(RING.evaluator.transform_to_ntt(pair))[0][0]
    known, zero = (expand_label(label, RING.primes, RING.degree)[0] for label in (b"0/0", b"zero"))
    quotient = [
        (int(c) - int(z)) * pow(int(a), -1, prime) % prime
        for c, z, a in zip(seen, zero, known, strict=True)
    ]
    words = np.array([[number % other for number in quotient] for other in RING.primes], np.uint64)
    both = RING.ciphertext(np.stack([words, words]), evaluated=True)
    row = RING.parts(RING.evaluator.transform_from_ntt(both))[0][0]
    return [int(number) if number < prime // 2 else int(number) - prime for number in row]


def test_without_hiding_the_uniform_half_tells_every_value(
    key: SecretKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The vulnerable twin is caught: anybody who knows u divides c₁ and reads the values."""
    terms = small(5, groups=1, cells=1, values=Entries(0, 50, 50))
    values = np.array([[7], [0], [50], [1], [9]])
    made = table(key, terms, np.ones((5, 1), np.int64), values)
    with monkeypatch.context() as patch:
        patch.setattr(
            randomness, "uniform_ternary", lambda count: np.eye(1, count, dtype=np.int64)[0]
        )
        patch.setattr(randomness, "draw_errors", lambda count: np.zeros(count, np.int64))
        told = solved(made)
    # v(X) = Σ vᵢ X^(−i): the first value stands first, the others from the end, negative.
    assert [told[0], *(-told[-place] for place in range(1, 5))] == values[:, 0].tolist()
    assert max(map(abs, solved(made))) > 2**40  # uniform below 2^60: all 8,192 small, never


def test_the_uniform_half_has_a_fresh_error_every_time(
    key: SecretKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the same u twice, the halves differ by two small errors and by nothing else.

    Without an error c₁ + a·u is a linear system in u and the values.
    """
    made = table(key, small(), np.ones((5, 2), np.int64), np.ones((5, 2), np.int64))
    [sums] = made.sums
    ring = sums.flooding.ring
    monkeypatch.setattr(
        randomness, "uniform_ternary", lambda count: np.eye(1, count, dtype=np.int64)[0]
    )
    one, other = (rerandomise(ring, sums.ciphers[0], sums.zero)[1] for _ in range(2))
    for row, again, prime in zip(one.tolist(), other.tolist(), ring.primes, strict=True):
        apart = [(a - b + prime // 2) % prime - prime // 2 for a, b in zip(row, again, strict=True)]
        assert max(map(abs, apart)) <= 2 * LARGEST_ERROR
        # Two errors of variance 10.5 each: the mean of 8,192 squares errs by 0.33 (one deviation).
        assert 19 < np.mean(np.square(apart)) < 23


def test_the_uniform_half_is_hidden_by_a_fresh_secret_every_time(key: SecretKey) -> None:
    """Two halves of one sum are as far apart as uniform numbers, and not by errors alone."""
    made = table(key, small(), np.ones((5, 2), np.int64), np.ones((5, 2), np.int64))
    [sums] = made.sums
    ring = sums.flooding.ring
    one, other = (rerandomise(ring, sums.ciphers[0], sums.zero)[1] for _ in range(2))
    for row, again, prime in zip(one.tolist(), other.tolist(), ring.primes, strict=True):
        apart = [(a - b + prime // 2) % prime - prime // 2 for a, b in zip(row, again, strict=True)]
        # A uniform number is within a quarter of the range half of the time: 8,192 of them always
        # are with probability 2⁻⁸¹⁹².
        assert max(map(abs, apart)) > prime // 4


def test_flooding_is_as_wide_as_its_docstring_says() -> None:
    terms = small(40, groups=1, cells=1, values=Entries(0, 2**20, 2**20))
    [flooding] = terms.floodings
    # By hand: 40 rows of 2^20 and a guard, against fresh noise; hiding; rounding.
    worst = 128 * (40 * 2**20 + 1) + 128 * 8_192 + 21 * 8_192 + 1
    assert flooding.worst == worst
    assert 2 ** (40 + 13) * worst <= flooding.bound < 2 ** (42 + 13) * worst
    assert (FRESH, STATISTICAL_BITS) == (128, 40)


def test_flooded_noise_fills_its_range(key: SecretKey) -> None:
    made = table(key, small(), np.ones((5, 2), np.int64), np.ones((5, 2), np.int64))
    bound = made.sums[0].flooding.bound
    read = [noise_read(key, made) / bound for _ in range(40)]
    assert max(map(abs, read)) <= 1 + 2**-50
    # Uniform over (−1, 1): all 40 within ±.6 by chance 1e-9; the mean beyond ±.55 1e-9.
    assert max(map(abs, read)) > 0.6
    assert abs(float(np.mean(read))) < 0.55


def test_a_sum_with_more_noise_than_an_honest_platform_adds_is_refused(key: SecretKey) -> None:
    terms = small()
    made = table(key, terms, np.ones((5, 2), np.int64), np.ones((5, 2), np.int64))
    words = made.plus(np.zeros((2, 2), np.int64)).words[0][0].copy()
    words[:, 0] = [
        (int(number) + 4 * terms.floodings[0].left) % prime
        for number, prime in zip(words[:, 0], RING.primes[:-1], strict=True)
    ]
    with pytest.raises(NoiseBudgetError):
        key.decrypt(words, terms.floodings[0].left)


def test_what_is_left_decrypts_with_bits_to_spare() -> None:
    widest = small(10**6, values=Entries(-(2**27), 2**27, 2**28))
    [*floodings] = widest.floodings
    for flooding in floodings:
        assert 2 * flooding.ring.modulus * flooding.left * 2**8 < prod(flooding.ring.primes[:-1])
    with pytest.raises(BoundsError):
        Flooding(RING, 2**51).check()


def test_numbers_not_below_their_prime_are_no_ciphertext() -> None:
    words = np.array([[RING.primes[0]], [0], [0]], np.uint64)
    with pytest.raises(CiphertextError):
        parse_words(words.tobytes(), (3, 1), RING.primes)


def test_sizes_that_are_not_128_bit_secure_are_refused() -> None:
    with pytest.raises(ValueError, match=r"HomomorphicEncryption\.org"):
        _ = Ring(RingSize(4_096, (60, 60, 58, 40)), MODULI[0]).context


def _one_and_zeros(count: int) -> NDArray[np.int64]:
    found: NDArray[np.int64] = np.eye(1, count, dtype=np.int64)[0]
    return found
