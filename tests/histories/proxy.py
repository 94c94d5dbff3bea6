"""A load balancer that loses answers: the service has committed, and the client is not told."""

import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from itertools import count
from typing import NamedTuple

Port = int


class Cut(NamedTuple):
    """Answers to lose: to requests that begin like this; with `half`, after their first half."""

    request: bytes
    half: bool


class Proxy:
    """Passes connections on to whichever server takes them, in turn."""

    def __init__(self, listener: socket.socket, servers: list[Port]) -> None:
        self._listener, self._servers = listener, servers
        self._lock = threading.Lock()
        self._cuts: list[Cut] = []
        self.cut = 0  # answers
        self.refused = 0  # connections that no server took

    def lose(self, *cuts: Cut) -> None:
        """Lose the next answer to such a request, once for each."""
        with self._lock:
            self._cuts = list(cuts)

    def accept(self) -> None:
        for turn in count():
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client, turn), daemon=True).start()

    def _serve(self, client: socket.socket, turn: int) -> None:
        with closing(client):
            for step in range(len(self._servers)):
                with suppress(ConnectionError):
                    address = "127.0.0.1", self._servers[(turn + step) % len(self._servers)]
                    with socket.create_connection(address) as server:
                        _Exchange(self, client, server).run()
                    return
            with self._lock:
                self.refused += 1

    def take_cut(self, request: bytes) -> Cut | None:
        """Return the cut that is meant for the answer to this request, which is then used up."""
        with self._lock:
            for cut in self._cuts:
                if request.startswith(cut.request):
                    self._cuts.remove(cut)
                    self.cut += 1
                    return cut
        return None


class _Exchange:
    """One connection: requests one way, answers the other way."""

    def __init__(self, proxy: Proxy, client: socket.socket, server: socket.socket) -> None:
        self._proxy, self._client, self._server = proxy, client, server
        self._request = b""

    def run(self) -> None:
        back = threading.Thread(target=self._answers, daemon=True)
        back.start()
        with suppress(OSError):
            while data := self._client.recv(65_536):
                if data[:5] in (b"POST ", b"GET /", b"DELET", b"PUT /"):
                    self._request = data[:200]
                self._server.sendall(data)
        self._close()
        back.join()

    def _answers(self) -> None:
        with suppress(OSError):
            while data := self._server.recv(65_536):
                cut = self._proxy.take_cut(self._request)
                if cut is not None:
                    self._client.sendall(data[: len(data) // 2] if cut.half else b"")
                    break
                self._client.sendall(data)
        self._close()

    def _close(self) -> None:
        for end in (self._client, self._server):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


@contextmanager
def proxied(port: Port, servers: list[Port]) -> Iterator[Proxy]:
    """Listen on the port for as long as the block runs."""
    with socket.create_server(("127.0.0.1", port), backlog=128) as listener:
        proxy = Proxy(listener, servers)
        thread = threading.Thread(target=proxy.accept, daemon=True)
        thread.start()
        try:
            yield proxy
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()
