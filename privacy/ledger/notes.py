"""Signed notes: checkpoints of the ledger, with their signatures and cosignatures.

A checkpoint is three lines: the origin, the size of the tree and its root. The ledger's key, named
after the origin, signs them; a witness cosigns them together with the time. A note that cannot be
read back cannot be made. Notes are stricter than the specification: each key signs a note once, and
a checkpoint has no extension lines.

[NOTE] C2SP signed-note: "Format", "Signatures", "Verifier keys".
[CHECKPOINT] C2SP tlog-checkpoint: "Note text", "Signatures".
[COSIGNATURE] C2SP tlog-cosignature: "Format", "Ed25519 signed message".
"""

import re
from base64 import b64decode, b64encode
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import IntEnum
from hashlib import sha256
from typing import Self

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from joserfc.jwk import OKPKey

from privacy.errors import NoteError

# Verifiers accept at least 16 signatures, each of nearly 5 kB.   [NOTE, "Format"]
NOTE_BYTES = 2**17
SIGNATURES = 64

_NAME = r"([^\s+\x00-\x1f]+)"
_BASE64 = r"([A-Za-z0-9+/]+={0,2})"
_KEY = re.compile(rf"{_NAME}\+([0-9a-f]{{8}})\+{_BASE64}")
_LINE = re.compile(rf"— {_NAME} {_BASE64}")
_TEXT = re.compile(r"[^\x00-\x09\x0b-\x1f]*\n")
_CHECKPOINT = re.compile(r"([^\x00-\x1f]+)\n(0|[1-9][0-9]{0,18})\n([A-Za-z0-9+/]{43}=)\n")


class SignatureType(IntEnum):
    """Type of a signature, which states the purpose of its key [NOTE, "Signature types"]."""

    ED25519 = 0x01
    COSIGNATURE_V1 = 0x04


@dataclass(frozen=True)
class VerifierKey:
    """Public key under a name, for one purpose."""

    name: str
    public: bytes
    type: SignatureType

    def __post_init__(self) -> None:
        if not re.fullmatch(_NAME, self.name):
            raise NoteError(
                "a key's name must not be empty and must not contain spaces or a plus",
                case="key-name",
            )
        if len(self.public) != 32:
            raise NoteError("a public key must have 32 bytes", case="key-size")

    @classmethod
    def of(cls, name: str, key: OKPKey, kind: SignatureType = SignatureType.ED25519) -> Self:
        if not isinstance(key.public_key, Ed25519PublicKey):
            raise NoteError("notes must be signed with Ed25519 keys", case="not-ed25519")
        return cls(name, key.public_key.public_bytes_raw(), kind)

    @classmethod
    def parse(cls, text: str) -> Self:
        name, stated, encoded = _match(_KEY, text, "this is not a verifier key", case="not-a-key")
        material = _decode(encoded)
        if material[0] not in list(SignatureType):
            raise NoteError(
                f"keys of type {material[0]:#04x} are not known here", case="unknown-key-type"
            )
        key = cls(name, material[1:], SignatureType(material[0]))
        if key.key_id.hex() != stated:
            raise NoteError(
                "the identifier of a verifier key does not match its name and public key",
                case="key-id",
            )
        return key

    def __str__(self) -> str:
        return f"{self.name}+{self.key_id.hex()}+{_encode(bytes([self.type]) + self.public)}"

    @property
    def key_id(self) -> bytes:
        # SHA-256(key name || 0x0A || signature type || public key)[:4]   [NOTE, "Signatures"]
        return sha256(_utf8(self.name) + bytes([0x0A, self.type]) + self.public).digest()[:4]

    def verify(self, text: str, signature: bytes) -> int | None:
        """Raise an error unless this key signed the text; return the time of a cosignature."""
        message, time = _utf8(text), None
        if self.type == SignatureType.COSIGNATURE_V1:
            time, signature = int.from_bytes(signature[:8], "big"), signature[8:]
            message = _witnessed(text, time)
        try:
            Ed25519PublicKey.from_public_bytes(self.public).verify(signature, message)
        except InvalidSignature as error:
            raise NoteError(
                f"the signature of {self.name} does not match this text", case="wrong-signature"
            ) from error
        return time


@dataclass(frozen=True)
class Checkpoint:
    """Checkpoint of the ledger: its size and its root [CHECKPOINT, "Note text"]."""

    origin: str
    size: int
    root: bytes

    def __post_init__(self) -> None:
        _match(
            _CHECKPOINT,
            self.text(),
            "a checkpoint must have an origin, a size and a root of 32 bytes",
            case="malformed-checkpoint",
        )
        if self.size >= 2**63:
            raise NoteError("the size of the tree is too large", case="tree-size")

    def text(self) -> str:
        return f"{self.origin}\n{self.size}\n{_encode(self.root)}\n"

    @classmethod
    def parse(cls, text: str) -> Self:
        origin, size, root = _match(
            _CHECKPOINT, text, "this is not a checkpoint", case="not-a-checkpoint"
        )
        return cls(origin, int(size), _decode(root))


@dataclass(frozen=True)
class Note:
    """Text and its signatures, by the name and the identifier of the key [NOTE, "Format"]."""

    text: str
    signatures: Mapping[tuple[str, bytes], bytes]

    def __post_init__(self) -> None:
        if not _TEXT.fullmatch(self.text):
            raise NoteError(
                "a note must consist of whole lines without control characters",
                case="control-characters",
            )
        if not 1 <= len(self.signatures) <= SIGNATURES or len(_utf8(str(self))) > NOTE_BYTES:
            raise NoteError(
                f"a note must have 1 to {SIGNATURES} signatures and at most {NOTE_BYTES} bytes",
                case="note-size",
            )

    @classmethod
    def parse(cls, text: str) -> Self:
        above, _, below = text[: NOTE_BYTES + 1].rpartition("\n\n")
        signatures = dict[tuple[str, bytes], bytes]()
        *lines, rest = below.split("\n")
        for line in lines:
            name, encoded = _match(
                _LINE, line, "a line below a note is not a signature", case="not-a-signature"
            )
            signature = _decode(encoded)
            if len(signature) <= 4 or (name, signature[:4]) in signatures:
                raise NoteError(
                    f"{name} has an empty signature, or two by one key",
                    case="empty-or-double-signature",
                )
            signatures[name, signature[:4]] = signature[4:]
        note = cls(f"{above}\n", signatures)
        if rest or str(note) != text:
            raise NoteError(
                "a note must end with its signatures, in whole lines", case="no-signature-lines"
            )
        return note

    def __str__(self) -> str:
        lines = (
            f"— {name} {_encode(key_id + it)}\n" for (name, key_id), it in self.signatures.items()
        )
        return f"{self.text}\n{''.join(lines)}"

    def adding(self, key: VerifierKey, signature: bytes) -> Self:
        """Return the note with one more signature, or with a newer one of the same key."""
        return replace(self, signatures={**self.signatures, (key.name, key.key_id): signature})

    def verify(self, keys: Iterable[VerifierKey]) -> dict[VerifierKey, int | None]:
        """Return the keys that signed, with the times of cosignatures; raise an error for a wrong
        signature.
        """
        signed = [key for key in keys if (key.name, key.key_id) in self.signatures]
        return {key: key.verify(self.text, self.signatures[key.name, key.key_id]) for key in signed}


@dataclass(frozen=True)
class Opened:
    """Checkpoint with its verified signers and witnesses."""

    checkpoint: Checkpoint
    signers: frozenset[VerifierKey]
    witnesses: Mapping[VerifierKey, int]


def sign_checkpoint(checkpoint: Checkpoint, keys: Iterable[tuple[str, OKPKey]]) -> str:
    """Return the signed note, signed by two keys if one replaces the other."""
    text = checkpoint.text()
    signatures = {
        (name, VerifierKey.of(name, key).key_id): _sign(key, _utf8(text)) for name, key in keys
    }
    return str(Note(text, signatures))


def open_checkpoint(note_text: str, keys: Collection[VerifierKey]) -> Opened:
    """Return the checkpoint, if a given key named after the origin signed it and no given key's
    signature is wrong.

    Signatures of other keys are ignored, as required [NOTE, "Signatures"].
    """
    note = Note.parse(note_text)
    checkpoint = Checkpoint.parse(note.text)
    times = note.verify(keys)
    signers = frozenset(key for key in times if key.type == SignatureType.ED25519)
    if checkpoint.origin not in {key.name for key in signers}:
        raise NoteError("no trusted key of the ledger signed the checkpoint", case="untrusted")
    return Opened(checkpoint, signers, {k: time for k, time in times.items() if time is not None})


def cosign(note_text: str, name: str, key: OKPKey, timestamp: int) -> str:
    """Return the note with a witness's line. Open the note and check its consistency first."""
    note = Note.parse(note_text)
    signature = _sign(key, _witnessed(Checkpoint.parse(note.text).text(), timestamp))
    witness = VerifierKey.of(name, key, SignatureType.COSIGNATURE_V1)
    return str(note.adding(witness, timestamp.to_bytes(8, "big") + signature))


def merge(note_text: str, cosigned: str, keys: Iterable[VerifierKey]) -> str:
    """Return the note with the given keys' signatures from another copy; raise an error if there
    are none.
    """
    note, other = Note.parse(note_text), Note.parse(cosigned)
    if note.text != other.text:
        raise NoteError("these signatures belong to another text", case="another-text")
    signed = other.verify(keys)
    if not signed:
        raise NoteError("none of the keys signed", case="unsigned")
    for key in signed:
        note = note.adding(key, other.signatures[key.name, key.key_id])
    return str(note)


def _witnessed(text: str, time: int) -> bytes:
    # "cosignature/v1", "time …" and the checkpoint   [COSIGNATURE, "Ed25519 signed message"]
    if not 0 <= time < 2**63:
        raise NoteError(
            "the time of a cosignature must be in seconds since 1970, below 2^63",
            case="time-of-a-cosignature",
        )
    return _utf8(f"cosignature/v1\ntime {time}\n{text}")


def _sign(key: OKPKey, message: bytes) -> bytes:
    if not isinstance(key.private_key, Ed25519PrivateKey):
        raise NoteError("notes must be signed with Ed25519 keys", case="not-ed25519")
    return key.private_key.sign(message)


def _match(pattern: re.Pattern[str], text: str, otherwise: str, *, case: str) -> tuple[str, ...]:
    match = pattern.fullmatch(text)
    if match is None:
        raise NoteError(otherwise, case=case)
    return match.groups()


def _utf8(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise NoteError("this text cannot be written in UTF-8", case="not-utf8") from error


def _encode(data: bytes) -> str:
    return b64encode(data).decode()


def _decode(text: str) -> bytes:
    """Decode base64 in its canonical form (RFC 4648, §4)."""
    try:
        data = b64decode(text, validate=True)
    except ValueError as error:
        raise NoteError("this is not base64", case="not-base64") from error
    if _encode(data) != text:
        raise NoteError("this is not base64 in its canonical form", case="not-canonical-base64")
    return data
