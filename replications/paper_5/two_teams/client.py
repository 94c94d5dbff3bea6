"""The client's side in the library: P₂, who holds the values and the key, and sees no weight."""

import os

import numpy as np
from numpy.typing import NDArray

from privacy.errors import BoundsError
from privacy.two_party.bfv_ring import parse_words
from privacy.two_party.domain_separation import run_of, values_label, zero_label
from privacy.two_party.errors import SpentError
from privacy.two_party.keys import SecretKey
from privacy.two_party.message_loop import Answering
from privacy.two_party.message_order import NONCE
from privacy.two_party.messages import MessageKind, Setting, Slot
from privacy.two_party.private_set_intersection import (
    CHUNK,
    POINT,
    TOKEN,
    Blinding,
    Spread,
    map_in_threads,
    split_items,
)
from privacy.two_party.randomness import draw_permutation
from privacy.two_party.residues import Words
from replications.paper_5.two_teams.message_order import PART, ROWS_PART, script
from replications.paper_5.two_teams.results import together
from replications.paper_5.two_teams.rows import ClientRows, vector_length
from replications.paper_5.two_teams.shares import in_slots, summed
from replications.paper_5.two_teams.terms import LibraryTerms


class ClientParty(Answering):
    """Client of one run. `tokens`: 32 bytes for each person in `rows`."""

    def __init__(
        self,
        terms: LibraryTerms,
        tokens: bytes,
        rows: ClientRows,
        *,
        spread: Spread = map_in_threads,
    ) -> None:
        super().__init__(Setting.LIBRARY, terms.digest, script(terms))
        if len(tokens) != TOKEN * terms.people:
            raise BoundsError("there is not one token of 32 bytes for each of the people")
        rows.check(terms)
        self.terms = terms
        self._tokens, self._rows = tokens, rows
        self._nonce = os.urandom(NONCE)
        self._keys = [SecretKey(ring) for ring in terms.rings]
        self._blinding = Blinding(spread)
        self._members: list[bytes] = []
        self._shares = np.zeros(
            (len(terms.rings), terms.rows, len(terms.tuples), terms.columns), np.uint64
        )
        self._sums: NDArray[np.object_] | None = None

    @property
    def sums(self) -> NDArray[np.object_]:
        """Sums (tuples × cells × columns), if the client learns them."""
        if self._sums is None:
            raise SpentError("the sums are not here yet, or not for the client")
        return self._sums

    def _take(self, slot: Slot, body: bytes) -> None:
        if slot.kind is MessageKind.HELLO:
            self._chain.run = run_of(self.terms.digest, body, self._nonce)
        elif slot.kind is MessageKind.MEMBERS:
            self._members += self._doubly_blinded(body)
        elif slot.kind is MessageKind.MASKED:
            self._take_masked(slot.part, body)
        elif slot.kind is MessageKind.SHARE:
            share = np.frombuffer(body, "<u8").reshape(-1, *self.terms.shape)
            self._sums = together(self.terms, self._share(), share)

    def _body(self, slot: Slot) -> bytes:
        if slot.kind is MessageKind.WELCOME:
            return self._nonce
        if slot.kind is MessageKind.KEY:
            return b"".join(
                key.zero(zero_label(self._run, number)).tobytes()
                for number, key in enumerate(self._keys)
            )
        if slot.kind is MessageKind.SHUFFLED:
            return self._shuffled_body(slot.part)
        if slot.kind is MessageKind.CANDIDATES:
            here = slice(slot.part * CHUNK * TOKEN, (slot.part + 1) * CHUNK * TOKEN)
            return self._blinding.of_tokens(self._run, self._tokens[here])
        if slot.kind is MessageKind.ROWS:
            return self._rows.places.part(slot.part, ROWS_PART).to_bytes()
        if slot.kind is MessageKind.VALUES:
            self._blinding.drop()
            ciphers = range(self.terms.blocks * self.terms.columns)
            here = slice(slot.part * PART, (slot.part + 1) * PART)
            return b"".join(self._encrypted(cipher) for cipher in ciphers[here])
        if slot.kind is MessageKind.SHARE:
            return self._share().tobytes()
        return b""

    def _doubly_blinded(self, body: bytes) -> list[bytes]:
        """Return members blinded with both keys, and their weights as received."""
        length = POINT + vector_length(self.terms)
        rows = [body[start : start + length] for start in range(0, len(body), length)]
        points = split_items(self._blinding.of_points(b"".join(row[:POINT] for row in rows)))
        return [point + row[POINT:] for point, row in zip(points, rows, strict=True)]

    def _shuffled_body(self, part: int) -> bytes:
        if part == 0:
            self._members = [self._members[place] for place in draw_permutation(len(self._members))]
        return b"".join(self._members[part * CHUNK : (part + 1) * CHUNK])

    def _encrypted(self, cipher: int) -> bytes:
        """Return one column of values in one block, encrypted in every ring."""
        block, column = divmod(cipher, self.terms.columns)
        values = self._rows.values[self._block(block), column]
        return b"".join(
            key.encrypt(
                in_slots(key.ring, values), values_label(self._run, number, cipher)
            ).tobytes()
            for number, key in enumerate(self._keys)
        )

    def _take_masked(self, part: int, body: bytes) -> None:
        """Decrypt products with masks: this party's shares of them."""
        kept = self.terms.floodings[0].kept
        shape = (-1, len(self._keys), 2, len(kept), self.terms.rings[0].degree)
        for job, rings in enumerate(parse_words(body, shape, kept), start=part * PART):
            cipher, which = divmod(job, len(self.terms.tuples))
            block, column = divmod(cipher, self.terms.columns)
            for number, (key, parts) in enumerate(zip(self._keys, rings, strict=True)):
                rows = self._shares[number, self._block(block), which, column]
                rows[:] = key.decrypt_slots(parts)[: len(rows)]

    def _block(self, number: int) -> slice:
        return slice(number * self.terms.block_rows, (number + 1) * self.terms.block_rows)

    def _share(self) -> Words:
        self._keys.clear()
        return np.stack(
            [
                summed(self.terms, ring.modulus, self._rows.places, share)
                for ring, share in zip(self.terms.rings, self._shares, strict=True)
            ]
        )
