"""A signature's header has exactly one accepted reading."""

import pytest

from privacy.errors import StatementError
from privacy.ledger.statements import TYPE, digest_statement, parse_header, sign, verify
from tests.ledgers import ed25519
from tests.refusals import refuses

ADA = ed25519("ada")
STATED = b'{"action":"charge"}'


def test_a_header_says_who_signed_when_and_after_what() -> None:
    before = digest_statement(sign(STATED, ADA, at=1), STATED)
    head = parse_header(sign(STATED, ADA, at=2, after=before))
    assert (head.alg, head.iat, head.kid) == ("Ed25519", 2, ADA.thumbprint())
    assert (head.typ, head.after) == (TYPE, before)


@pytest.mark.parametrize("length", range(4))
def test_headers_may_have_any_length(length: int) -> None:
    before = "~?" * 4 + "x" * length
    assert parse_header(sign(STATED, ADA, at=2, after=before)).after == before


@pytest.mark.parametrize("stray", [" ", "\n", "=", '"', "\\", "é", "."])
def test_nothing_is_between_the_letters_of_a_header(stray: str) -> None:
    signature = sign(STATED, ADA)
    with refuses(StatementError, "not-detached" if stray == "." else "no-header"):
        parse_header(signature[:8] + stray + signature[8:])


def test_a_signature_that_brings_its_own_words_is_refused() -> None:
    with refuses(StatementError, "not-detached"):
        parse_header(sign(STATED, ADA).replace("..", ".e30."))


def test_a_signature_by_another_key_is_refused_with_a_reason() -> None:
    with refuses(StatementError, "another-statement") as refused:
        verify(sign(STATED, ed25519("bob")), STATED, ADA, ["Ed25519"])
    assert not str(refused.value).rstrip().endswith((":", ":."))
