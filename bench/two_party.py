"""Two-party audits: encrypted sums compared with python-paillier, and a private join over HTTP.

`python -m bench.two_party --table5` runs paper 5's Table 5 (`replications.paper_5.table_5`).
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from nacl.public import PrivateKey
from rich.console import Console

from bench.harness import Figure, compare, publish
from privacy.two_party import (
    AuditorParty,
    CandidatePeople,
    Entries,
    PlatformParty,
    RunTerms,
    Uploaded,
    auditor_party,
    platform_party,
    weights_of,
)
from privacy.two_party.dleq import PROOF
from privacy.two_party.message_order import list_messages
from replications.paper_5 import table_5
from replications.paper_5.lot_world import SEED

COMMAND = "python -m bench two-party"
GROUPS, CELLS = 6, 2
SECONDS = 90
PAILLIER = Path(__file__).with_name("paillier.py")


def run(size: int = 100_000) -> list[Figure]:
    return [*_beside_paillier(), _joined_over_http(size), _beside_no_proof(size)]


def _terms(size: int, candidates: int | None) -> RunTerms:
    """Return terms for six probabilities of a person and two cells: the outcome, and 1."""
    weights, values = Entries(0, 1_000, 1_000), Entries(0, 1, 2)
    return RunTerms("bench", size, GROUPS, CELLS, weights, values, 2**30, candidates=candidates)


def _weights(size: int) -> Any:
    probabilities = np.random.default_rng(1).dirichlet(np.ones(GROUPS), size)
    return weights_of(probabilities, 1_000)


def _values(persons: Any) -> Any:
    return np.column_stack([persons % 2, np.ones_like(persons)])


def _tokens(start: int, size: int) -> bytes:
    return b"".join(number.to_bytes(32, "big") for number in range(start, start + size))


def _platform(size: int) -> PlatformParty:
    """Return a platform party; half of its people are in the audience."""
    join = CandidatePeople(_tokens(size // 2, size), np.arange(size))
    nothing = np.zeros((GROUPS, CELLS), np.int64)
    return PlatformParty(_terms(size, size), join, _values, lambda table: table.plus(nothing))


def _joined_over_http(size: int) -> Figure:
    """Time the whole join, including keys, compared with four times a join of a quarter of the
    size.
    """
    small, large = _seconds_over_http(size // 4), _seconds_over_http(size)
    return Figure(
        f"PSI join of {size:,} × {size:,} with sums for {GROUPS} groups over HTTP; "
        "compared with four "
        f"times a quarter of it",
        large,
        4 * small,
        large / (4 * small),
        f"≤ {SECONDS} s, and linear: about 1",
        COMMAND,
    )


def _beside_no_proof(size: int) -> Figure:
    """Time the same join, compared with one without proofs and checks."""
    return compare(
        f"PSI join of {size:,} × {size:,} over HTTP; compared with the same without its proof",
        lambda: _seconds_over_http(size),
        lambda: _seconds_over_http(size, proved=False),
        goal="≤ 2",
        command=COMMAND,
        rounds=3,
    )


@contextmanager
def _proof(proved: bool) -> Iterator[None]:
    """Remove the cost of the proof for both parties, if `proved` is false."""
    if proved:
        yield
        return
    with (
        patch.object(auditor_party, "prove", lambda *_: bytes(PROOF)),
        patch.object(platform_party, "verify", lambda *_: None),
        patch.object(platform_party, "check_points", lambda *_: None),
    ):
        yield


def _seconds_over_http(size: int, *, proved: bool = True) -> float:
    weights, key = _weights(size), bytes(PrivateKey.generate().public_key)
    with _served(size, proved) as port, _proof(proved):
        started = time.perf_counter()
        auditor = AuditorParty(
            _terms(size, size),
            weights,
            regulator_key=key,
            tokens=_tokens(0, size),
        )
        connection = HTTPConnection("127.0.0.1", port)
        message: bytes | None = auditor.start()
        while message is not None:
            connection.request("POST", "/", message)
            message = auditor.receive(connection.getresponse().read())
        taken = time.perf_counter() - started
    half = size // 2
    assert np.array_equal(auditor.sums, weights[half:].T @ _values(np.arange(size - half)))
    return taken


@contextmanager
def _served(size: int, proved: bool) -> Iterator[int]:
    """Run a platform party in its own process, behind HTTP; yield its port."""
    command = [sys.executable, "-m", "bench.two_party", "--serve", str(size)]
    command += [] if proved else ["--unproved"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield int(process.stdout.readline())
        process.terminate()


def _serve(size: int) -> None:
    party = _platform(size)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            answer = party.receive(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            """Log nothing."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_port, flush=True)
    server.serve_forever()


def _beside_paillier(size: int = 32_764) -> list[Figure]:
    """Compare encryption, multiplication and summation per value: ours and python-paillier's."""
    theirs = _paillier()
    if theirs is None:
        Console().print("python-paillier is not installed: no comparison with it")
        return []
    encrypting, summing = _seconds_of_sums(size)
    per_value = _bytes_per_value(size)
    ours, peer = encrypting + summing, theirs["encrypt"] + theirs["sum"]
    return [
        Figure(
            f"weighted sum, per million values of {per_value:.0f} bytes, scaled up from {size:,}; "
            f"compared with python-paillier, {theirs['bytes']} bytes, scaled up from"
            f" {theirs['values']}",
            ours * 1e6,
            peer * 1e6,
            ours / peer,
            "≤ 0.01",
            COMMAND,
        )
    ]


def _seconds_of_sums(size: int) -> tuple[float, float]:
    """Return the seconds per value of encryption, and of multiplication and addition (one cell)."""
    terms = RunTerms("bench", size, 1, 1, Entries(0, 2**20, 2**20), Entries(0, 2**20, 2**20), 2**30)
    rng = np.random.default_rng(2)
    weights, values = (rng.integers(0, 2**20, (size, 1)) for _ in range(2))
    auditor = AuditorParty(terms, weights, regulator_key=bytes(PrivateKey.generate().public_key))
    platform = PlatformParty(
        terms,
        Uploaded(np.arange(size)),
        lambda persons: values[persons],
        lambda table: table.plus(np.zeros((1, 1), np.int64)),
    )
    spent = {"encrypt": 0.0, "sum": 0.0}
    message: bytes | None = auditor.start()
    while message is not None:
        started = time.perf_counter()
        answer = platform.receive(message)
        half = time.perf_counter()
        message = auditor.receive(answer)
        spent["sum"] += half - started
        spent["encrypt"] += time.perf_counter() - half
    assert auditor.sums[0, 0] == int((weights.T @ values)[0, 0])
    return spent["encrypt"] / size, spent["sum"] / size


def _bytes_per_value(size: int) -> float:
    terms = _terms(size, None)
    sent = sum(e.message.length for e in list_messages(terms) if e.message.kind.name == "WEIGHTS")
    return sent / (size * GROUPS)


def _paillier() -> dict[str, float] | None:
    """Run python-paillier, which is GPL, in its own environment and never in ours."""
    with tempfile.TemporaryDirectory() as folder:
        python = Path(folder) / "bin" / "python"
        quiet = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        for command in (
            [sys.executable, "-m", "venv", folder],
            [str(python), "-m", "pip", "install", "--quiet", "phe==1.5.0", "gmpy2"],
        ):
            if subprocess.run(command, **quiet).returncode:  # type: ignore[call-overload]
                return None
        made = subprocess.run([str(python), str(PAILLIER)], **quiet)  # type: ignore[call-overload]
        return None if made.returncode else dict(json.loads(made.stdout))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--table5", action="store_true", help="replicate Table 5 of paper 5")
    parser.add_argument("--seed", type=int, default=SEED, help="of Table 5's data")
    parser.add_argument("--size", type=int, default=100_000, help="of the join")
    parser.add_argument("--serve", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--unproved", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.serve:
        with _proof(not asked.unproved):
            _serve(asked.serve)
    elif asked.table5:
        table_5.main(asked.seed)
    else:
        publish(run(asked.size))


if __name__ == "__main__":
    main()
