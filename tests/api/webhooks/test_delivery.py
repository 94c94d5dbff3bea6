"""One delivery, to real sockets: good ones, slow ones, and those that answer nonsense."""

import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from joserfc.jwk import OKPKey

from api.webhooks import delivery
from api.webhooks.addresses import AddressError
from api.webhooks.delivery import DeliveryError, GoneError, Sender, headers_of, public_key
from auditor_client.errors import TrustError
from auditor_client.transport.webhooks import verify_webhook
from tests.receivers import certificate, receiving
from tests.refusals import refuses

KEY = OKPKey.generate_key("Ed25519")
BODY = b'{"number":7}'


def post(url: str, **options: object) -> None:
    sender = Sender(private=True, **options)  # type: ignore[arg-type]
    sender.post(url, BODY, headers_of("webhook_1", 7, BODY, [KEY], int(time.time())))


def test_it_arrives_as_it_was_signed() -> None:
    with receiving() as receiver:
        post(receiver.url)
        [received] = receiver.received
    assert (received.path, received.body) == ("/hook?for=me", BODY)
    assert received.headers["webhook-id"] == "webhook_1-7"
    assert received.headers["content-type"] == "application/json"
    verify_webhook(received.body, received.headers, public_key(KEY))


def test_a_webhook_that_was_touched_or_is_old_is_not_believed() -> None:
    at = int(time.time())
    headers, key = headers_of("webhook_1", 7, BODY, [KEY], at), public_key(KEY)
    verify_webhook(BODY, headers, key)
    other = public_key(OKPKey.generate_key("Ed25519"))
    bad = [
        (b'{"number":8}', headers, key),
        (BODY, headers | {"webhook-id": "webhook_2-7"}, key),
        (BODY, headers | {"webhook-timestamp": str(at - 1)}, key),
        (BODY, headers | {"webhook-timestamp": "now"}, key),
        (BODY, headers | {"webhook-signature": "v1,AAAA v1a,!"}, key),
        (BODY, {}, key),
        (BODY, headers, other),
        (BODY, headers, "whpk_AAAA"),
    ]
    for body, stated, trusted in bad:
        with pytest.raises(TrustError):
            verify_webhook(body, stated, trusted)
    with refuses(TrustError, "too-old"):
        verify_webhook(BODY, headers, key, at=at + 301)
    # Of several signatures, as while a key is changed, one is enough.
    both = {"webhook-signature": f"v1a,AAAA {headers['webhook-signature']}"}
    verify_webhook(BODY, headers | both, key)


def test_tls_is_checked_against_the_name(tmp_path: Path) -> None:
    server, client = certificate(tmp_path)
    with receiving(server) as receiver:
        post(receiver.url, tls=client)
        assert len(receiver.received) == 1
        assert receiver.received[0].headers["host"].startswith("localhost:")
        with pytest.raises(DeliveryError, match="SSLCertVerificationError"):
            post(receiver.url)  # signed by nobody that is known
        with pytest.raises(DeliveryError, match="SSLCertVerificationError"):
            post(receiver.url.replace("localhost", "127.0.0.1"), tls=client)
        assert len(receiver.received) == 1


def test_plain_and_private_hosts_are_for_tests_alone(tmp_path: Path) -> None:
    server, client = certificate(tmp_path)
    with receiving() as plain, receiving(server) as secure:
        for url in (plain.url, secure.url):
            with pytest.raises(AddressError):
                Sender(tls=client).post(url, BODY, {})
        assert plain.received == secure.received == []


@pytest.mark.parametrize("status", [301, 302, 307, 400, 401, 404, 429, 500, 503])
def test_what_is_not_taken_is_not_delivered(status: int) -> None:
    with receiving() as receiver:
        receiver.status = lambda _: status
        with pytest.raises(DeliveryError, match=str(status)):
            post(receiver.url)
        assert [received.path for received in receiver.received] == ["/hook?for=me"]


def test_gone_is_gone() -> None:
    with receiving() as receiver:
        receiver.status = lambda _: 410
        with pytest.raises(GoneError):
            post(receiver.url)


@contextmanager
def talking(talk: Callable[[socket.socket], None]) -> Iterator[str]:
    """A server that says what it likes to one caller."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            try:
                caller, _ = server.accept()
                with caller:
                    talk(caller)
            except OSError:
                pass

        thread = threading.Thread(target=serve)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}/"
        thread.join(20)


@pytest.mark.parametrize(
    "answer",
    [b"", b"\r\n", b"nonsense", b"HTTP/1.1\r\n", b"HTTP/1.1 20\r\n", b"x" * 100_000, b"\x00" * 300],
    ids=["nothing", "a line", "nonsense", "no status", "half a status", "much", "zeros"],
)
def test_an_answer_that_is_none(answer: bytes) -> None:
    def talk(caller: socket.socket) -> None:
        caller.recv(65_536)
        caller.sendall(answer)

    with talking(talk) as url, pytest.raises(DeliveryError):
        post(url)


def test_who_drips_does_not_hold_it_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delivery, "TIMEOUT", 0.6)

    def talk(caller: socket.socket) -> None:
        for byte in b"HTTP/1.1 200 OK":
            time.sleep(0.1)
            caller.sendall(bytes([byte]))

    started = time.monotonic()
    with talking(talk) as url:
        with pytest.raises(DeliveryError, match="TimeoutError"):
            post(url)
        assert time.monotonic() - started < 1.5


def test_nobody_there() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(DeliveryError, match="ConnectionRefusedError"):
        post(f"http://127.0.0.1:{port}/")


def test_a_server_without_tls_is_not_spoken_to_in_the_clear() -> None:
    with receiving() as receiver, pytest.raises(DeliveryError, match="SSL"):
        post(receiver.url.replace("http://", "https://"), tls=ssl.create_default_context())
    assert receiver.received == []
