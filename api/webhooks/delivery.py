"""Delivery of one entry: a signed POST, of whose answer only the status is read.

[SW] Standard Webhooks 1.0.0: headers, `v1a` (Ed25519) over `{id}.{timestamp}.{body}`; success is a
2xx, redirects are not followed, 410 means never again. The key is the one that signs receipts. A
receipt's signing input begins with base64url of `{"`, a webhook's with `webhook_`. So neither can
be used as the other.
"""

import base64
import socket
import ssl
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from joserfc.jwk import OKPKey

from api.webhooks.addresses import Target, parse, resolve

TIMEOUT = 10.0
# Maximum bytes of an answer that are read: enough for its status line.
ANSWER_BYTES = 256


class DeliveryError(Exception):
    """The receiver did not accept the delivery."""


class GoneError(DeliveryError):
    """The receiver wants no further deliveries  [SW, Delivery success and failure]."""


@dataclass(frozen=True)
class Sender:
    """Sender of deliveries; `private` permits this machine and plain http, for tests only."""

    private: bool = False
    tls: ssl.SSLContext = field(default_factory=ssl.create_default_context)

    def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> None:
        """Deliver, or raise; all steps together must end within the time-out."""
        until = time.monotonic() + TIMEOUT
        target = parse(url, private=self.private)
        address = resolve(target, private=self.private)
        try:
            with self._connected(target, address, until) as connection:
                connection.sendall(_request(target, body, headers))
                status = _status(connection, until)
        except (OSError, ValueError) as error:  # ssl.SSLError is an OSError
            raise DeliveryError(f"{type(error).__name__}") from error
        if status == b"410":
            raise GoneError("410")
        if not status.startswith(b"2"):
            raise DeliveryError(status.decode("ascii", "replace"))

    def _connected(self, target: Target, address: str, until: float) -> socket.socket:
        plain = socket.create_connection((address, target.port), _left(until))
        if not target.tls:
            return plain
        try:
            plain.settimeout(_left(until))
            return self.tls.wrap_socket(plain, server_hostname=target.host)
        except BaseException:
            plain.close()
            raise


def headers_of(
    webhook_id: str, number: int, body: bytes, keys: Iterable[OKPKey], at: int
) -> dict[str, str]:
    """Return the headers of one attempt; the id is the same for all attempts.

    Each of the keys signs, so that receivers can follow a rotation  [SW, Signature scheme].
    """
    message = f"{webhook_id}-{number}"
    signed = f"{message}.{at}.".encode() + body
    signatures = (base64.b64encode(_private(key).sign(signed)).decode() for key in keys)
    return {
        "webhook-id": message,
        "webhook-timestamp": str(at),
        "webhook-signature": " ".join(f"v1a,{each}" for each in signatures),
    }


def public_key(key: OKPKey) -> str:
    """Return the public key in the form of [SW]."""
    raw = _private(key).public_key().public_bytes_raw()
    return f"whpk_{base64.b64encode(raw).decode()}"


def _private(key: OKPKey) -> Ed25519PrivateKey:
    private = key.private_key
    if not isinstance(private, Ed25519PrivateKey):
        raise TypeError("Webhooks are signed with an Ed25519 key.")
    return private


def _request(target: Target, body: bytes, headers: Mapping[str, str]) -> bytes:
    lines = [
        f"POST {target.path} HTTP/1.1",
        f"Host: {target.authority}",
        "User-Agent: platform-auditor",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
        "Connection: close",
        *(f"{name}: {value}" for name, value in headers.items()),
    ]
    return "\r\n".join(lines).encode("ascii") + b"\r\n\r\n" + body


def _status(connection: socket.socket, until: float) -> bytes:
    """Return the three digits of `HTTP/1.1 204 No Content`."""
    answer = b""
    while b"\r\n" not in answer and len(answer) < ANSWER_BYTES:
        connection.settimeout(_left(until))
        received = connection.recv(ANSWER_BYTES - len(answer))
        if not received:
            break
        answer += received
    words = answer.split(b"\r\n", 1)[0].split(b" ")
    if len(words) < 2 or not words[0].startswith(b"HTTP/1.") or len(words[1]) != 3:
        raise ValueError("The answer has no valid status line.")
    return words[1]


def _left(until: float) -> float:
    left = until - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left
