"""The commitment, against vectors that an independent reading of its docstring makes."""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privacy.commitment import commit, group_digest, part_digest, username_tokens

VECTORS = Path(__file__).parent.parent / "vectors" / "commitment.json"
CASES: list[dict[str, Any]] = json.loads(VECTORS.read_text())


def independent(salt: bytes, groups: dict[str, list[list[bytes]]]) -> str:
    """`groups` are parts of tokens by label; every field is framed by its length in eight bytes."""
    text = b""
    for field in (b"platform-auditor/audience/v2", salt):
        text += bytes([0] * 7) + bytes([len(field)]) + field
    for label, parts in sorted(groups.items()):
        digests = b"".join(sha256(b"".join(tokens)).digest() for tokens in parts)
        text += bytes([0] * 7) + bytes([len(label)]) + label.encode("ascii")
        text += bytes([0] * 7) + bytes([32]) + sha256(digests).digest()
    return "sha256:" + sha256(text).hexdigest()


def tokens_of(case: dict[str, Any]) -> dict[str, list[list[bytes]]]:
    return {
        label: [[token(member) for member in part] for part in parts]
        for label, parts in case["groups"].items()
    }


def token(member: dict[str, str]) -> bytes:
    if "sha256" in member:
        return bytes.fromhex(member["sha256"])
    return sha256(b"username" + bytes([0]) + member["username"].encode("utf-8")).digest()


def digest(*parts: list[bytes]) -> bytes:
    return group_digest(part_digest(tokens) for tokens in parts)


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_vectors(case: dict[str, Any]) -> None:
    salt, groups = bytes.fromhex(case["salt"]), tokens_of(case)
    assert independent(salt, groups) == case["commitment"]
    made = {label: digest(*parts) for label, parts in groups.items()}
    assert commit(salt, made) == case["commitment"]


def test_user_names_become_tokens_as_the_vectors_say() -> None:
    names = [m["username"] for m in CASES[0]["groups"]["g0"][0]]
    assert username_tokens(names) == b"".join(tokens_of(CASES[0])["g0"][0])


@given(st.lists(st.binary(min_size=32, max_size=32), max_size=8), st.data())
def test_how_a_part_was_read_makes_no_difference(tokens: list[bytes], data: st.DataObject) -> None:
    joined = b"".join(tokens)
    cuts = data.draw(st.lists(st.integers(0, len(joined)), max_size=5).map(sorted))
    chunks = [joined[a:b] for a, b in zip([0, *cuts], [*cuts, len(joined)], strict=True)]
    assert part_digest(chunks) == part_digest(tokens)


@given(st.binary(min_size=16, max_size=32), st.binary(min_size=16, max_size=32))
def test_another_salt_is_another_commitment(one: bytes, other: bytes) -> None:
    groups = {"g0": digest([b"\0" * 32])}
    assert (commit(one, groups) == commit(other, groups)) == (one == other)


def test_labels_order_members_parts_and_groups_all_count() -> None:
    a, b, salt = b"a" * 32, b"b" * 32, b"s" * 16
    uploads: list[dict[str, list[list[bytes]]]] = [
        {"g0": [[a, b]], "g1": [[b]]},
        {"g0": [[b, a]], "g1": [[b]]},
        {"g0": [[a], [b]], "g1": [[b]]},
        {"g0": [[b], [a]], "g1": [[b]]},
        {"g0": [[a]], "g1": [[b, b]]},
        {"g0": [[b]], "g1": [[a, b]]},
        {"g0": [[a, b]]},
        {"g0": [[a, b]], "g2": [[b]]},
        {"g0": [[a, b, b]], "g1": []},
        {"g0": [[a, b, b]], "g1": [[]]},
        # A part cannot pass for its digest, which is as long as a token.
        {"g0": [[part_digest([a, b])]], "g1": [[b]]},
        {},
    ]
    seen = [
        commit(salt, {label: digest(*parts) for label, parts in groups.items()})
        for groups in uploads
    ]
    assert len(set(seen)) == len(seen)


def test_a_salt_cannot_pass_for_a_group() -> None:
    salt, digest = b"s" * 16, group_digest([])
    assert commit(salt, {"g0": digest}) != commit(salt + b"g0" + digest, {})


def test_the_order_in_which_groups_are_given_does_not_count() -> None:
    groups = {f"g{number}": digest([bytes([number]) * 32]) for number in range(12)}
    backwards = dict(reversed(groups.items()))
    assert commit(b"s" * 16, groups) == commit(b"s" * 16, backwards)
