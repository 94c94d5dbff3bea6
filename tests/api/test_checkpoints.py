"""Every process signs the head of the ledger, and one of them is enough."""

import base64
import secrets
import threading
from datetime import timedelta

import pytest

from api import ledger
from api.auth.keys import SigningKeys
from api.ledger.checkpoints import Checkpointer
from api.settings import Settings
from api.store import CheckpointRow, Store

LATELY = timedelta(minutes=1)


@pytest.fixture(scope="module")
def signer(store: Store) -> Checkpointer:
    secret = base64.urlsafe_b64encode(secrets.token_bytes(32)).decode()
    settings = Settings(
        database_url=store.url, issuer="http://127.0.0.1:1", key_encryption_key=secret
    )
    keys = SigningKeys(store, settings)
    keys.current("ledger")  # the first one is written down
    return Checkpointer(store, keys, "127.0.0.1/ledger", 60.0)


def written(store: Store) -> int:
    """The size of the ledger with one more entry."""
    with store.write() as session:
        return ledger.append(session, "model", {"digest": secrets.token_hex(4)}).number + 1


def signed(found: CheckpointRow | None) -> int:
    assert found is not None
    return found.size


def test_what_another_has_just_signed_is_left_to_it(signer: Checkpointer) -> None:
    size = written(signer.store)
    assert signed(signer.once()) == size
    larger = written(signer.store)
    assert signed(signer.once(LATELY)) == size
    assert signed(signer.once()) == larger


def test_a_head_that_was_signed_long_ago_is_followed_by_another(signer: Checkpointer) -> None:
    size = written(signer.store)
    signer.once()
    with signer.store.write() as session:
        session.get_one(CheckpointRow, size).at -= 2 * LATELY
    assert signed(signer.once(LATELY)) == size
    assert written(signer.store) == signed(signer.once(LATELY)) == size + 1


def test_a_head_that_was_signed_for_a_draw_keeps_nobody(signer: Checkpointer) -> None:
    size = written(signer.store)
    signer.once()
    with signer.store.write() as session:
        session.get_one(CheckpointRow, size).lasting = True
    assert written(signer.store) == signed(signer.once(LATELY)) == size + 1


def test_told_to_stop_it_signs_whatever_was_written(signer: Checkpointer) -> None:
    signer.once()
    size, stop = written(signer.store), threading.Event()
    stop.set()
    signer.run(stop)
    with signer.store.read() as session:
        assert session.get(CheckpointRow, size) is not None
