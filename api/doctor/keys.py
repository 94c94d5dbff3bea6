"""Checks of secrets: who can read them, whether they open what they should, how old they are."""

import json
import os
import stat
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

from sqlmodel import select

from api.auth.seal import Seal, decode
from api.doctor.patient import Patient
from api.errors import UnavailableError
from api.findings import Checks, SkippedError
from api.store import EntryRow, SigningKeyRow

KEYS = Checks[Patient]()
_OLD = timedelta(days=365)
_OTHERS = stat.S_IRWXG | stat.S_IRWXO
# 32 random bytes have fewer different ones than this with a probability below 1e-15.
_DIFFERENT = 16


@KEYS.check("let only the service's own account read it: chmod 600")
def settings_are_private(patient: Patient) -> str | None:
    if patient.config is None:
        raise SkippedError("the settings come from the environment")
    return _open_to_others(patient.config)


@KEYS.check("let only the service's own account read the token: chmod 600")
def adapter_token_is_private(patient: Patient) -> str | None:
    file = patient.settings.platform_options.get("token_file")
    if file is None:
        raise SkippedError("no token_file is set")
    return _open_to_others(Path(file))


@KEYS.check("make a new one by `platform-auditor init`, for a new deployment")
def sealing_key_is_random(patient: Patient) -> str | None:
    key = decode(patient.settings.key_encryption_key)
    return "it is not random" if len(set(key)) < _DIFFERENT else None


@KEYS.check("restore the settings and the database of the same moment, together")
def signing_keys_open(patient: Patient) -> str | None:
    seal, rows = Seal(patient.settings.key_encryption_key), _rows(patient)
    if not rows:
        raise SkippedError("none was made yet: the service makes them when it starts")
    for row in rows:
        try:
            seal.open(row.sealed_jwk, row.kid)
        except UnavailableError:
            return f"the key for {row.purpose} does not open with key_encryption_key"
    return None


@KEYS.check("restore all tables of one back-up: receipts are checked by every key that ever was")
def signing_keys_are_there(patient: Patient) -> str | None:
    with patient.store.read() as session:
        made = session.exec(select(EntryRow.text).where(EntryRow.kind == "signing-key"))
        named = {json.loads(each)["facts"]["kid"] for each in made}
    missing = named - {row.kid for row in _rows(patient)}
    return f"{len(missing)} that the ledger names are missing" if missing else None


@KEYS.check("rotate it: POST /v1/operator/keys/rotate, as an operator", advice=True)
def signing_keys_are_young(patient: Patient) -> str | None:
    for row in _rows(patient):
        age = patient.now() - row.created_at
        if row.retired_at is None and age > _OLD:
            return f"the key for {row.purpose} is {age.days} days old"
    return None


@KEYS.check("serve the public address by https, and set it as issuer in a new deployment")
def issuer_is_https(patient: Patient) -> str | None:
    address = urlsplit(patient.settings.issuer)
    if address.scheme == "https" or address.hostname in {"127.0.0.1", "localhost", "::1"}:
        return None
    return "whoever is between reads tokens and uploads"


def _open_to_others(path: Path) -> str | None:
    mode = path.stat().st_mode
    closed = mode & ~stat.S_IRGRP if _is_credential(path) else mode
    return f"others can read {path.name}: mode {mode & 0o777:o}" if closed & _OTHERS else None


def _is_credential(path: Path) -> bool:
    """Handed over by systemd: one account may read it by an access list, which shows as group."""
    folder = os.environ.get("CREDENTIALS_DIRECTORY")
    return folder is not None and path.resolve().is_relative_to(Path(folder).resolve())


def _rows(patient: Patient) -> list[SigningKeyRow]:
    with patient.store.read() as session:
        return list(session.exec(select(SigningKeyRow)))
