"""Keyed digests that bind a charge to the set of people it debits (R4).

HMAC-SHA256 over the audit's identifier and, group by group, the numbers of the people who are
debited. The key is derived from the operator's key-encryption key and never leaves the platform.
The digest depends on the group of each person and on who was dropped at the lifetime cap. It is
stored in the charge's row and appears nowhere else: an equal digest would confirm a guess. As many
bytes are hashed as identifiers were uploaded, whether or not they matched (R2). [RFC2104] HMAC.
[RFC5869] HKDF.
"""

import hmac
from functools import lru_cache
from struct import pack

import numpy as np
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from pydantic import SecretStr

from api.identity.key_encryption import decode
from api.kernel.settings import Settings
from privacy.tables.membership import Membership

_LABEL = b"platform-auditor/charged-people/v1"
_PERSON_BYTES = 8
# Digest of charges that are older than migration 0015. It binds to nobody.
BEFORE_0015 = b""


class UnboundPeopleError(Exception):
    """The people of an audit are not those whom its charge debits. It names nobody (R2)."""


def people_digest(audit_id: str, people: Membership, uploaded: int, settings: Settings) -> bytes:
    """Return the digest of exactly these groups of people, for this audit."""
    mac = hmac.new(_key(settings.key_encryption_key), digestmod="sha256")
    name, sizes = audit_id.encode(), [len(group) for group in people.groups]
    mac.update(pack(f">{3 + len(sizes)}Q", len(name), people.groups_per_person, len(sizes), *sizes))
    mac.update(name)
    for group in people.groups:
        mac.update(np.ascontiguousarray(group, "<i8").data)
    mac.update(bytes(_PERSON_BYTES * max(0, uploaded - sum(sizes))))
    return mac.digest()


def is_bound(
    digest: bytes | None, audit_id: str, people: Membership, uploaded: int, settings: Settings
) -> bool:
    """Return whether a charge with this digest debits exactly these people.

    A charge without a digest, or with that of the version before 0015, is bound to nobody.
    """
    expected = people_digest(audit_id, people, uploaded, settings)
    return digest is not None and hmac.compare_digest(digest, expected)


@lru_cache(maxsize=8)
def _key(secret: SecretStr) -> bytes:
    return HKDF(SHA256(), length=32, salt=None, info=_LABEL).derive(decode(secret))
