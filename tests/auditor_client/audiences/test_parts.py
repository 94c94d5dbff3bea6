import io
from base64 import b64decode
from hashlib import sha256

import pyarrow as pa
import pytest

from auditor_client.audiences import parts
from auditor_client.audiences.parts import commitment, encode_parts, rows_per_part, split_into_parts
from privacy.commitment import commit, group_digest, part_digest, username_tokens

HASHES = pa.array([sha256(bytes([number])).digest() for number in range(250)], pa.binary(32))
NAMES = pa.array([f"user{number}" for number in range(250)])


def read(body: bytes) -> pa.Table:
    return pa.ipc.open_stream(io.BytesIO(body)).read_all()


@pytest.mark.parametrize(
    ("kind", "members"), [("email_sha256", HASHES), ("username", NAMES)], ids=["hashes", "names"]
)
def test_parts_together_are_the_members(kind: str, members: pa.Array) -> None:
    made = list(encode_parts(kind, members, 100))  # type: ignore[arg-type]
    assert [(part.number, part.rows) for part in made] == [(0, 100), (1, 100), (2, 50)]
    tables = [read(part.body) for part in made]
    assert all(table.column_names == [kind] for table in tables)
    assert pa.concat_tables(tables)[kind].to_pylist() == members.to_pylist()


def test_parts_stay_below_the_limit() -> None:
    many = pa.array([f"user{number:050}" for number in range(20_000)])
    rows = rows_per_part(many, 100_000)
    made = list(encode_parts("username", many, rows))
    assert 1 < len(made) < 20
    assert max(len(part.body) for part in made) <= 100_000


def test_the_same_members_give_the_same_bytes() -> None:
    again = pa.concat_arrays([HASHES.slice(0, 7), HASHES.slice(7)])
    (one,), (other,) = (
        encode_parts("email_sha256", HASHES, 250),
        encode_parts("email_sha256", again, 250),
    )
    assert one.digest == other.digest


def test_digests_say_the_same_in_both_forms() -> None:
    (part,) = encode_parts("username", NAMES, 250)
    assert part.digest == f"sha256:{sha256(part.body).hexdigest()}"
    encoded = part.content_digest.removeprefix("sha-256=:").removesuffix(":")
    assert b64decode(encoded) == sha256(part.body).digest()


def test_commitment_is_that_of_the_shared_code() -> None:
    salt = b"s" * 32
    first, second = NAMES.slice(0, 100), NAMES.slice(100)
    names = [part_digest([username_tokens(part.to_pylist())]) for part in (first, second)]
    expected = commit(salt, {"g0": group_digest(names)})
    assert commitment(salt, "username", {"g0": [first, second]}) == expected
    hashes = {
        "g0": group_digest([part_digest(HASHES.to_pylist())]),
        "g1": group_digest([part_digest([HASHES[0].as_py()])]),
    }
    groups = {"g1": [HASHES.slice(0, 1)], "g0": [HASHES]}
    assert commitment(salt, "email_sha256", groups) == commit(salt, hashes)


def test_what_is_committed_to_is_cut_as_what_is_sent() -> None:
    made = [
        read(part.body)["username"].to_pylist() for part in encode_parts("username", NAMES, 100)
    ]
    assert [piece.to_pylist() for piece in split_into_parts(NAMES, 100)] == made


def test_a_part_has_no_more_rows_than_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "ROWS_PER_PART", 100)
    assert rows_per_part(NAMES, 1 << 20) == 100
    assert rows_per_part(NAMES, 1) == 1
