"""Checks of keys: whether they open, how old they are, and whether the issuer uses https."""

import json
from datetime import timedelta
from urllib.parse import urlsplit

from sqlmodel import select

from api.db import EntryRow, SigningKeyRow
from api.identity.key_encryption import KeyCipher, decode
from api.kernel.checks import Checks, NotApplicableError, WarnedError
from api.kernel.errors import UnavailableError
from api.operations.doctor.subject import DoctorSubject
from api.operations.doctor.switches import LOOPBACK

KEYS = Checks[DoctorSubject]()
_OLD = timedelta(days=365)
# 32 random bytes have fewer distinct values than this with a probability below 1e-15.
_DIFFERENT = 16


@KEYS.check("create a new one with `platform-auditor init`, for a new deployment")
def sealing_key_is_random(subject: DoctorSubject) -> str | None:
    key = decode(subject.settings.key_encryption_key)
    return "it is not random" if len(set(key)) < _DIFFERENT else None


@KEYS.check("restore the settings and the database of the same moment together")
def signing_keys_open(subject: DoctorSubject) -> str | None:
    seal, rows = KeyCipher(subject.settings.key_encryption_key), _rows(subject)
    if not rows:
        raise NotApplicableError("there are none yet: the service generates them when it starts")
    for row in rows:
        try:
            seal.open(row.sealed_jwk, row.kid)
        except UnavailableError:
            return f"the key for {row.purpose} does not open with key_encryption_key"
    return None


@KEYS.check("restore all tables from one back-up: receipts are verified with every key ever used")
def signing_keys_are_there(subject: DoctorSubject) -> str | None:
    with subject.store.read() as session:
        made = session.exec(select(EntryRow.text).where(EntryRow.kind == "signing-key"))
        named = {json.loads(each)["facts"]["kid"] for each in made}
    if not named:
        raise NotApplicableError(
            "the ledger names none yet: the service generates them when it starts"
        )
    missing = named - {row.kid for row in _rows(subject)}
    return f"{len(missing)} keys that the ledger names are missing" if missing else None


@KEYS.check("rotate it: POST /v1/operator/keys/rotate, as an operator", warns=True)
def signing_keys_are_young(subject: DoctorSubject) -> str | None:
    rows = [row for row in _rows(subject) if row.retired_at is None]
    if not rows:
        raise NotApplicableError("none is in use yet: the service generates them when it starts")
    for row in rows:
        age = subject.now() - row.created_at
        if age > _OLD:
            return f"the key for {row.purpose} is {age.days} days old"
    return None


@KEYS.check("serve the public address over https, and set it as issuer in a new deployment")
def issuer_is_https(subject: DoctorSubject) -> str | None:
    address = urlsplit(subject.settings.issuer)
    if address.scheme == "https":
        return None
    if address.hostname in LOOPBACK:
        raise WarnedError("the address is plain http on this machine, which suits a trial only")
    return "anybody on the network path can read tokens and uploads"


def _rows(subject: DoctorSubject) -> list[SigningKeyRow]:
    with subject.store.read() as session:
        return list(session.exec(select(SigningKeyRow)))
