"""Receivers of webhooks on this machine, with and without TLS, that answer as told."""

import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.x509.oid import NameOID


@dataclass(frozen=True)
class Received:
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Receiver:
    """`status` says what to answer to the request of this number, from 0."""

    url: str = ""
    received: list[Received] = field(default_factory=list)
    status: Callable[[int], int] = lambda _: 204
    arrived: threading.Condition = field(default_factory=threading.Condition)

    def wait(self, count: int, seconds: float = 20) -> list[Received]:
        with self.arrived:
            assert self.arrived.wait_for(lambda: len(self.received) >= count, seconds), (
                f"{len(self.received)} of {count} came"
            )
            return list(self.received)

    def take(self, received: Received) -> int:
        with self.arrived:
            self.received.append(received)
            self.arrived.notify_all()
            return self.status(len(self.received) - 1)


@contextmanager
def receiving(tls: ssl.SSLContext | None = None) -> Iterator[Receiver]:
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            self.send_response(receiver.take(Received(self.path, headers, body)))
            self.send_header("location", "/elsewhere")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    scheme, host = ("https", "localhost") if tls else ("http", "127.0.0.1")
    receiver.url = f"{scheme}://{host}:{server.server_port}/hook?for=me"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def certificate(folder: Path, host: str = "localhost") -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """Contexts of a server that is this host, and of a client that trusts it."""
    key, now = Ed25519PrivateKey.generate(), datetime.now(UTC)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)])
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, None)
    )
    encoding, form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    file, secret = folder / "certificate.pem", folder / "key.pem"
    file.write_bytes(made.public_bytes(encoding))
    secret.write_bytes(key.private_bytes(encoding, form, serialization.NoEncryption()))
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(file, secret)
    return server, ssl.create_default_context(cafile=str(file))
