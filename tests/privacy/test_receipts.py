"""Receipts hold what was signed, and nothing else verifies."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from joserfc import jws
from joserfc.jwk import KeySet, OctKey, OKPKey
from joserfc.util import urlsafe_b64decode, urlsafe_b64encode

from privacy.receipts import InvalidReceiptError, add_receipt, canonical, digest, sign, verify
from tests.refusals import refuses

STATEMENT = {"b": [1, -2], "a": {"ε": "1.25", "n": 10}, "c": None}


def new_key() -> OKPKey:
    key = OKPKey.generate_key("Ed25519")
    key.ensure_kid()
    return key


KEY = new_key()
KEYS = KeySet([KEY])
RECEIPT = sign(STATEMENT, KEY)


def encoded(value: Any) -> str:
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return urlsafe_b64encode(data).decode()


def header(receipt: str = RECEIPT) -> dict[str, Any]:
    fields: dict[str, Any] = json.loads(urlsafe_b64decode(receipt.split(".")[0].encode()))
    return fields


def test_a_receipt_gives_back_the_canonical_bytes_that_were_signed() -> None:
    assert verify(RECEIPT, KEYS) == canonical(STATEMENT)
    assert header() == {
        "alg": "Ed25519",
        "kid": KEY.kid,
        "typ": "platform-auditor-receipt+jws",
    }


def test_a_receipt_verifies_with_the_public_keys_alone_and_among_others() -> None:
    public = OKPKey.import_key(KEY.as_dict(private=False))
    assert verify(RECEIPT, KeySet([new_key(), public])) == canonical(STATEMENT)


# Beyond the first plane of Unicode, UTF-16 sorts otherwise than code points do.
@pytest.mark.parametrize("more", [{}, {"z": 0.5, "": "", "\U0001f600": 1, "\ufb33": 2, '"': [{}]}])
def test_a_statement_with_its_receipt_has_the_bytes_of_both_together(more: dict[str, Any]) -> None:
    stated = STATEMENT | more
    assert add_receipt(stated, KEY) == canonical(stated | {"receipt": sign(stated, KEY)})


def test_the_same_statement_has_the_same_bytes_in_any_order() -> None:
    turned = {"c": None, "a": {"n": 10, "ε": "1.25"}, "b": [1, -2]}
    assert canonical(turned) == canonical(STATEMENT)
    # Written out once, so that no release of a library can change what was signed before.
    assert canonical(STATEMENT).decode() == '{"a":{"n":10,"ε":"1.25"},"b":[1,-2],"c":null}'
    assert sign(turned, KEY) == RECEIPT


def test_a_digest_names_its_algorithm() -> None:
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert digest(b"") == f"sha256:{empty}"


@pytest.mark.parametrize("part", [0, 1, 2])
def test_a_receipt_that_was_changed_anywhere_is_refused(part: int) -> None:
    parts = RECEIPT.split(".")
    raw = bytearray(urlsafe_b64decode(parts[part].encode()))
    for position in range(len(raw)):
        changed = raw.copy()
        changed[position] ^= 1
        parts[part] = encoded(bytes(changed))
        with pytest.raises(InvalidReceiptError):
            verify(".".join(parts), KEYS)


def test_another_payload_under_the_old_signature_is_refused() -> None:
    head, _, signature = RECEIPT.split(".")
    with pytest.raises(InvalidReceiptError):
        verify(f"{head}.{encoded(canonical({**STATEMENT, 'b': [1, -3]}))}.{signature}", KEYS)


@pytest.mark.parametrize("alg", ["none", "None", "HS256", "EdDSA", "", None, 7])
def test_another_algorithm_is_refused(alg: Any) -> None:
    _, payload, signature = RECEIPT.split(".")
    for signed in (signature, ""):
        with pytest.raises(InvalidReceiptError):
            verify(f"{encoded(header() | {'alg': alg})}.{payload}.{signed}", KEYS)


def test_a_public_key_used_as_a_shared_secret_is_refused() -> None:
    public = str(KEY.as_dict(private=False)["x"])
    secret = OctKey.import_key(urlsafe_b64decode(public.encode()))
    forged = jws.serialize_compact(
        header() | {"alg": "HS256"}, canonical(STATEMENT), secret, algorithms=["HS256"]
    )
    with pytest.raises(InvalidReceiptError):
        verify(forged, KEYS)


@pytest.mark.parametrize("typ", ["at+jwt", "JWT", None, ""])
def test_a_signature_of_something_else_is_not_a_receipt(typ: str | None) -> None:
    fields = {"alg": "Ed25519", "kid": KEY.kid} | ({} if typ is None else {"typ": typ})
    token = jws.serialize_compact(fields, canonical(STATEMENT), KEY, algorithms=["Ed25519"])
    with refuses(InvalidReceiptError, "not-a-receipt"):
        verify(token, KEYS)


def test_a_key_that_is_not_the_platforms_is_refused() -> None:
    stranger = new_key()
    with pytest.raises(InvalidReceiptError):
        verify(sign(STATEMENT, stranger), KEYS)
    # Also when the stranger claims to be the platform.
    fields = header()
    forged = jws.serialize_compact(fields, canonical(STATEMENT), stranger, algorithms=["Ed25519"])
    with pytest.raises(InvalidReceiptError):
        verify(forged, KEYS)
    with pytest.raises(InvalidReceiptError):
        verify(RECEIPT, KeySet([stranger]))


short_texts = st.text(st.sampled_from('abεß𝔘 "\\\n\x00\u2028'), max_size=12)
receipts_like = st.text(st.sampled_from("abe.=-_{}"), max_size=60)
odd_headers: st.SearchStrategy[Any] = st.sampled_from(
    [
        [],
        1,
        None,
        "x",
        {},
        {"alg": "Ed25519"},
        {"alg": "Ed25519", "kid": 5, "typ": "x"},
        {"kid": "x"},
    ]
) | st.dictionaries(
    st.sampled_from(["alg", "kid", "typ", "crit", "b64"]), st.text() | st.booleans()
)


@given(odd_headers, st.binary(max_size=20), st.binary(max_size=80))
def test_no_odd_header_is_a_crash(fields: Any, payload: bytes, signature: bytes) -> None:
    with pytest.raises(InvalidReceiptError):
        verify(f"{encoded(fields)}.{encoded(payload)}.{encoded(signature)}", KEYS)


@given(short_texts | receipts_like)
def test_no_text_is_a_crash(text: str) -> None:
    with pytest.raises(InvalidReceiptError):
        verify(text, KEYS)


@given(st.dictionaries(short_texts, st.integers(-(2**53) + 1, 2**53 - 1) | short_texts))
def test_whatever_is_signed_comes_back(statement: dict[str, Any]) -> None:
    assert json.loads(verify(sign(statement, KEY), KEYS)) == statement
