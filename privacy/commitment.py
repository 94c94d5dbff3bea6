"""Commitment to an audience, computed by the same code on both sides of the wire.

    token      = the identifier's own 32 bytes (e-mail, phone), or SHA-256("username" ‖ 0 ‖ name)
    part       = SHA-256(its tokens in the order they were uploaded)
    group      = SHA-256(the digests of its parts, by their numbers)
    commitment = SHA-256(TAG ‖ salt ‖ for each group by label: label ‖ group), fields length-framed

The salt (at least 16 random bytes, made and kept by the auditor) hides the audience from anybody
who tests guesses against the commitment. Collision resistance of SHA-256 binds the auditor to the
uploaded members. The commitment needs only the digest of a part, so the service can drop a part's
identifiers when it has matched them. Opening a commitment also needs the split into parts.
"""

from collections.abc import Iterable, Mapping
from hashlib import sha256

TAG = b"platform-auditor/audience/v2"


def username_tokens(names: Iterable[str]) -> bytes:
    """Return the tokens of user names, joined."""
    return b"".join(sha256(b"username\x00" + name.encode()).digest() for name in names)


def part_digest(tokens: Iterable[bytes]) -> bytes:
    """Return the digest of one part from its tokens, in chunks of any size."""
    return _digest(tokens)


def group_digest(parts: Iterable[bytes]) -> bytes:
    """Return the digest of one group from those of its parts, in the order of their numbers."""
    return _digest(parts)


def commit(salt: bytes, groups: Mapping[str, bytes]) -> str:
    """Return the commitment to groups given by label and `group_digest`."""
    fields = [TAG, salt]
    for label in sorted(groups):
        fields += [label.encode(), groups[label]]
    state = sha256()
    for field in fields:
        state.update(len(field).to_bytes(8, "big") + field)
    return f"sha256:{state.hexdigest()}"


def _digest(chunks: Iterable[bytes]) -> bytes:
    state = sha256()
    for chunk in chunks:
        state.update(chunk)
    return state.digest()
