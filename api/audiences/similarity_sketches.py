"""Sketches of uploads under this deployment's own key; see `privacy.sketch`.

A sketch is made from the auditor's upload, part by part as it arrives, and erased with the
audience. It tells the platform nothing it did not have at the upload. The platform does not store
the identifiers; a sketch keeps the keyed hashes of at most 256 of them. A copy of the database
without the settings does not tell to whom they belong.
"""

import numpy as np
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from sqlmodel import Session, col, delete

from api.db import SketchRow
from api.identity.key_encryption import decode
from api.kernel.settings import Settings
from privacy.sketch import Hashes, Sketch

_LABEL = b"platform-auditor/audience-sketch/v1"


def new_sketch(settings: Settings) -> Sketch:
    derive = HKDF(SHA256(), length=32, salt=None, info=_LABEL)
    return Sketch(derive.derive(decode(settings.key_encryption_key)))


def store_sketch(session: Session, audience_id: str, hashes: Hashes) -> None:
    session.add(SketchRow(audience_id=audience_id, hashes=as_bytes(hashes)))


def erase_sketch(session: Session, audience_id: str) -> None:
    session.exec(delete(SketchRow).where(col(SketchRow.audience_id) == audience_id))


def as_bytes(hashes: Hashes) -> bytes:
    return hashes.astype("<u8").tobytes()


def from_bytes(data: bytes) -> Hashes:
    return np.frombuffer(data, "<u8").astype(np.uint64)
