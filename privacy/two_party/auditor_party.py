"""The auditor's side of the protocol in the service.

    auditor = AuditorParty(terms, weights, regulator_key=…, tokens=…)
    message = auditor.start()
    while message is not None:
        message = auditor.receive(send(message))     # `PlatformParty.receive` at the other end
    auditor.sums

The party holds the keys of the run, in memory only, and drops each after its last use. It sends its
weights encrypted and reads noisy sums. It never learns who was matched. With private set
intersection, it proves that it returned all candidates under one key (`dleq`).
"""

import os

import numpy as np
from numpy.typing import NDArray

from privacy.errors import BoundsError
from privacy.two_party.bfv_ring import parse_words
from privacy.two_party.dleq import prove
from privacy.two_party.domain_separation import run_of, weights_label, zero_label
from privacy.two_party.errors import SpentError
from privacy.two_party.keys import SecretKey
from privacy.two_party.message_loop import AskingParty
from privacy.two_party.message_order import NONCE, WEIGHTS_PART, list_messages
from privacy.two_party.messages import MessageKind, Setting, Slot
from privacy.two_party.private_set_intersection import (
    CHUNK,
    TOKEN,
    Blinding,
    DistinctPoints,
    Spread,
    distinct_tokens,
    map_in_threads,
)
from privacy.two_party.residues import Words, combine_residues
from privacy.two_party.sealed_boxes import seal
from privacy.two_party.sums import encode_weights
from privacy.two_party.terms import RunTerms


class AuditorParty(AskingParty):
    """Party of one run, from the first message to the sums. Every run needs a new party."""

    def __init__(
        self,
        terms: RunTerms,
        weights: NDArray[np.int64],
        *,
        regulator_key: bytes,
        tokens: bytes | None = None,
        spread: Spread = map_in_threads,
    ) -> None:
        """Set up, with fresh keys.

        `weights`: rows × groups. `tokens`: 32 bytes per row, if people are matched by PSI; a
        repeated token counts in its first row. `regulator_key`: X25519. `spread`: the `map` for
        points (default: threads).
        """
        super().__init__(Setting.SERVICE, terms.digest, list_messages(terms))
        check_weights(terms, weights)
        if len(tokens or b"") != (0 if terms.candidates is None else TOKEN * terms.rows):
            raise BoundsError(
                "tokens of 32 bytes per row must be given with candidates, and only then"
            )
        self.terms = terms
        self._weights, self._tokens = weights, distinct_tokens(tokens or b"")
        self._regulator_key = regulator_key
        self._nonce = os.urandom(NONCE)
        self._keys = [SecretKey(ring) for ring in terms.rings]
        self._blinding, self._spread = Blinding(spread), spread
        self._distinct = DistinctPoints()
        self._candidates: list[bytes] = []
        self._reblinded: list[bytes] = []
        self._committed = self._blinding.commitment
        self._found: list[int] = []

    @property
    def sums(self) -> NDArray[np.object_]:
        """Noisy sums, groups × cells: exact integers of any size."""
        if not self.ended:
            raise SpentError("the sums are not available yet: continue with `receive`")
        return np.array(self._found, object).reshape(self.terms.groups, self.terms.cells)

    def _take(self, slot: Slot, body: bytes) -> None:
        if slot.kind is MessageKind.WELCOME:
            self._chain.run = run_of(self.terms.digest, self._hello, body)
        elif slot.kind is MessageKind.CANDIDATES:
            reblinded = self._blinding.of_points(body)
            self._distinct.take(body)
            self._candidates.append(body)
            self._reblinded.append(reblinded)
        elif slot.kind is MessageKind.SUMS:
            self._found += self._decrypted(body)
            if len(self._found) == self.terms.groups * self.terms.cells:
                self._keys.clear()

    def _body(self, slot: Slot) -> bytes:
        if slot.kind is MessageKind.HELLO:
            return self._hello
        if slot.kind is MessageKind.KEY:
            return self._key_body()
        if slot.kind is MessageKind.BLINDED:
            here = slice(slot.part * CHUNK * TOKEN, (slot.part + 1) * CHUNK * TOKEN)
            return self._blinding.of_tokens(self._run, self._tokens[here])
        if slot.kind is MessageKind.REBLINDED:
            return self._reblinded[slot.part]
        if slot.kind is MessageKind.PROOF:
            return self._proof()
        if slot.kind is MessageKind.WEIGHTS:
            ciphers = range(self.terms.blocks * self.terms.groups)
            here = slice(slot.part * WEIGHTS_PART, (slot.part + 1) * WEIGHTS_PART)
            return b"".join(self._encrypted(cipher) for cipher in ciphers[here])
        return b""

    @property
    def _hello(self) -> bytes:
        """The nonce and, before any point of the platform is seen, the commitment to the key."""
        return self._nonce if self.terms.candidates is None else self._nonce + self._committed

    def _proof(self) -> bytes:
        """Prove that all candidates were returned under the committed key, and drop the key."""
        candidates, reblinded = b"".join(self._candidates), b"".join(self._reblinded)
        proof = prove(self._blinding, self._proof_context, candidates, reblinded, self._spread)
        self._blinding.drop()
        self._distinct.clear()
        self._candidates.clear()
        self._reblinded.clear()
        return proof

    def _key_body(self) -> bytes:
        """Return encryptions of zero, with which the platform hides values, and the sealed keys."""
        zeros = b"".join(
            key.zero(zero_label(self._run, number)).tobytes()
            for number, key in enumerate(self._keys)
        )
        return zeros + seal(b"".join(key.export() for key in self._keys), self._regulator_key)

    def _encrypted(self, cipher: int) -> bytes:
        """Return the weights of one group in one block, in every ring."""
        block, group = divmod(cipher, self.terms.groups)
        start = block * self.terms.block_rows
        weights = self._weights[start : start + self.terms.block_rows, group]
        return b"".join(
            key.encrypt(
                encode_weights(key.ring, weights), weights_label(self._run, number, cipher)
            ).tobytes()
            for number, key in enumerate(self._keys)
        )

    def _decrypted(self, body: bytes) -> list[int]:
        ring = self.terms.rings[0]
        shape = (-1, len(self.terms.rings), len(ring.primes) - 1, 1 + ring.degree)
        return [self._sum(words) for words in parse_words(body, shape, ring.primes[:-1])]

    def _sum(self, words: Words) -> int:
        residues = [
            key.decrypt(one, flooding.left)
            for key, flooding, one in zip(self._keys, self.terms.floodings, words, strict=True)
        ]
        return combine_residues(residues, [ring.modulus for ring in self.terms.rings])


def check_weights(terms: RunTerms, weights: NDArray[np.int64]) -> None:
    """Raise an error unless the weights are as declared, which the platform relies on but cannot
    see.
    """
    declared = terms.weights
    if weights.shape != (terms.rows, terms.groups) or weights.dtype != np.int64:
        raise BoundsError("weights must have one row of 64-bit integers for each row of the terms")
    if weights.min() < declared.low or weights.max() > declared.high:
        raise BoundsError("a weight is outside its declared bounds")
    if np.abs(weights).sum(axis=1).max() > declared.total:
        raise BoundsError("the weights of a row add up to more than declared")
