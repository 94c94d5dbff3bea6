"""Phone numbers against the shared vectors."""

import json

import pytest

from auditor_client.audiences.phone_numbers import e164
from auditor_client.errors import InputError
from tests.refusals import refuses
from tests.vectors import phones

CASES: list[phones.Case] = [tuple(case) for case in json.loads(phones.FILE.read_text())]


def found(text: str, country: str | None) -> str | None:
    try:
        return e164(text, country)
    except InputError:
        return None


def test_every_vector_becomes_its_e164_or_is_refused() -> None:
    wrong = [case for case in CASES if found(case[0], case[1]) != case[2]]
    assert wrong == []


def test_the_vectors_hold_every_example_number_of_the_library() -> None:
    assert phones.cases() == CASES, "run python -m tests.vectors.phones; see its docstring"
    assert sum(number is not None for *_, number in CASES) > 5_000


@pytest.mark.parametrize(
    ("text", "country", "case", "named"),
    [
        ("020 7946 0958", None, "no-country", []),
        ("020 7946 0958", "UK", "unknown-country", ["'UK'"]),
        ("+44 20 7946 0018 x1", None, "not-digits", ["extension"]),
        ("+49 30 123456/57", None, "several-numbers", []),
        ("49 1511 2345678", "DE", "ambiguous-number", []),
        ("+44 20 7946 001", None, "number-not-in-use", []),
    ],
)
def test_a_refusal_says_why_and_never_quotes_the_number(
    text: str, country: str | None, case: str, named: list[object]
) -> None:
    with refuses(InputError, case, *named) as refusal:
        e164(text, country)
    assert text not in str(refusal.value)


def test_the_missing_plus_is_no_guess_where_the_national_number_is_possible() -> None:
    # Turkish numbers have 10 digits, and 12 with calling code; 12 are possible in Turkey too.
    with refuses(InputError, "ambiguous-number"):
        e164("902123456789", "TR")
    assert e164("33 1 23 45 67 89", "FR") == "+33123456789"
