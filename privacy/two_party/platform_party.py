"""The platform's side of the protocol in the service.

    platform = PlatformParty(terms, join, values, release)
    answer = platform.receive(message)               # until `platform.ended`

The party matches rows to people, after PROOF, and multiplies the auditor's encrypted weights by its
own values, which are 0 for rows without a match. A wrong proof raises `WrongProofError` and ends
the party: the caller keeps the charge and records this in the ledger.

`values` (of people) and `release` (adds the noise) are called once, at the first ASK. So charge
before you pass that message to the party (see `wants_values`), and commit `final` with the release
before you send the answer. The party itself draws no noise, and never gives two answers.
"""

import os
from collections.abc import Callable, Iterator

import numpy as np
import seal
from numpy.typing import NDArray

from privacy.errors import BoundsError
from privacy.two_party.ciphertexts import expand_polynomials, rebuild_ciphertext
from privacy.two_party.dleq import verify
from privacy.two_party.domain_separation import run_of, weights_label, zero_label
from privacy.two_party.errors import SpentError, WrongProofError
from privacy.two_party.joins import CandidatePeople, Persons, Uploaded, keep_first_rows
from privacy.two_party.message_loop import Answering
from privacy.two_party.message_order import NONCE, SUMS_PART, list_messages, sum_length
from privacy.two_party.messages import MessageKind, Setting, Slot
from privacy.two_party.private_set_intersection import (
    CHUNK,
    TOKEN,
    Blinding,
    DistinctPoints,
    Spread,
    check_points,
    map_in_threads,
)
from privacy.two_party.residues import Words
from privacy.two_party.sums import Block, EncryptedTable, NoisySums, encrypted_table
from privacy.two_party.terms import RunTerms

Values = Callable[[Persons], NDArray[np.int64]]
Release = Callable[[EncryptedTable], NoisySums]


class PlatformParty(Answering):
    """Party of one run, from the first message to the only answer."""

    def __init__(
        self,
        terms: RunTerms,
        join: Uploaded | CandidatePeople,
        values: Values,
        release: Release,
        *,
        spread: Spread = map_in_threads,
    ) -> None:
        """Set up.

        `values`: the values of these people (person × cell); values beyond the terms are clipped.
        `release`: adds noise to a table with its `plus`; this is the waist's task, not the party's.
        """
        super().__init__(Setting.SERVICE, terms.digest, list_messages(terms))
        self.terms = terms
        self._values, self._release = values, release
        self._join = _checked(terms, join)
        self._nonce = os.urandom(NONCE)
        self._blinding, self._spread = Blinding(spread), spread
        self._committed = b""
        self._candidates: list[bytes] = []
        self._rows: list[bytes] = []
        self._reblinded: list[bytes] = []
        self._distinct_rows, self._distinct_returned = DistinctPoints(), DistinctPoints()
        self._zeros: list[Words] = []
        self._weights: list[Words] = []
        self._spent = False
        # Whether a proof failed: then the run has ended, whatever comes next.
        self.refuted = False
        self._sums: bytes | None = None

    @property
    def wants_values(self) -> bool:
        """Whether the next message makes the party read values and release."""
        return not self.ended and self._exchange.message.kind is MessageKind.ASK and not self._spent

    @property
    def answered(self) -> bool:
        """Whether the noisy sums exist: after that, the party only sends them."""
        return self._sums is not None

    @property
    def final(self) -> dict[bytes, bytes]:
        """After the answer: every message that can still come, and its answer.

        Stored with the release, it serves the answer after the end of this process.
        """
        return dict(self._given) if self.answered else {}

    def _take(self, slot: Slot, body: bytes) -> None:
        if self._spent:
            raise SpentError("this run failed during its answer, and accepts no more messages")
        if slot.kind is MessageKind.HELLO:
            check_points(body[NONCE:])
            self._committed = body[NONCE:]
            self._chain.run = run_of(self.terms.digest, body, self._nonce)
        elif slot.kind is MessageKind.KEY:
            length = sum(ring.length for ring in self.terms.rings)
            self._zeros.extend(expand_polynomials(self.terms.rings, body[:length])[0])
        elif slot.kind is MessageKind.BLINDED:
            rows = self._blinding.of_points(body)
            self._distinct_rows.take(rows)
            self._rows.append(rows)
        elif slot.kind is MessageKind.REBLINDED:
            check_points(body, self._spread)
            self._distinct_returned.take(body)
            self._blinding.drop()
            self._reblinded.append(body)
        elif slot.kind is MessageKind.PROOF:
            self._check_proof(body)
        elif slot.kind is MessageKind.WEIGHTS:
            self._weights.extend(expand_polynomials(self.terms.rings, body))
        elif slot.kind is MessageKind.ASK:
            self._settle()

    def _body(self, slot: Slot) -> bytes:
        if slot.kind is MessageKind.WELCOME:
            return self._nonce
        if slot.kind is MessageKind.CANDIDATES:
            here = slice(slot.part * CHUNK * TOKEN, (slot.part + 1) * CHUNK * TOKEN)
            tokens = self._join.tokens if isinstance(self._join, CandidatePeople) else b""
            self._candidates.append(self._blinding.of_tokens(self._run, tokens[here]))
            return self._candidates[-1]
        if slot.kind is MessageKind.SUMS and self._sums is not None:
            start = slot.part * SUMS_PART * sum_length(self.terms)
            return self._sums[start : start + slot.length]
        return b""

    def _foreseen(self, slot: Slot) -> bool:
        return slot.kind is MessageKind.ASK and slot.part > 0

    def _check_proof(self, proof: bytes) -> None:
        """Continue if every candidate was returned under the committed key; otherwise end the
        run.
        """
        candidates, reblinded = b"".join(self._candidates), b"".join(self._reblinded)
        self._spent = True
        try:
            verify(self._committed, self._proof_context, candidates, reblinded, proof, self._spread)
        except WrongProofError:
            self.refuted = True
            raise
        self._spent = False
        self._distinct_rows.clear()
        self._distinct_returned.clear()
        self._candidates.clear()

    def _settle(self) -> None:
        """Read the values, multiply, and add noise, at most once."""
        self._spent = True
        persons = self._matched()
        values = np.zeros((self.terms.rows, self.terms.cells), np.int64)
        values[persons >= 0] = self.terms.values.clip(self._values(persons[persons >= 0]))
        zeros = [self._zero(number) for number in range(len(self.terms.rings))]
        table = encrypted_table(self.terms, zeros, self._blocks, values)
        self._sums = self._release(table).words.tobytes()
        self._weights.clear()

    def _matched(self) -> Persons:
        """Return the person of each row; nobody twice."""
        if isinstance(self._join, Uploaded):
            return keep_first_rows(self._join.persons)
        points, rows = b"".join(self._reblinded), b"".join(self._rows)
        return keep_first_rows(self._join.found(points, rows))

    def _zero(self, number: int) -> seal.Ciphertext:
        label = zero_label(self._run, number)
        return rebuild_ciphertext(self.terms.rings[number], self._zeros[number], label)

    def _blocks(self, number: int) -> Iterator[Block]:
        """Yield the weights of every group, block by block, in one ring."""
        ring, groups = self.terms.rings[number], self.terms.groups
        for start in range(0, len(self._weights), groups):
            yield [
                rebuild_ciphertext(
                    ring, self._weights[cipher][number], weights_label(self._run, number, cipher)
                )
                for cipher in range(start, start + groups)
            ]


def _checked(terms: RunTerms, join: Uploaded | CandidatePeople) -> Uploaded | CandidatePeople:
    """Return the join of the terms, with candidates shuffled and padded."""
    if isinstance(join, CandidatePeople) and terms.candidates is not None:
        return join.shuffled(terms.candidates)
    if isinstance(join, Uploaded) and terms.candidates is None and len(join.persons) == terms.rows:
        return join
    raise BoundsError("the join does not match the terms: one person per row, or candidates")
