"""A load balancer of few lines: connections go to whichever backend takes them, in turn."""

import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from itertools import count


@contextmanager
def balanced(port: int, backends: list[int]) -> Iterator[None]:
    """Listens on the port for as long as the block runs."""
    with socket.create_server(("127.0.0.1", port), backlog=128) as listener:
        thread = threading.Thread(target=_accept, args=(listener, backends), daemon=True)
        thread.start()
        try:
            yield
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()


def _accept(listener: socket.socket, backends: list[int]) -> None:
    for turn in count():
        try:
            client, _ = listener.accept()
        except OSError:
            return
        threading.Thread(target=_serve, args=(client, backends, turn), daemon=True).start()


def _serve(client: socket.socket, backends: list[int], turn: int) -> None:
    with closing(client):
        for step in range(len(backends)):
            with suppress(ConnectionError):
                address = "127.0.0.1", backends[(turn + step) % len(backends)]
                with socket.create_connection(address) as backend:
                    back = threading.Thread(target=_pump, args=(backend, client), daemon=True)
                    back.start()
                    _pump(client, backend)
                    back.join()
                return


def _pump(source: socket.socket, sink: socket.socket) -> None:
    """Bytes one way, until either end is gone; then the other way ends as well."""
    with suppress(OSError):
        while data := source.recv(65_536):
            sink.sendall(data)
    for end in (source, sink):
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
