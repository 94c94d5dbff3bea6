"""The commitment, against vectors that an independent reading of its docstring makes."""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privacy.commitment import commit, group_digest, username_tokens

VECTORS = Path(__file__).parent.parent / "vectors" / "commitment.json"
CASES: list[dict[str, Any]] = json.loads(VECTORS.read_text())


def independent(salt: bytes, groups: dict[str, list[bytes]]) -> str:
    """`groups` are tokens by label; every field is framed by its length in eight bytes."""
    text = b""
    for field in (b"platform-auditor/audience/v1", salt):
        text += bytes([0] * 7) + bytes([len(field)]) + field
    for label, tokens in sorted(groups.items()):
        text += bytes([0] * 7) + bytes([len(label)]) + label.encode("ascii")
        text += bytes([0] * 7) + bytes([32]) + sha256(b"".join(tokens)).digest()
    return "sha256:" + sha256(text).hexdigest()


def tokens_of(case: dict[str, Any]) -> dict[str, list[bytes]]:
    return {
        label: [
            bytes.fromhex(member["sha256"])
            if "sha256" in member
            else sha256(b"username" + bytes([0]) + member["username"].encode("utf-8")).digest()
            for member in members
        ]
        for label, members in case["groups"].items()
    }


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_vectors(case: dict[str, Any]) -> None:
    salt, tokens = bytes.fromhex(case["salt"]), tokens_of(case)
    assert independent(salt, tokens) == case["commitment"]
    assert commit(salt, {g: group_digest(t) for g, t in tokens.items()}) == case["commitment"]


def test_user_names_become_tokens_as_the_vectors_say() -> None:
    names = [m["username"] for m in CASES[0]["groups"]["g0"]]
    assert username_tokens(names) == b"".join(tokens_of(CASES[0])["g0"])


@given(st.lists(st.binary(min_size=32, max_size=32), max_size=8), st.data())
def test_how_an_upload_was_cut_into_parts_makes_no_difference(
    tokens: list[bytes], data: st.DataObject
) -> None:
    joined = b"".join(tokens)
    cuts = data.draw(st.lists(st.integers(0, len(joined)), max_size=5).map(sorted))
    parts = [joined[a:b] for a, b in zip([0, *cuts], [*cuts, len(joined)], strict=True)]
    assert group_digest(parts) == group_digest(tokens)


@given(st.binary(min_size=16, max_size=32), st.binary(min_size=16, max_size=32))
def test_another_salt_is_another_commitment(one: bytes, other: bytes) -> None:
    groups = {"g0": group_digest([b"\0" * 32])}
    assert (commit(one, groups) == commit(other, groups)) == (one == other)


def test_labels_order_members_and_groups_all_count() -> None:
    a, b, salt = b"a" * 32, b"b" * 32, b"s" * 16
    seen = [
        commit(salt, {label: group_digest(tokens) for label, tokens in groups.items()})
        for groups in (
            {"g0": [a, b], "g1": [b]},
            {"g0": [b, a], "g1": [b]},
            {"g0": [a], "g1": [b, b]},
            {"g0": [b], "g1": [a, b]},
            {"g0": [a, b]},
            {"g0": [a, b], "g2": [b]},
            {"g0": [a, b, b], "g1": []},
            {},
        )
    ]
    assert len(set(seen)) == len(seen)


def test_a_salt_cannot_pass_for_a_group() -> None:
    salt, digest = b"s" * 16, group_digest([])
    assert commit(salt, {"g0": digest}) != commit(salt + b"g0" + digest, {})


def test_the_order_in_which_groups_are_given_does_not_count() -> None:
    groups = {f"g{number}": group_digest([bytes([number]) * 32]) for number in range(12)}
    backwards = dict(reversed(groups.items()))
    assert commit(b"s" * 16, groups) == commit(b"s" * 16, backwards)
