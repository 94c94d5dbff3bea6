"""Auditors that bend private set intersection: rows and returned candidates of their own making.

`many_of_one` is the attack on the protocol without a proof. The auditor sends B rows r_i·a·H(X) of
one person X. It splits the candidates into blocks of B and returns, for each place k of a block,
r_(k mod B)·a·C of the first candidate of that block. If that candidate is X, then all B rows meet B
different people of the platform. So one person's presence moves B contributions, with probability
1/B.
"""

from collections.abc import Callable, Sequence
from typing import Any

import rbcl

from privacy.two_party import AuditorParty
from privacy.two_party.messages import MessageKind, Slot
from privacy.two_party.private_set_intersection import split_items

Bend = Callable[[Sequence[bytes]], Sequence[bytes]]


def straight(points: Sequence[bytes]) -> Sequence[bytes]:
    return points


class BendingAuditor(AuditorParty):
    """Sends what is made of its points; the proof is the best that its key can give."""

    bend_rows: Bend = staticmethod(straight)
    bend_candidates: Bend = staticmethod(straight)

    def _take(self, slot: Slot, body: bytes) -> None:
        super()._take(slot, body)
        if slot.kind is MessageKind.CANDIDATES:
            self._reblinded[-1] = b"".join(self.bend_candidates(split_items(self._reblinded[-1])))

    def _body(self, slot: Slot) -> bytes:
        body = super()._body(slot)
        return (
            b"".join(self.bend_rows(split_items(body)))
            if slot.kind is MessageKind.BLINDED
            else body
        )


class ManyOfOne(BendingAuditor):
    """The person of the first row stands in every row."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        rows = range(self.terms.rows)
        self.factors = [rbcl.crypto_core_ristretto255_scalar_random() for _ in rows]
        self.bend_rows = lambda points: [_times(factor, points[0]) for factor in self.factors]
        self.bend_candidates = self._blocks

    def _blocks(self, points: Sequence[bytes]) -> list[bytes]:
        size = len(self.factors)
        assert len(points) % size == 0
        return [_times(self.factors[k % size], points[k - k % size]) for k in range(len(points))]


def _times(scalar: bytes, point: bytes) -> bytes:
    return bytes(rbcl.crypto_scalarmult_ristretto255(scalar, point))
