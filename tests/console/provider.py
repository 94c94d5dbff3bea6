"""A small real OpenID provider on the loopback address: authorisation code, PKCE, ID tokens."""

import json
import secrets
import threading
import time
from base64 import b64decode, urlsafe_b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import OKPKey

CLIENT, SECRET = "the-console", "kept & by + both"


@dataclass
class Provider:
    """`claims` change what the next ID tokens say; a `forger` signs them in the name of the key."""

    redirect: str
    url: str = ""
    key: OKPKey = field(default_factory=lambda: OKPKey.generate_key("Ed25519", auto_kid=True))
    forger: OKPKey | None = None
    claims: dict[str, Any] = field(default_factory=dict)
    codes: dict[str, dict[str, str]] = field(default_factory=dict)

    def authorise(self, asked: dict[str, str]) -> str:
        """Return the redirect for the browser; the person consented long ago."""
        assert asked["response_type"] == "code"
        assert (asked["client_id"], asked["redirect_uri"]) == (CLIENT, self.redirect)
        assert asked["code_challenge_method"] == "S256"
        code = secrets.token_urlsafe()
        self.codes[code] = asked
        answer = {"code": code, "state": asked["state"], "iss": self.url}
        return f"{self.redirect}?{urlencode(answer)}"

    def exchange(self, form: dict[str, str], credentials: str) -> dict[str, Any] | None:
        """Tokens for a code, once; nothing for anybody who did not begin it."""
        asked = self.codes.pop(form["code"], None)
        proof = sha256(form["code_verifier"].encode()).digest()
        challenge = urlsafe_b64encode(proof).rstrip(b"=").decode()
        client = b64decode(credentials.removeprefix("Basic ")).decode()
        if asked is None or asked["code_challenge"] != challenge or client != f"{CLIENT}:{SECRET}":
            return None
        told = {
            "iss": self.url,
            "aud": CLIENT,
            "sub": "eve@institute",
            "iat": int(time.time()),
            "exp": int(time.time()) + 60,
            "nonce": asked["nonce"],
        } | self.claims
        told = {name: value for name, value in told.items() if value is not None}
        header = {"alg": "Ed25519", "kid": self.key.kid}
        token = jwt.encode(header, told, self.forger or self.key, ["Ed25519"])
        return {"access_token": "unused", "token_type": "Bearer", "id_token": token}


@contextmanager
def providing(provider: Provider) -> Iterator[None]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            address = urlsplit(self.path)
            if address.path == "/authorize":
                asked = {name: values[0] for name, values in parse_qs(address.query).items()}
                self.send_response(302)
                self.send_header("Location", provider.authorise(asked))
                self.end_headers()
            else:
                self.answer({"keys": [provider.key.as_dict(private=False)]})

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            form = {name: values[0] for name, values in parse_qs(body).items()}
            found = provider.exchange(form, self.headers["Authorization"])
            self.answer(found or {"error": "invalid_grant"}, 200 if found else 400)

        def answer(self, body: dict[str, Any], status: int = 200) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(json.dumps(body).encode())

        def log_message(self, *_: Any) -> None:
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    provider.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
