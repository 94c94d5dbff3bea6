"""Openings bind the auditor: a huge weight reveals a person's value, and an opening finds it."""

import os
from typing import Any

import numpy as np
import pytest
from nacl.signing import SigningKey

from privacy.two_party import (
    Entries,
    Opening,
    auditor_party,
    keys,
    open_transcript,
    opening_key_of,
    sealing_key_of,
)
from privacy.two_party.bfv_ring import Ring
from privacy.two_party.errors import OpeningError
from privacy.two_party.keys import SecretKey
from privacy.two_party.sealed_boxes import seal, unseal
from tests.privacy.two_party.runs import REGULATOR, World, exchanged, random_world, small
from tests.refusals import refuses

PERSONS = np.array([3, -1, 0, 3, 2, -1])


class Run:
    """A run that was stored: its messages, its hash, what the auditor got."""

    def __init__(self, world: World) -> None:
        auditor, platform = world.auditor(), world.platform()
        self.terms = world.terms
        self.messages = [m for both in exchanged(auditor, platform) for m in both]
        self.transcript = platform.transcript
        self.sums = auditor.sums

    def opened(self, secret_key: bytes = bytes(REGULATOR)) -> Opening:
        return open_transcript(self.terms, self.messages, self.transcript, secret_key)


def codes(opening: Opening) -> list[str]:
    return [finding.code for finding in opening.findings]


def world() -> World:
    return random_world(small(6), PERSONS)


@pytest.mark.parametrize("rows", [6, 9_000])
def test_of_an_honest_run_nothing_is_found(rows: int) -> None:
    honest = random_world(small(rows), np.arange(rows) % 7 - 1)
    assert Run(honest).opened() == Opening(())
    two = small(6, weights=Entries(-(2**30), 2**30, 2**31), values=Entries(0, 2**28, 2**29))
    assert Run(random_world(two, PERSONS)).opened().honest


def test_a_huge_weight_tells_one_persons_value_and_opening_names_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The attack succeeds if nobody opens: noise of scale 100,000 hides nothing times 10^12."""
    cheat = world()
    cheat.weights[4, 1] = 10**12
    cheat.noise = np.random.default_rng(5).integers(-(10**6), 10**6, (2, 2))
    monkeypatch.setattr(auditor_party, "check_weights", lambda terms, weights: None)
    run = Run(cheat)
    learnt = [round(int(number) / 10**12) for number in run.sums[1]]
    assert learnt == cheat.values[2].tolist()
    opening = run.opened()
    assert codes(opening) == ["weight-out-of-bounds", "total-out-of-bounds"]
    assert "row 4, group 1: weight 1000000000000" in opening.findings[0].says


def test_a_row_that_counts_in_every_group_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    cheat = world()
    cheat.weights[:] = 1_000
    monkeypatch.setattr(auditor_party, "check_weights", lambda terms, weights: None)
    assert codes(Run(cheat).opened()) == ["total-out-of-bounds"]


def test_a_negative_weight_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """By 1 and -1 in two groups one could tell a person from the sum of all."""
    cheat = world()
    cheat.weights[2] = [-1, 1]
    monkeypatch.setattr(auditor_party, "check_weights", lambda terms, weights: None)
    opening = Run(cheat).opened()
    assert codes(opening) == ["weight-out-of-bounds"]
    assert "row 2, group 0: weight -1 is not within [0, 1000]" in opening.findings[0].says


def test_the_total_of_a_row_is_of_magnitudes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights of both signs, each within its bounds, do not make up for one another."""
    cheat = random_world(small(6, weights=Entries(-1_000, 1_000, 1_000)), PERSONS)
    cheat.weights[3] = [-1_000, 1_000]
    monkeypatch.setattr(auditor_party, "check_weights", lambda terms, weights: None)
    assert codes(Run(cheat).opened()) == ["total-out-of-bounds"]


def test_numbers_beyond_the_rows_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for place in (6, -1):

        def odd(ring: Ring, weights: np.ndarray, place: int = place) -> Any:
            coefficients = np.pad(weights, (0, 8_192 - len(weights)))
            coefficients[place] = 1
            return ring.plaintext(coefficients)

        monkeypatch.setattr(auditor_party, "encode_weights", odd)
        assert codes(Run(world()).opened()) == ["padding-not-zero"] * 2


@pytest.mark.parametrize(
    ("where", "found"),
    [(b"/weights", ["noise-out-of-bounds"] * 2), (b"/zero", ["key-not-of-run"])],
)
def test_noise_put_into_a_ciphertext_is_named(
    monkeypatch: pytest.MonkeyPatch, where: bytes, found: list[str]
) -> None:
    """By noise of 2^100 in weights a value would shine through the flooding, and the sum be as it
    was. By such noise in the encryption of zero, the numbers that hide values would.
    """
    honest = keys.SecretKey.encrypt

    def noisy(key: SecretKey, plain: Any, label: bytes) -> np.ndarray:
        words = honest(key, plain, label)
        if where not in label:
            return words
        primes = key.ring.primes
        # A constant of 2^100 is 2^100 in every place of the evaluation form.
        moved = [(row.astype(object) + 2**100) % p for row, p in zip(words, primes, strict=True)]
        return np.array(moved, np.uint64)

    monkeypatch.setattr(keys.SecretKey, "encrypt", noisy)
    run = Run.__new__(Run)
    cheat = world()
    auditor, platform = cheat.auditor(), cheat.platform()
    run.terms, run.messages = cheat.terms, []
    message = auditor.start()
    while not platform.answered:
        answer = platform.receive(message)
        run.messages += [message, answer]
        if not platform.answered:
            message = auditor.receive(answer) or b""
    run.transcript = platform.transcript
    assert codes(run.opened()) == found


def test_weights_that_differ_between_moduli_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two small residues can be those of one huge weight."""
    honest = keys.SecretKey.encrypt
    terms = small(6, weights=Entries(0, 2**30, 2**31), values=Entries(0, 2**28, 2**29))

    def differing(key: SecretKey, plain: Any, label: bytes) -> np.ndarray:
        if b"/weights" in label and key.ring is terms.rings[1]:
            coefficients = key.ring.coefficients(plain).astype(np.int64)
            coefficients[2] += 1
            plain = key.ring.plaintext(coefficients)
        return honest(key, plain, label)

    monkeypatch.setattr(keys.SecretKey, "encrypt", differing)
    cheat = random_world(terms, PERSONS)
    cheat.values[:] = 0
    opening = Run(cheat).opened()
    assert codes(opening) == ["weight-out-of-bounds"] * 2
    assert "row 2" in opening.findings[0].says


def test_a_sealed_key_that_is_not_the_runs_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    assert codes(Run(world()).opened(os.urandom(32))) == ["key-not-of-run"]
    other = SecretKey(small().rings[0]).export()
    for secret in (other, os.urandom(len(other)), b"\xff" * len(other)):
        monkeypatch.setattr(auditor_party, "seal", lambda _, key, s=secret: seal(s, key))
        assert codes(Run(world()).opened()) == ["key-not-of-run"]


def test_a_transcript_that_is_not_the_one_in_the_ledger_is_named() -> None:
    run = Run(world())
    messages = run.messages
    altered = bytearray(messages[4])
    altered[-1] ^= 1
    for other in (
        [*messages[:4], bytes(altered), *messages[5:]],
        messages[:-2],
        [*messages[:2], *messages[4:]],
        [*messages, messages[-1]],
        [],
    ):
        run.messages = other
        assert codes(run.opened()) == ["transcript-altered"]


def test_a_run_that_broke_off_before_its_key_cannot_be_opened() -> None:
    broken = world()
    auditor, platform = broken.auditor(), broken.platform()
    message = auditor.start()
    messages = [message, platform.receive(message)]
    with refuses(OpeningError, "no-key-yet"):
        open_transcript(broken.terms, messages, platform.transcript, bytes(REGULATOR))


def test_keys_that_sign_can_be_sealed_to() -> None:
    signing = SigningKey.generate()
    box = seal(b"secret", sealing_key_of(bytes(signing.verify_key)))
    assert unseal(box, opening_key_of(bytes(signing))) == b"secret"
    with pytest.raises(OpeningError):
        unseal(box[:-1] + bytes([box[-1] ^ 1]), opening_key_of(bytes(signing)))
