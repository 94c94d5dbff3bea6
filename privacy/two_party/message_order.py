"""Order of messages in the service, with their kinds and lengths.

    auditor → platform                          platform → auditor
    HELLO      a nonce; with PSI also a·G        WELCOME     a nonce; both make the run
    KEY        an encryption of zero, and the   NEXT
               secret key sealed to the regulator
    BLINDED    a·H(token), own rows     (PSI)   CANDIDATES  b·H(token), shuffled and padded
    REBLINDED  a·(b·H(token))           (PSI)   NEXT
    PROOF      that a is the same       (PSI)   NEXT
    WEIGHTS    encrypted, own rows              NEXT
    ASK                                         SUMS        encrypted, with noise

The terms determine all of this: the number of messages reveals nothing.
"""

from collections.abc import Iterator

from privacy.two_party.dleq import PROOF
from privacy.two_party.message_loop import Exchange
from privacy.two_party.messages import MessageKind, Slot
from privacy.two_party.private_set_intersection import CHUNK, POINT
from privacy.two_party.sealed_boxes import OVERHEAD
from privacy.two_party.terms import RunTerms

NONCE = 32
# Ciphertexts in one message: of weights (group by group, block by block), and of sums.
WEIGHTS_PART = 16
SUMS_PART = 32


def list_messages(terms: RunTerms) -> tuple[Exchange, ...]:
    """Return all exchanges of a run, in order."""
    return (
        Exchange(
            Slot(MessageKind.HELLO, 0, _hello_length(terms)), Slot(MessageKind.WELCOME, 0, NONCE)
        ),
        Exchange(Slot(MessageKind.KEY, 0, _key_length(terms)), Slot(MessageKind.NEXT, 0, 0)),
        *_matching(terms),
        *_weights(terms),
        *_sums(terms),
    )


def part_sizes(total: int, size: int) -> list[int]:
    """Return the sizes of parts of at most `size`."""
    return [min(size, total - start) for start in range(0, total, size)]


def sum_length(terms: RunTerms) -> int:
    """Return the bytes of one encrypted sum: for each ring a number and a polynomial, switched
    down.
    """
    return sum(8 * (1 + ring.degree) * (len(ring.primes) - 1) for ring in terms.rings)


def _hello_length(terms: RunTerms) -> int:
    return NONCE if terms.candidates is None else NONCE + POINT


def _key_length(terms: RunTerms) -> int:
    return OVERHEAD + sum(ring.length + ring.secret_length for ring in terms.rings)


def _matching(terms: RunTerms) -> Iterator[Exchange]:
    if terms.candidates is None:
        return
    rows, candidates = part_sizes(terms.rows, CHUNK), part_sizes(terms.candidates, CHUNK)
    parts = max(len(rows), len(candidates))
    for part in range(parts):
        sent = rows[part] if part < len(rows) else 0
        back = candidates[part] if part < len(candidates) else 0
        yield Exchange(
            Slot(MessageKind.BLINDED, part, sent * POINT),
            Slot(MessageKind.CANDIDATES, part, back * POINT),
        )
    for part, count in enumerate(candidates):
        yield Exchange(
            Slot(MessageKind.REBLINDED, part, count * POINT), Slot(MessageKind.NEXT, part, 0)
        )
    yield Exchange(Slot(MessageKind.PROOF, 0, PROOF), Slot(MessageKind.NEXT, 0, 0))


def _weights(terms: RunTerms) -> Iterator[Exchange]:
    length = sum(ring.length for ring in terms.rings)
    for part, count in enumerate(part_sizes(terms.blocks * terms.groups, WEIGHTS_PART)):
        yield Exchange(
            Slot(MessageKind.WEIGHTS, part, count * length), Slot(MessageKind.NEXT, part, 0)
        )


def _sums(terms: RunTerms) -> Iterator[Exchange]:
    for part, count in enumerate(part_sizes(terms.groups * terms.cells, SUMS_PART)):
        yield Exchange(
            Slot(MessageKind.ASK, part, 0), Slot(MessageKind.SUMS, part, count * sum_length(terms))
        )
