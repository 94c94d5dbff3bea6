"""A million identifiers uploaded in one of three formats, matched and sealed.

The floor: the same bytes parsed by pyarrow, and one hash join with the same identifiers. Ours adds
the digest of every part, the checks of every identifier, the parts in the database (each durable
before it is answered for, all overwritten in the end), the commitment, the sketch, the cut to one
person each, and the ledger. A second floor keeps the identifiers as well, and overwrites them, by
bare statements of the same database. It is no lower bound: ours does not join, it looks up.
"""

import io
import secrets
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.json

from api.audiences import sealing, uploads
from api.audiences.members import ARROW, CSV, JSON_LINES, read_members
from api.audiences.packing import pack
from api.compose import simulated
from api.store import Store
from auditor_client.parts import ROWS_PER_PART
from auditor_client.uploading import PARTS_AT_ONCE
from bench.harness import Figure, in_turns
from bench.hosted import Hosted, hosted
from openapi.models import AudienceDraft
from tests.world import sqlite_url

COMMAND = "python -m bench upload"
ROUNDS = 9
KIND = "email_sha256"
_HAVE_ONE = 0.8  # of the simulated people, at least: not everybody has given an e-mail address
GOALS = {ARROW: "≤ 2", CSV: "—", JSON_LINES: "—"}
NAMES = {ARROW: "Arrow", CSV: "CSV", JSON_LINES: "JSON lines"}


def run(identifiers: int = 1_000_000) -> list[Figure]:
    with (
        tempfile.TemporaryDirectory() as folder,
        hosted(Path(folder), simulated(people=round(identifiers / _HAVE_ONE))) as host,
    ):
        store = Store(sqlite_url(Path(tempfile.mkdtemp(dir=folder))))
        return [figure for kind in GOALS for figure in _figures(host, store, kind, identifiers)]


def _figures(host: Hosted, bare: Store, media_type: str, rows: int) -> list[Figure]:
    directory = host.service.platform.directory
    assert directory is not None
    numbers, held = (each[:rows] for each in directory.held(KIND))
    mixed = held.take(pa.array(np.random.default_rng(0).permutation(rows)))
    # Cut as the SDK cuts them, and sent as many at a time.
    pieces = [mixed.slice(start, ROWS_PER_PART) for start in range(0, rows, ROWS_PER_PART)]
    parts = [_written(piece, media_type) for piece in pieces]
    packed = [_written(piece, ARROW) for piece in pieces]  # as they are kept, whatever was sent
    known = pa.table({KIND: held if media_type == ARROW else _digits(held), "person": numbers})
    took = in_turns(
        {
            "ours": lambda: _ours(host, parts, media_type),
            "floor": lambda: _floor(parts, _PARSERS[media_type], known),
            "kept": lambda: _kept(bare, packed),
        },
        ROUNDS,
    )
    name = f"{rows:,} identifiers by {NAMES[media_type]}, uploaded to sealed; beside parsing"
    kept = [sum(both) for both in zip(took["floor"], took["kept"], strict=True)]
    told = f"{name}, a hash join, and as many kept and overwritten"
    return [
        Figure.of(
            f"{name} and a hash join", took["ours"], took["floor"], GOALS[media_type], COMMAND
        ),
        Figure.of(told, took["ours"], kept, "—", COMMAND),
    ]


def _ours(host: Hosted, parts: list[bytes], media_type: str) -> None:
    service = host.service
    with service.store.write() as session:
        draft = AudienceDraft(groups=["g0"])
        audience = uploads.create(session, host.auditor, draft, service.settings)

    def put(number: int, part: bytes) -> None:
        digest = f"sha256:{sha256(part).hexdigest()}"
        packed = pack(read_members(io.BytesIO(part), media_type))
        with service.store.write() as session:
            row = uploads.owned_open(session, host.auditor, audience.id)
            uploads.put_part(session, row, "g0", number, packed, digest, service.settings)

    with ThreadPoolExecutor(PARTS_AT_ONCE) as pool:
        list(pool.map(put, range(len(parts)), parts))
    people, salt = service.platform.people, secrets.token_bytes(32)
    sealing.seal(service.store, host.auditor, audience.id, salt, people, service.settings)


def _floor(
    parts: list[bytes], parse: Callable[[io.BytesIO], pa.Table], known: pa.Table
) -> pa.Table:
    table = pa.concat_tables([parse(io.BytesIO(part)) for part in parts])
    return table.join(known, KIND, join_type="left outer")


def _kept(bare: Store, parts: list[bytes]) -> None:
    """Each part durable before the next one comes, and all of them zeros in the end."""
    with closing(bare.engine.raw_connection()) as connection:
        cursor = connection.cursor()
        cursor.execute("CREATE TABLE IF NOT EXISTS kept (number INTEGER PRIMARY KEY, data BLOB)")
        for number, part in enumerate(parts):
            cursor.execute("INSERT INTO kept VALUES (?, ?)", (number, part))
        cursor.execute("DELETE FROM kept WHERE number >= 0")


def _written(identifiers: pa.Array, media_type: str) -> bytes:
    """As the SDK sends them: bytes by Arrow, hexadecimal digits otherwise."""
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
