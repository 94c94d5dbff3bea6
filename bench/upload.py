"""A million identifiers uploaded in one of three formats, matched and sealed.

The floor: the same bytes parsed by pyarrow, and one hash join with the same identifiers. Ours adds
the digest of every part, the checks of every identifier, the matches in the database (each part
durable before its answer, and all overwritten at the end), the commitment, the sketch, the
deduplication of people, and the ledger.
"""

import io
import secrets
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.json

from api.app.compose import make_simulated_platform
from api.audiences import sealing, uploads
from api.audiences.matching import bind
from api.audiences.media_types import ARROW, CSV, JSON_LINES
from api.audiences.parsing import read_members
from api.audiences.row_limit import row_limit
from auditor_client.audiences.parts import ROWS_PER_PART
from auditor_client.audiences.upload import PARTS_AT_ONCE
from bench.harness import Figure, in_turns
from bench.hosted import Hosted, hosted
from openapi.resources import AudienceDraft

COMMAND = "python -m bench upload"
ROUNDS = 9
KIND = "email_sha256"
_PAUSE = 0.001
_HAVE_ONE = 0.8  # smallest share of the simulated people: not everybody has given an e-mail address
GOALS = {ARROW: "≤ 2", CSV: "—", JSON_LINES: "—"}
NAMES = {ARROW: "Arrow", CSV: "CSV", JSON_LINES: "JSON lines"}


def run(identifiers: int = 1_000_000) -> list[Figure]:
    with (
        tempfile.TemporaryDirectory() as folder,
        hosted(
            Path(folder), make_simulated_platform(people=round(identifiers / _HAVE_ONE))
        ) as host,
    ):
        return [_figure(host, kind, identifiers) for kind in GOALS]


def _figure(host: Hosted, media_type: str, rows: int) -> Figure:
    directory = host.service.platform.directory
    assert directory is not None
    numbers, held = (each[:rows] for each in directory.held(KIND))
    mixed = held.take(pa.array(np.random.default_rng(0).permutation(rows)))
    # The simulated platform makes its index at its first use, which must not delay a part.
    host.service.platform.people.match(KIND, mixed[:1])
    # Parts are split and sent in parallel as in the SDK.
    pieces = [mixed.slice(start, ROWS_PER_PART) for start in range(0, rows, ROWS_PER_PART)]
    parts = [_written(piece, media_type) for piece in pieces]
    known = pa.table({KIND: held if media_type == ARROW else _digits(held), "person": numbers})
    took = in_turns(
        {
            "ours": lambda: _ours(host, parts, media_type),
            "floor": lambda: _floor(parts, _PARSERS[media_type], known),
        },
        ROUNDS,
    )
    name = (
        f"{rows:,} identifiers by {NAMES[media_type]}, uploaded to sealed;"
        " compared with parsing and a hash join"
    )
    return Figure.of(name, took["ours"], took["floor"], GOALS[media_type], COMMAND)


def _ours(host: Hosted, parts: list[bytes], media_type: str) -> None:
    service, people = host.service, host.service.platform.people
    with service.store.write() as session:
        draft = AudienceDraft(groups=["g0"])
        audience = uploads.create(session, host.auditor, draft, service.settings)

    def put(number: int, part: bytes) -> None:
        digest = f"sha256:{sha256(part).hexdigest()}"
        limit = row_limit(0, service.settings)
        limit.take(part, media_type)
        members = read_members(io.BytesIO(part), media_type, limit)
        binding, seconds = bind(members, service.settings), service.matcher.duration(members)
        ticket = service.matcher.slots.wait_for(host.auditor.auditor, len(part))
        while not service.matcher.slots.take(ticket):
            time.sleep(_PAUSE)
        with service.store.write() as session:
            row = uploads.get_owned_open(session, host.auditor, audience.id)
            where = session, row, "g0", number
            _, claimed = uploads.accept_part(
                *where, members, binding, digest, service.settings, seconds, instead_of=None
            )
        service.matcher.begin(claimed, ticket)

    with ThreadPoolExecutor(PARTS_AT_ONCE) as pool:
        list(pool.map(put, range(len(parts)), parts))
    service.matcher.drain(60)
    salt = secrets.token_bytes(32)
    sealing.seal(service.store, host.auditor, audience.id, salt, people, service.settings)


def _floor(
    parts: list[bytes], parse: Callable[[io.BytesIO], pa.Table], known: pa.Table
) -> pa.Table:
    table = pa.concat_tables([parse(io.BytesIO(part)) for part in parts])
    return table.join(known, KIND, join_type="left outer")


def _written(identifiers: pa.Array, media_type: str) -> bytes:
    """Return the identifiers in the SDK's form: bytes in Arrow, hexadecimal digits otherwise."""
    sink = io.BytesIO()
    if media_type == ARROW:
        table = pa.table({KIND: identifiers})
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        return sink.getvalue()
    if media_type == CSV:
        pyarrow.csv.write_csv(pa.table({KIND: _digits(identifiers)}), sink)
        return sink.getvalue()
    lines = (f'{{"{KIND}":"{each}"}}\n' for each in _digits(identifiers).to_pylist())
    return "".join(lines).encode()


def _digits(identifiers: pa.Array) -> pa.Array:
    return pa.array([each.hex() for each in identifiers.to_pylist()])


_PARSERS: dict[str, Callable[[io.BytesIO], pa.Table]] = {
    ARROW: lambda body: pa.ipc.open_stream(body).read_all(),
    CSV: pyarrow.csv.read_csv,
    JSON_LINES: pyarrow.json.read_json,
}
