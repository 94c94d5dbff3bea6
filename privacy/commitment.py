"""The commitment to an audience: the same few lines on both sides of the wire.

    token      = the identifier's own 32 bytes (e-mail, phone), or SHA-256("username" ‖ 0 ‖ name)
    group      = SHA-256(its tokens in the order they were uploaded)
    commitment = SHA-256(TAG ‖ salt ‖ for each group by label: label ‖ group), fields length-framed

The salt (at least 16 random bytes, made and kept by the auditor) hides the audience from anyone who
would test guesses against the commitment; collision resistance of SHA-256 binds the auditor to
what was uploaded. How the upload was cut into parts makes no difference.
"""

from collections.abc import Iterable, Mapping
from hashlib import sha256

TAG = b"platform-auditor/audience/v1"


def username_tokens(names: Iterable[str]) -> bytes:
    """The tokens of user names, joined."""
    return b"".join(sha256(b"username\x00" + name.encode()).digest() for name in names)


def group_digest(tokens: Iterable[bytes]) -> bytes:
    """Digest of one group from its tokens, in chunks of any size."""
    state = sha256()
    for chunk in tokens:
        state.update(chunk)
    return state.digest()


def commit(salt: bytes, groups: Mapping[str, bytes]) -> str:
    """The commitment to groups given by label and `group_digest`."""
    fields = [TAG, salt]
    for label in sorted(groups):
        fields += [label.encode(), groups[label]]
    state = sha256()
    for field in fields:
        state.update(len(field).to_bytes(8, "big") + field)
    return f"sha256:{state.hexdigest()}"
