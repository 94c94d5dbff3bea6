"""A tiny HTTP server that answers as scripted and remembers what it was asked.

It stands for the network and for servers that misbehave; how the real service behaves is tested
against the real one, in tests/system.
"""

import json
import threading
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

from openapi.problems import problem
from tests.statements import ORIGIN


@dataclass(frozen=True)
class Asked:
    method: str
    path: str
    query: dict[str, str]
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True)
class Answer:
    status: int = 200
    body: bytes = b"{}"
    headers: dict[str, str] = field(default_factory=dict)


HANG_UP = Answer(status=0)
Reply = Answer | Callable[[Asked], Answer]


def answer(body: Any, status: int = 200, **headers: str) -> Answer:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer(status, json.dumps(body).encode(), {"content-type": "application/json", **named})


def refuse(
    code: str, detail: str = "no", headers: dict[str, str] | None = None, **members: Any
) -> Answer:
    made = problem(code, detail, **members)
    kind = {"content-type": "application/problem+json"}
    return Answer(made.status, made.model_dump_json().encode(), kind | (headers or {}))


class ScriptedService:
    """`on(method, path, *replies)`: replies in order, the last one again and again."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self._replies: dict[tuple[str, str], list[Reply]] = defaultdict(list)
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def on(self, method: str, path: str, *replies: Reply) -> None:
        self._replies[method, path] = list(replies)

    def requests(self, method: str, path: str) -> list[Asked]:
        return [asked for asked in self.asked if (asked.method, asked.path) == (method, path)]

    def sign_in(self, *tokens: str) -> None:
        """Metadata, the name of the ledger, and these tokens one after the other."""
        metadata = {
            "issuer": self.url,
            "token_endpoint": f"{self.url}/oauth/token",
            "jwks_uri": f"{self.url}/oauth/jwks",
        }
        self.on("GET", "/.well-known/oauth-authorization-server", answer(metadata))
        self.on("GET", "/v1/ledger/keys", answer({"origin": ORIGIN, "ledger": [], "receipts": []}))
        answers = [answer({"access_token": token, "expires_in": 600}) for token in tokens]
        self.on("POST", "/oauth/token", *answers)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _next(self, asked: Asked) -> Answer:
        with self._lock:
            self.asked.append(asked)
            replies = self._replies[asked.method, asked.path]
            reply = replies.pop(0) if len(replies) > 1 else replies[0] if replies else None
        if reply is None:
            return refuse("not-found", f"nothing scripted for {asked.method} {asked.path}")
        return reply if isinstance(reply, Answer) else reply(asked)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        service = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                parts = urlsplit(self.path)
                query = {name: values[0] for name, values in parse_qs(parts.query).items()}
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                headers = {name.lower(): value for name, value in self.headers.items()}
                self._reply(service._next(Asked(self.command, parts.path, query, headers, body)))

            do_POST = do_PUT = do_DELETE = do_GET  # noqa: N815

            def _reply(self, given: Answer) -> None:
                if given is HANG_UP:
                    self.close_connection = True
                    return
                self.send_response(given.status)
                for name, value in given.headers.items():
                    self.send_header(name, value)
                if given.status != 204:
                    self.send_header("content-length", str(len(given.body)))
                self.end_headers()
                if given.status != 204:
                    self.wfile.write(given.body)

            def log_message(self, *_: object) -> None:
                pass

        return Handler
