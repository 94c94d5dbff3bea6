"""A request with a wrong signature is refused with a reason and with what to do."""

import re
import time
from collections.abc import Callable
from dataclasses import replace

import pytest

from api.kernel.errors import UnsignedError
from api.ledger.signed_requests import check
from privacy.ledger.statements import Statement
from tests.statements import ORIGIN, Maker, new_key

MAKER = Maker("researcher_" + "0" * 30)
BODY = {"name": "Lab"}


def by_another_key() -> Statement:
    return replace(MAKER, key=new_key()).states("auditor", BODY)


def of_another_body() -> Statement:
    return replace(MAKER.states("auditor", BODY), body={"name": "Laboratory"})


def long_ago() -> Statement:
    return replace(MAKER, at=time.time() - 601).states("auditor", BODY)


def without_a_header() -> Statement:
    return replace(MAKER.states("auditor", BODY), signature="eyJ9..AAAA")


def with_a_short_signature() -> Statement:
    whole = MAKER.states("auditor", BODY)
    return replace(whole, signature=whole.signature[:-4])


@pytest.mark.parametrize(
    "wrong",
    [by_another_key, of_another_body, long_ago, without_a_header, with_a_short_signature],
    ids=lambda wrong: wrong.__name__,
)
def test_every_refusal_states_a_reason_and_names_the_page(wrong: Callable[[], Statement]) -> None:
    with pytest.raises(UnsignedError) as refused:
        check(wrong(), MAKER.key, ORIGIN)
    message = str(refused.value)
    assert message[0].isupper()
    assert "docs/reference/ledger.md" in message
    # A colon announces a reason: none may be empty.
    assert not re.search(r":\s*([.:]|$)", message)
