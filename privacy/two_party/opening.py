"""Opening of a transcript, which binds the auditor to the declared weights.

The platform cannot see a weight, so its guarantee holds only for weights within the terms. The
ledger has the hash of the transcript, and one message sealed the secret key to the regulator. With
the key, the regulator decrypts the auditor's messages and checks each number: the transcript's
hash, points and their proof, the sealed key, weights and rows of weights, guards, and the noise of
each ciphertext, by which values would pass through the flooding. For honest weights the findings
reveal nothing. docs/explanation/two-party.md lists the checks, under "What binds the auditor".
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
import seal
from numpy.typing import NDArray

from privacy.two_party.bfv_ring import Ring
from privacy.two_party.ciphertexts import expand_polynomials, rebuild_ciphertext
from privacy.two_party.dleq import verify
from privacy.two_party.domain_separation import run_of, weights_label, zero_label
from privacy.two_party.errors import MessageError, OpeningError, WrongProofError
from privacy.two_party.flooding import FRESH
from privacy.two_party.message_order import NONCE, list_messages
from privacy.two_party.messages import WITHOUT_PROOF, MessageKind, Setting, Transcript, read_version
from privacy.two_party.private_set_intersection import DistinctPoints, check_points
from privacy.two_party.residues import Words, centre
from privacy.two_party.sealed_boxes import unseal
from privacy.two_party.terms import RunTerms

ALTERED = "transcript-altered"
WRONG_PROOF = "wrong-proof"
FOREIGN_KEY = "key-not-of-run"
WEIGHT = "weight-out-of-bounds"
TOTAL = "total-out-of-bounds"
PADDING = "padding-not-zero"
NOISE = "noise-out-of-bounds"


@dataclass(frozen=True)
class OpeningFinding:
    """One fault that an honest auditor, or an honest platform, would not have caused."""

    code: str
    says: str


@dataclass(frozen=True)
class Opening:
    """Findings of an opening, which do not store the weights themselves."""

    findings: tuple[OpeningFinding, ...]

    @property
    def honest(self) -> bool:
        return not self.findings


def open_transcript(
    terms: RunTerms, messages: Sequence[bytes], transcript: str, secret_key: bytes
) -> Opening:
    """Open a stored run, given all its messages in order, the hash in the ledger, and the X25519
    key.
    """
    if messages and read_version(messages[0]) == WITHOUT_PROOF:
        raise OpeningError(
            "this run was made without a proof: open it with the version of the software "
            "that made it"
        )
    bodies = _Bodies(terms)
    for message in messages:
        try:
            bodies.read(message)
        except MessageError as error:
            return Opening((OpeningFinding(ALTERED, f"message {bodies.chain.number}: {error}"),))
    if bodies.chain.name != transcript:
        return Opening(
            (OpeningFinding(ALTERED, "the messages do not have the hash in the ledger"),)
        )
    return Opening((*_point_findings(bodies), *_findings(terms, bodies, secret_key)))


class _Bodies:
    """Messages of the auditor by kind, as the chain of messages accepts them."""

    def __init__(self, terms: RunTerms) -> None:
        self.terms = terms
        self.chain = Transcript(Setting.SERVICE, terms.digest)
        self.by_kind: dict[MessageKind, list[bytes]] = {kind: [] for kind in MessageKind}
        self.proof_context = b""
        self._slots = [
            slot for both in list_messages(terms) for slot in (both.message, both.answer)
        ]

    def read(self, message: bytes) -> None:
        if self.chain.number == len(self._slots):
            raise MessageError("there are more messages than a run has")
        slot = self._slots[self.chain.number]
        self.by_kind[slot.kind].append(self.chain.body(message, slot))
        if slot.kind is MessageKind.PROOF:
            self.proof_context = (self.chain.run or b"") + self.chain.hash
        self.chain.add(message)
        if slot.kind is MessageKind.WELCOME:
            [asked], [answered] = self.by_kind[MessageKind.HELLO], self.by_kind[MessageKind.WELCOME]
            self.chain.run = run_of(self.terms.digest, asked, answered)

    @property
    def run(self) -> bytes:
        if self.chain.run is None or not self.by_kind[MessageKind.KEY]:
            raise OpeningError(
                "the run ended before its key was sent, so there is nothing to open",
                case="no-key-yet",
            )
        return self.chain.run


def _point_findings(bodies: _Bodies) -> Iterator[OpeningFinding]:
    """Repeat the checks of private set intersection that an honest platform made before
    matching.
    """
    if not bodies.by_kind[MessageKind.PROOF]:
        return
    [hello], [proof] = bodies.by_kind[MessageKind.HELLO], bodies.by_kind[MessageKind.PROOF]
    candidates, returned = (
        b"".join(bodies.by_kind[kind]) for kind in (MessageKind.CANDIDATES, MessageKind.REBLINDED)
    )
    try:
        check_points(hello[NONCE:] + b"".join(bodies.by_kind[MessageKind.BLINDED]) + returned)
        for points in (b"".join(bodies.by_kind[MessageKind.BLINDED]), returned):
            DistinctPoints().take(points)
        verify(hello[NONCE:], bodies.proof_context, candidates, returned, proof)
    except (MessageError, WrongProofError) as error:
        yield OpeningFinding(WRONG_PROOF, f"the auditor returned altered candidates: {error}")


def _findings(terms: RunTerms, bodies: _Bodies, secret_key: bytes) -> Iterator[OpeningFinding]:
    run, [key_body] = bodies.run, bodies.by_kind[MessageKind.KEY]
    length = sum(ring.length for ring in terms.rings)
    try:
        readers = _readers(terms, unseal(key_body[length:], secret_key))
    except OpeningError as error:
        yield OpeningFinding(FOREIGN_KEY, str(error))
        return
    [zeros] = expand_polynomials(terms.rings, key_body[:length])
    for number, reader in enumerate(readers):
        if np.any(reader.read(zeros[number], zero_label(run, number))) or reader.noisy:
            yield OpeningFinding(
                FOREIGN_KEY, "the sealed key does not decrypt the encryption of zero"
            )
            return
    ciphers = (
        half
        for body in bodies.by_kind[MessageKind.WEIGHTS]
        for half in expand_polynomials(terms.rings, body)
    )
    totals = np.zeros(terms.block_rows, np.int64)
    for cipher, halves in enumerate(ciphers):
        where = _RowChecks(terms, *divmod(cipher, terms.groups))
        read = [
            reader.read(half, weights_label(run, number, cipher))
            for number, (reader, half) in enumerate(zip(readers, halves, strict=True))
        ]
        if any(reader.noisy for reader in readers):
            yield OpeningFinding(NOISE, f"{where} have more noise than encryption adds")
        yield from where.findings(read)
        totals = where.magnitudes(read[0]) + (totals if where.group else 0)
        if where.group == terms.groups - 1:
            yield from where.total_findings(totals)


class _RingReader:
    """Decryption in one ring, with a test whether the last ciphertext was too noisy."""

    def __init__(self, ring: Ring, numbers: bytes) -> None:
        self.ring = ring
        self.noisy = False
        try:
            self._decryptor = seal.Decryptor(ring.context, ring.secret_key(numbers))
        except (RuntimeError, ValueError) as error:
            raise OpeningError("the sealed content is not a secret key of this ring") from error

    def read(self, half: Words, label: bytes) -> NDArray[np.int64]:
        """Return all coefficients, signed."""
        ring = self.ring
        cipher = rebuild_ciphertext(ring, half, label)
        ring.evaluator.transform_from_ntt_inplace(cipher)
        self.noisy = self._decryptor.invariant_noise_budget(cipher) < self._least_budget
        return centre(ring.coefficients(self._decryptor.decrypt(cipher)), ring.modulus)

    @property
    def _least_budget(self) -> int:
        # SEAL's budget is bits(Q) − bits(t · noise) − 1: noise below FRESH has at least this much.
        whole_bits = prod(self.ring.primes).bit_length()
        return whole_bits - (self.ring.modulus * FRESH // 2).bit_length() - 1


def _readers(terms: RunTerms, secret: bytes) -> list[_RingReader]:
    readers, start = list[_RingReader](), 0
    for ring in terms.rings:
        readers.append(_RingReader(ring, secret[start : start + ring.secret_length]))
        start += ring.secret_length
    return readers


@dataclass(frozen=True)
class _RowChecks:
    """Weights of one group in one block of rows."""

    terms: RunTerms
    block: int
    group: int

    def __str__(self) -> str:
        last = min(self._first + self.terms.block_rows, self.terms.rows) - 1
        return f"the weights of group {self.group} in rows {self._first} to {last}"

    @property
    def _first(self) -> int:
        return self.block * self.terms.block_rows

    def of_rows(self, weights: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the weights of rows, with the last block padded by zeros."""
        rows = weights[: self.terms.block_rows].copy()
        rows[self.terms.rows - self._first :] = 0
        return rows

    def magnitudes(self, weights: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the magnitude of each row, capped just above the limit."""
        return np.minimum(np.abs(self.of_rows(weights)), self.terms.weights.total + 1)

    def findings(self, read: list[NDArray[np.int64]]) -> Iterator[OpeningFinding]:
        """Return the findings; `read` holds the same weights from each ring."""
        declared, weights, rows = self.terms.weights, read[0], self.of_rows(read[0])
        differ = np.any([other != weights for other in read], axis=0)[: len(rows)]
        beyond = np.flatnonzero(differ | (rows < declared.low) | (rows > declared.high))
        if len(beyond):
            first = int(beyond[0])
            yield OpeningFinding(
                WEIGHT,
                f"row {self._first + first}, group {self.group}: weight {rows[first]}"
                f"{' (another by another modulus)' if differ[first] else ''} is not within"
                f" [{declared.low}, {declared.high}]; {len(beyond) - 1} more in {self}",
            )
        if any(np.any(each[: len(rows)] != self.of_rows(each)) or each[-1] for each in read):
            yield OpeningFinding(PADDING, f"{self} are followed by numbers other than zero")

    def total_findings(self, totals: NDArray[np.int64]) -> Iterator[OpeningFinding]:
        most = self.terms.weights.total
        beyond = np.flatnonzero(totals > most)
        if len(beyond):
            row = self._first + int(beyond[0])
            more = f"{len(beyond) - 1} more rows of this block"
            yield OpeningFinding(
                TOTAL, f"row {row}: its weights add up to more than {most}; {more}"
            )
