import pytest

from auditor_client.errors import InputError
from auditor_client.phones import e164


@pytest.mark.parametrize(
    ("text", "country", "number"),
    [
        ("+44 20 7946 0958", None, "+442079460958"),
        ("0044 20 7946 0958", None, "+442079460958"),
        ("020 7946 0958", "+44", "+442079460958"),
        ("20 7946 0958", "44", "+442079460958"),
        ("0151 12345678", "+49", "+4915112345678"),
        ("(555) 010-1234", "1", "+15550101234"),
        ("+39 06 1234567", "+1", "+39061234567"),
    ],
)
def test_numbers_become_e164(text: str, country: str | None, number: str) -> None:
    assert e164(text, country) == number


@pytest.mark.parametrize(
    ("text", "country", "why"),
    [
        ("555 010 1234", None, "without a country"),
        ("06 1234567", "+39", "ambiguous"),
        ("49 1511 2345678", "+49", "without"),
        ("010 1234", "+1", "ten digits"),
        ("call me", "+44", "not a phone"),
        ("+1234", None, "not a phone"),
        ("+1234567890123456", None, "not a phone"),
        ("555", "UK", "calling code"),
    ],
)
def test_what_can_be_read_in_two_ways_is_refused(text: str, country: str | None, why: str) -> None:
    with pytest.raises(InputError, match=why):
        e164(text, country)
