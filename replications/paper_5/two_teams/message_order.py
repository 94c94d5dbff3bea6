"""The order of messages in the library; each step is one of the paper's, in its order.

    tester → client                            client → tester
    HELLO    a nonce                           WELCOME     a nonce; the random oracle is the run's
    ASK                                        KEY         encryptions of zero, to hide with
    MEMBERS  a·H(id), symmetric encryption     NEXT                          Encrypt P₁ data
             of the weights
    ASK                                        SHUFFLED    b·a·H(id), the    Doubly encrypt P₁ data
                                                           same, shuffled
    ASK                                        CANDIDATES  b·H(id)           Encrypt P₂ data
    ASK                                        ROWS        members, cells    (structure)
    ASK                                        VALUES      encrypted         Encrypt P₂ data
    MASKED   encrypted products with masks     NEXT                          Test computation
    SHARE or ASK                               NEXT or SHARE                 The output

[OHB26] arXiv:2606.27558 v1, §6.2.
"""

from collections.abc import Iterator

from privacy.two_party.message_loop import Exchange
from privacy.two_party.message_order import NONCE, part_sizes
from privacy.two_party.messages import MessageKind, Slot
from privacy.two_party.private_set_intersection import CHUNK, POINT
from replications.paper_5.two_teams.rows import vector_length
from replications.paper_5.two_teams.terms import LibraryTerms

# Ciphertexts in one message.
PART = 16
ROWS_PART = 262_144


def script(terms: LibraryTerms) -> tuple[Exchange, ...]:
    """All exchanges of a run, in order."""
    fresh = sum(ring.length for ring in terms.rings)
    reduced = sum(2 * 8 * f.ring.degree * len(f.kept) for f in terms.floodings)
    vector = POINT + vector_length(terms)
    share = Slot(MessageKind.SHARE, 0, terms.share_length)
    ciphers = terms.blocks * terms.columns
    return (
        Exchange(Slot(MessageKind.HELLO, 0, NONCE), Slot(MessageKind.WELCOME, 0, NONCE)),
        Exchange(Slot(MessageKind.ASK, 0, 0), Slot(MessageKind.KEY, 0, fresh)),
        *_told(MessageKind.MEMBERS, terms.members, CHUNK, vector),
        *_asked(MessageKind.SHUFFLED, terms.members, CHUNK, vector),
        *_asked(MessageKind.CANDIDATES, terms.people, CHUNK, POINT),
        *_asked(MessageKind.ROWS, terms.rows, ROWS_PART, 4 * (terms.arity + 1)),
        *_asked(MessageKind.VALUES, ciphers, PART, fresh),
        *_told(MessageKind.MASKED, ciphers * len(terms.tuples), PART, reduced),
        Exchange(share, Slot(MessageKind.NEXT, 0, 0))
        if terms.learner == "client"
        else Exchange(Slot(MessageKind.ASK, 0, 0), share),
    )


def _told(kind: MessageKind, total: int, size: int, length: int) -> Iterator[Exchange]:
    for part, count in enumerate(part_sizes(total, size)):
        yield Exchange(Slot(kind, part, count * length), Slot(MessageKind.NEXT, part, 0))


def _asked(kind: MessageKind, total: int, size: int, length: int) -> Iterator[Exchange]:
    for part, count in enumerate(part_sizes(total, size)):
        yield Exchange(Slot(MessageKind.ASK, part, 0), Slot(kind, part, count * length))
