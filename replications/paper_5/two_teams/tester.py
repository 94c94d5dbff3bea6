"""The tester's side in the library: P₁, who holds the weights and makes the join.

The tester learns the following beyond the sums, so this is only for two teams of one organisation:
- the weights of everybody who matched. They come back shuffled, but a vector of six probabilities
  is nearly a name, and their number is the size of the intersection;
- the cell of each row (a rank, a threshold), and which members share a row (neighbours in a list).
  Rows come in the client's order, in which those of one query usually follow each other.
"""

import os

import numpy as np
from numpy.typing import NDArray

from privacy.errors import BoundsError
from privacy.two_party.ciphertexts import expand_polynomials, rebuild_ciphertext
from privacy.two_party.domain_separation import run_of, values_label, zero_label
from privacy.two_party.errors import SpentError
from privacy.two_party.message_loop import AskingParty
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
from privacy.two_party.residues import Words
from replications.paper_5.two_teams.message_order import PART, script
from replications.paper_5.two_teams.results import together
from replications.paper_5.two_teams.rows import Places, VectorKey, vector_length
from replications.paper_5.two_teams.shares import masked, summed
from replications.paper_5.two_teams.terms import LibraryTerms

Integers = NDArray[np.int64]


class TesterParty(AskingParty):
    """Tester of one run. `weights`: member × group; `tokens`: 32 bytes per member."""

    def __init__(
        self,
        terms: LibraryTerms,
        tokens: bytes,
        weights: Integers,
        *,
        spread: Spread = map_in_threads,
    ) -> None:
        super().__init__(Setting.LIBRARY, terms.digest, script(terms))
        if weights.shape != (terms.members, terms.groups) or len(tokens) != TOKEN * terms.members:
            raise BoundsError("there is not one token and one row of weights for each member")
        if len(set(split_items(tokens))) != terms.members:
            raise BoundsError(
                "a member is in the table twice: keep one row of each", case="member-twice"
            )
        if weights.min() < terms.weights.low or weights.max() > terms.weights.high:
            raise BoundsError("a weight is not within its declared bounds")
        self.terms = terms
        self._tokens, self._weights = tokens, weights
        self._nonce = os.urandom(NONCE)
        self._key = VectorKey()
        self._blinding = Blinding(spread)
        self._vectors_of: dict[bytes, bytes] = {}
        self._people: list[bytes] = []
        self._parts: list[Places] = []
        self._zeros: list[Words] = []
        self._ciphers: list[Words] = []
        shape = (len(terms.rings), terms.rows, len(terms.tuples), terms.columns)
        self._masks = np.zeros(shape, np.uint64)
        self._sums: NDArray[np.object_] | None = None

    @property
    def sums(self) -> NDArray[np.object_]:
        """Sums (tuples × cells × columns), if the tester learns them."""
        if self._sums is None:
            raise SpentError("the sums are not here yet, or not for the tester")
        return self._sums

    def _take(self, slot: Slot, body: bytes) -> None:
        if slot.kind is MessageKind.WELCOME:
            self._chain.run = run_of(self.terms.digest, self._nonce, body)
        elif slot.kind is MessageKind.KEY:
            self._zeros.extend(expand_polynomials(self.terms.rings, body)[0])
        elif slot.kind is MessageKind.SHUFFLED:
            length = POINT + vector_length(self.terms)
            rows = (body[start : start + length] for start in range(0, len(body), length))
            self._vectors_of.update({row[:POINT]: row[POINT:] for row in rows})
        elif slot.kind is MessageKind.CANDIDATES:
            self._people += split_items(self._blinding.of_points(body))
        elif slot.kind is MessageKind.ROWS:
            self._parts.append(Places.from_bytes(self.terms, body))
        elif slot.kind is MessageKind.VALUES:
            ciphers = expand_polynomials(self.terms.rings, body)
            if len(self._ciphers) + len(ciphers) == self.terms.blocks * self.terms.columns:
                self._join()
            self._ciphers.extend(ciphers)
        elif slot.kind is MessageKind.SHARE:
            share = np.frombuffer(body, "<u8").reshape(-1, *self.terms.shape)
            self._sums = together(self.terms, self._share(), share)

    def _body(self, slot: Slot) -> bytes:
        if slot.kind is MessageKind.HELLO:
            return self._nonce
        if slot.kind is MessageKind.MEMBERS:
            return self._members_body(slot.part)
        if slot.kind is MessageKind.MASKED:
            tuples = len(self.terms.tuples)
            jobs = range(len(self._ciphers) * tuples)[slot.part * PART : (slot.part + 1) * PART]
            return b"".join(self._masked(*divmod(job, tuples)) for job in jobs)
        if slot.kind is MessageKind.SHARE:
            return self._share().tobytes()
        return b""

    def _members_body(self, part: int) -> bytes:
        """Return blinded members with their weights, which only this party can decrypt."""
        here = slice(part * CHUNK, (part + 1) * CHUNK)
        tokens = self._tokens[here.start * TOKEN : here.stop * TOKEN]
        points = split_items(self._blinding.of_tokens(self._run, tokens))
        rows = zip(points, self._weights[here], strict=True)
        body = b"".join(point + self._key.encrypt(weights) for point, weights in rows)
        if here.stop >= self.terms.members:
            self._weights, self._tokens = np.empty((0, 0), np.int64), b""
        return body

    def _join(self) -> None:
        """Set the weights of the client's people (0 for those without a match), and drop all
        points.
        """
        where = Places.joined(self._parts)
        where.check(self.terms)
        nothing = np.zeros(self.terms.groups, np.int64)
        found = [self._vectors_of.get(point) for point in self._people]
        weights = [nothing if vector is None else self._key.decrypt(vector) for vector in found]
        self._where, self._matched = where, np.array(weights)
        self._blinding.drop()
        self._vectors_of.clear()
        self._people.clear()

    def _masked(self, cipher: int, which: int) -> bytes:
        """Return the masked products of weights for one tuple of groups and one column of values in
        one block.
        """
        block, column = divmod(cipher, self.terms.columns)
        here = slice(block * self.terms.block_rows, (block + 1) * self.terms.block_rows)
        weights = self._row_weights(here, self.terms.tuples[which])
        made = []
        for number, flooding in enumerate(self.terms.floodings):
            label = values_label(self._run, number, cipher)
            values = rebuild_ciphertext(flooding.ring, self._ciphers[cipher][number], label)
            zero = rebuild_ciphertext(
                flooding.ring, self._zeros[number], zero_label(self._run, number)
            )
            mask, parts = masked(flooding, values, zero, weights)
            self._masks[number, here, which, column] = mask[: len(weights)]
            made.append(parts.tobytes())
        return b"".join(made)

    def _row_weights(self, here: slice, groups: tuple[int, ...]) -> Integers:
        """Return the product of the weights of each row's members, in these groups."""
        members = self._where.members[here]
        weights = np.ones(len(members), np.int64)
        for place, group in enumerate(groups):
            weights *= self._matched[members[:, place], group]
        return weights

    def _share(self) -> Words:
        """Return the tester's share of every sum: −mask for each product."""
        return np.stack(
            [
                (np.uint64(ring.modulus) - summed(self.terms, ring.modulus, self._where, mask))
                % np.uint64(ring.modulus)
                for ring, mask in zip(self.terms.rings, self._masks, strict=True)
            ]
        )
