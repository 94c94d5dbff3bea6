"""Signing keys: made once, rotated without breaking anything, never seen in the clear."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from pathlib import Path
from typing import get_args

import pytest
from pydantic import SecretStr
from sqlmodel import select

from api.db import SigningKeyRow, Store
from api.identity import SigningKeys
from api.identity.jwt_parsing import parse
from api.identity.signing_keys import TOKEN_LIFETIME
from api.kernel.clock import now
from api.kernel.errors import UnavailableError
from api.ledger.key_rotation import KeyEntries
from openapi.resources import KeyPurpose
from tests.api.identity.people import Person
from tests.api.identity.service import Service, rotate
from tests.refusals import refuses

PRIVATE = {"d", "p", "q", "dp", "dq", "qi", "oth", "k"}


def another_process(service: Service) -> SigningKeys:
    """The same database seen by another process: its own connections, its own memory."""
    return SigningKeys(Store(service.settings.database_url), service.settings, KeyEntries())


def rotate_elsewhere(service: Service, purpose: KeyPurpose) -> None:
    other = Store(service.settings.database_url)
    rotate(SigningKeys(other, service.settings, KeyEntries()), other, purpose)
    other.close()


def test_rotation_keeps_old_tokens_valid_and_signs_new_ones_anew(
    service: Service, ada: Person
) -> None:
    old = ada.token()
    key = rotate(service.auth.keys, service.store, "access-token")
    new = ada.token()
    assert parse(new).kid == key.kid != parse(old).kid
    assert service.get("/auditor", old).status_code == 200
    assert service.get("/auditor", new).status_code == 200
    published = {jwk["kid"] for jwk in service.get("/.well-known/jwks.json").json()["keys"]}
    assert {parse(old).kid, parse(new).kid} <= published


def test_a_retired_key_is_refused_after_the_lifetime_of_a_token(
    service: Service, ada: Person
) -> None:
    old = ada.token()
    rotate(service.auth.keys, service.store, "access-token")
    _retire(service, parse(old).kid, now() - TOKEN_LIFETIME + timedelta(seconds=1))
    assert service.get("/auditor", old).status_code == 200
    _retire(service, parse(old).kid, now() - TOKEN_LIFETIME - timedelta(seconds=60))
    answer = service.get("/auditor", old)
    assert answer.status_code == 401
    assert "not in use" in answer.json()["detail"]
    assert parse(old).kid not in _published(service)


def test_a_receipt_key_is_published_for_ever(service: Service) -> None:
    old = service.auth.keys.current("receipt")
    rotate(service.auth.keys, service.store, "receipt")
    _retire(service, old.kid, now() - timedelta(days=3650))
    assert old.kid in _published(service)
    assert service.auth.keys.verifying("receipt", str(old.kid)) is not None


def test_a_rotation_by_another_process_is_followed_at_once(service: Service, ada: Person) -> None:
    ada.token()
    other = another_process(service)
    rotate(other, service.store, "access-token")
    # This process has not seen the new key; a token of the other makes it look.
    key = other.current("access-token")
    assert service.auth.keys.verifying("access-token", str(key.kid)) is not None
    assert service.auth.keys.current("access-token").kid == key.kid


def test_unknown_kids_do_not_hammer_the_database(
    service: Service, ada: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = service.auth.keys
    ada.token()
    reads: list[tuple[SigningKeyRow, ...]] = []
    load = keys._load

    def counted() -> tuple[SigningKeyRow, ...]:
        reads.append(load())
        return reads[-1]

    monkeypatch.setattr(keys, "_load", counted)
    for number in range(50):
        assert keys.verifying("access-token", f"unknown-{number}") is None
    assert len(reads) <= 2


@pytest.mark.parametrize("purpose", get_args(KeyPurpose))
def test_processes_that_start_together_agree_on_one_key(
    service: Service, purpose: KeyPurpose
) -> None:
    processes = [another_process(service) for _ in range(8)]
    with ThreadPoolExecutor(8) as pool:
        kids = set(pool.map(lambda keys: keys.current(purpose).kid, processes))
    assert len(kids) == 1
    with service.store.read() as session:
        rows = session.exec(select(SigningKeyRow).where(SigningKeyRow.purpose == purpose)).all()
    assert len(rows) == 1


def test_rotations_that_race_leave_one_key_in_force(service: Service) -> None:
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: rotate_elsewhere(service, "receipt"), range(8)))
    with service.store.read() as session:
        rows = session.exec(select(SigningKeyRow).where(SigningKeyRow.purpose == "receipt")).all()
    assert len(rows) == 8
    assert len([row for row in rows if row.retired_at is None]) == 1


def test_the_database_holds_no_private_key(service: Service, ada: Person, tmp_path: Path) -> None:
    ada.token()
    secrets = []
    for purpose in get_args(KeyPurpose):
        key = service.auth.keys.current(purpose)
        secrets.append(str(key.as_dict(private=True)["d"]).encode())
        assert key.private_key is not None
        secrets.append(key.private_key.private_bytes_raw())
    with sqlite3.connect(tmp_path / "service.db") as connection:
        dump = "\n".join(connection.iterdump()).encode()
    connection.close()
    files = b"".join(path.read_bytes() for path in tmp_path.glob("service.db*"))
    for secret in secrets:
        assert secret not in dump
        assert secret not in files
    with service.store.read() as session:
        for row in session.exec(select(SigningKeyRow)):
            assert not PRIVATE & row.public_jwk.keys()
            assert row.sealed_jwk.count(".") == 4


def test_keys_do_not_open_under_another_operator_key(service: Service) -> None:
    service.auth.keys.current("receipt")
    other = service.settings.model_copy(update={"key_encryption_key": SecretStr("A" * 43)})
    with refuses(UnavailableError, "sealed-keys"):
        SigningKeys(service.store, other, KeyEntries()).current("receipt")


def test_a_sealed_key_does_not_open_in_the_place_of_another(service: Service) -> None:
    first = service.auth.keys.current("receipt")
    second = service.auth.keys.current("access-token")
    with service.store.write() as session:
        row = session.get_one(SigningKeyRow, first.kid)
        row.sealed_jwk = session.get_one(SigningKeyRow, second.kid).sealed_jwk
        session.add(row)
    with refuses(UnavailableError, "sealed-keys"):
        another_process(service).current("receipt")


@pytest.mark.parametrize("secret", ["", "short", "A" * 42, "A" * 44, "!" * 43, "é" * 43])
def test_a_bad_operator_key_is_refused_at_start(service: Service, secret: str) -> None:
    bad = service.settings.model_copy(update={"key_encryption_key": SecretStr(secret)})
    with pytest.raises(ValueError, match=r"key_encryption_key.*\b32\b"):
        SigningKeys(service.store, bad, KeyEntries())


def _retire(service: Service, kid: str | None, moment: datetime) -> None:
    with service.store.write() as session:
        row = session.get_one(SigningKeyRow, kid)
        row.retired_at = moment
        session.add(row)
    service.auth.keys._load()


def _published(service: Service) -> set[str]:
    return {jwk["kid"] for jwk in service.get("/.well-known/jwks.json").json()["keys"]}
