"""Messages: a fixed header, then a body whose length is known beforehand.

    magic    6   "2PARTY"
    version  u8  2
    setting  u8  1 service, 2 library: a message of one is none of the other
    sender   u8  0 the party that begins, 1 the party that answers
    kind     u8
    number   u32 0, 1, 2 … over both directions
    run      32  the digest of the terms in the first two messages, afterwards the run
    before   32  the hash of all messages before this one
    length   u32 of the body

All numbers are big-endian in the header, and little-endian in bodies, which are bare arrays.
Nothing is parsed: a body with another length than the terms determine is refused.
"""

import struct
from dataclasses import dataclass
from enum import IntEnum
from hashlib import sha256

from privacy.two_party.domain_separation import TAG
from privacy.two_party.errors import (
    ForeignError,
    MalformedError,
    OutOfOrderError,
    OversizedError,
    ReplayedError,
    TruncatedError,
    VersionError,
)

MAGIC = b"2PARTY"
VERSION = 2
# Version without the auditor's proof that it returned candidates under one key.
WITHOUT_PROOF = 1
MAX_MESSAGE = 64 * 2**20

_HEADER = struct.Struct(">6sBBBBI32s32sI")
_CHAIN = TAG + b"/chain"


class Setting(IntEnum):
    """Deployment of the two parties."""

    SERVICE = 1
    LIBRARY = 2


class MessageKind(IntEnum):
    """Kind of a message."""

    HELLO = 1
    WELCOME = 2
    KEY = 3
    NEXT = 4
    BLINDED = 5
    CANDIDATES = 6
    REBLINDED = 7
    WEIGHTS = 8
    ASK = 9
    SUMS = 10
    MEMBERS = 11
    SHUFFLED = 12
    ROWS = 13
    VALUES = 14
    MASKED = 15
    SHARE = 16
    PROOF = 17


def read_number(message: bytes) -> int | None:
    """Return the number that a message states; None if it is too short to state one."""
    return None if len(message) < _HEADER.size else int(_HEADER.unpack_from(message)[5])


def read_version(message: bytes) -> int | None:
    """Return the version that a message states, or None if it is too short to state one."""
    return None if len(message) < _HEADER.size else int(_HEADER.unpack_from(message)[1])


@dataclass(frozen=True)
class Slot:
    """Position in the order of messages: kind, part and length."""

    kind: MessageKind
    part: int
    length: int


class Transcript:
    """Chain of all messages so far, which frames the next message and checks received ones.

    hash 0 = SHA-256(tag ‖ terms), hash k+1 = SHA-256(tag ‖ hash k ‖ message k).
    """

    def __init__(self, setting: Setting, terms: bytes) -> None:
        self.setting = setting
        self.terms = terms
        self.run: bytes | None = None
        self.number = 0
        self.hash = sha256(_CHAIN + terms).digest()

    def framed(self, slot: Slot, body: bytes) -> bytes:
        """Return the next message."""
        if len(body) != slot.length:
            raise MalformedError(f"a {slot.kind.name} has {slot.length} bytes, not {len(body)}")
        header = (MAGIC, VERSION, self.setting, self.number % 2, slot.kind, self.number)
        return _HEADER.pack(*header, self._run, self.hash, len(body)) + body

    def body(self, message: bytes, slot: Slot) -> bytes:
        """Return the body of a message, if it is the next one. Nothing changes."""
        _check_version(message)
        self._check_length(message, slot)
        _, _, *where, number, run, before, length = _HEADER.unpack_from(message)
        if number < self.number:
            raise ReplayedError(f"message {number} was accepted before; {self.number} comes next")
        if number > self.number:
            raise OutOfOrderError(f"message {self.number} comes first, not {number}")
        if run != self._run or before != self.hash:
            raise ForeignError(
                "this message belongs to another run, other terms or another history"
            )
        if where != [self.setting, self.number % 2, slot.kind] or length != slot.length:
            raise MalformedError(f"a {slot.kind.name} by the other party is expected here")
        return message[_HEADER.size :]

    def add(self, message: bytes) -> None:
        """Add a sent or received message to the chain."""
        self.hash = sha256(_CHAIN + self.hash + message).digest()
        self.number += 1

    @property
    def name(self) -> str:
        return f"sha256:{self.hash.hex()}"

    @property
    def _run(self) -> bytes:
        return self.terms if self.number < 2 or self.run is None else self.run

    def _check_length(self, message: bytes, slot: Slot) -> None:
        size = _HEADER.size + slot.length
        # A message of another kind or number may have another length, so report that first.
        if _HEADER.unpack_from(message)[4:6] != (slot.kind, self.number):
            return
        if len(message) < size:
            raise TruncatedError(f"{size - len(message)} bytes are missing: send it again")
        if len(message) > size:
            raise OversizedError(f"a {slot.kind.name} has {size} bytes here, not {len(message)}")


def _check_version(message: bytes) -> None:
    """Refuse another version first: its messages may have other lengths."""
    if len(message) < _HEADER.size:
        raise TruncatedError("this ends within the header")
    if len(message) > MAX_MESSAGE:
        raise OversizedError(f"a message has at most {MAX_MESSAGE} bytes")
    magic, version = _HEADER.unpack_from(message)[:2]
    if magic != MAGIC or version != VERSION:
        error = MalformedError if magic != MAGIC else VersionError
        raise error(f"this is not a message of version {VERSION} of the two-party protocol")
