"""Phone numbers as people write them, and what both libraries must make of them.

`python -m tests.vectors.phones` writes `phones.json`: the cases below, and every example number of
every region in the metadata of `phonenumbers`. A case is [text, country, E.164 or null if refused].
Run it after an upgrade of `phonenumbers`, and vendor the `libphonenumber-js` of the same metadata.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import phonenumbers
from phonenumbers import PhoneNumber, PhoneNumberFormat, PhoneNumberType

FILE = Path(__file__).parent / "phones.json"
Case = tuple[str, str | None, str | None]

GOOD: list[Case] = [
    ("+44 20 7946 0958", None, "+442079460958"),
    ("+44 (0)20 7946 0018", None, "+442079460018"),
    ("+44(0) 20 7946 0018", None, "+442079460018"),
    ("+34 (0)912 345 678", None, "+34912345678"),
    ("0034 (0)912 345 678", None, "+34912345678"),
    ("+44 020 7946 0018", None, "+442079460018"),
    ("0044 (0)20 7946 0018", None, "+442079460018"),
    ("0044 20 7946 0958", "US", "+442079460958"),
    ("0049 1511 2345678", "DE", "+4915112345678"),
    ("0044 (0)20 7946 0018", "+49", "+442079460018"),
    ("020 7946 0958", "+44", "+442079460958"),
    ("020 7946 0958", " gb ", "+442079460958"),
    ("(020) 7946 0958", "GG", "+442079460958"),
    ("20 7946 0958", "44", "+442079460958"),
    ("44 20 7946 0958", "GB", "+442079460958"),
    ("7911 123456", "GB", "+447911123456"),
    ("0151 12345678", "+49", "+4915112345678"),
    ("0151/12345678", "DE", "+4915112345678"),
    ("(212) 555-0134", "1", "+12125550134"),
    ("1-212-555-0134", "US", "+12125550134"),
    ("212.555.0134", "CA", "+12125550134"),
    ("+1 (555) 010-1234", None, "+15550101234"),
    ("06 1234567", "+39", "+39061234567"),
    ("+39 06 1234567", "+1", "+39061234567"),
    ("+39 (0)6 1234567", None, "+39061234567"),
    ("391 234 5678", "IT", "+393912345678"),
    ("06 1 234 5678", "HU", "+3612345678"),
    ("8 (912) 345-67-89", "RU", "+79123456789"),
    ("011 15-2345-6789", "AR", "+5491123456789"),
    ("+800 1234 5678", None, "+80012345678"),
    ("\uff0b\uff14\uff14 \uff12\uff10 7946 0958", None, "+442079460958"),
    ("\u0660\u0662\u0660\u0667\u0669\u0664\u0666\u0660\u0669\u0665\u0668", "GB", "+442079460958"),
    ("\u06f0\u06f9\u06f1\u06f2 345 6789", "IR", "+989123456789"),
    ("\u202a+44\xa020\u20117946\u20130958\u202c", None, "+442079460958"),
    ("0900 1234567", "DE", "+499001234567"),
    ("1 900 555 0134", "US", "+19005550134"),
]
BAD: list[Case] = [
    ("", "GB", None),
    ("+", None, None),
    ("call me", "+44", None),
    ("1-800-FLOWERS", "US", None),
    ("+44 20 7946 0018 ext. 12", None, None),
    ("+44 20 7946 0018 x12", None, None),
    ("+44 20 7946 0018;ext=12", None, None),
    ("+44 20 7946 0018#12", None, None),
    ("tel:+44-20-7946-0018", None, None),
    ("+44 20 7946 0018, +44 20 7946 0019", None, None),
    ("+44 20 7946 0018 / 0019", None, None),
    ("+49 30 123456/57", None, None),
    ("+49/30/123456", None, None),
    ("+49/30\n/123456", None, None),
    ("++44 20 7946 0018", None, None),
    ("44+20 7946 0018", "GB", None),
    ("555 010 1234", None, None),
    ("020 7946 0958", None, None),
    ("020 7946 0958", "UK", None),
    ("020 7946 0958", "+800", None),
    ("020 7946 0958", "+999", None),
    ("020 7946 0958", "044", None),
    ("020 7946 0958", "001", None),
    ("020 7946 095", "GB", None),
    ("020 7946 09581", "GB", None),
    ("010 1234", "+1", None),
    ("345 6789", "BS", None),
    ("911", "US", None),
    ("+1 911", None, None),
    ("112", "DE", None),
    ("+44 999", None, None),
    ("+1 123 456 7890", None, None),
    ("+1234", None, None),
    ("+999 1234 5678", None, None),
    ("+1234567890123456", None, None),
    ("+44 20 7946 0018" + " " * 40, None, None),
    ("6 1234567", "IT", None),
    ("+39 6 1234567", None, None),
    ("49 1511 2345678", "+49", None),
    ("39 06 1234567", "IT", None),
    ("+39 (0)333 1234567", None, None),
    ("011 44 20 7946 0958", "US", None),
    ("00 44 20 7946 0958", "JP", None),
    ("0049 1511 234", "DE", None),
    ("\u0967\u0968\u0969\u096a\u096b\u096c\u096d", "IN", None),
    ("+44 20 7946 001\u00b2", None, None),
    ("+44 20 7946 0018\n+44 20 7946 0019", None, None),
]


def cases() -> list[Case]:
    """Return all cases: those of this file, then the example numbers."""
    return [*GOOD, *BAD, *examples()]


def examples() -> Iterator[Case]:
    """Yield every example number in five formats."""
    for region in sorted(phonenumbers.SUPPORTED_REGIONS):
        for kind in sorted(PhoneNumberType.values()):
            number = phonenumbers.example_number_for_type(region, kind)
            if number is not None:
                yield from _formats(number, region)
    for code in sorted(phonenumbers.COUNTRY_CODES_FOR_NON_GEO_REGIONS):
        number = phonenumbers.example_number_for_non_geo_entity(code)
        assert number is not None
        yield _format(number, PhoneNumberFormat.INTERNATIONAL), None, _e164(number)


def _formats(number: PhoneNumber, region: str) -> Iterator[Case]:
    national = _format(number, PhoneNumberFormat.NATIONAL)
    yield _e164(number), None, _e164(number)
    yield _format(number, PhoneNumberFormat.INTERNATIONAL), None, _e164(number)
    yield national, region, _e164(number)
    yield national, f"+{number.country_code}", _e164(number)
    yield "00" + _e164(number)[1:], "FR", _e164(number)


def _format(number: PhoneNumber, form: int) -> str:
    return phonenumbers.format_number(number, form)


def _e164(number: PhoneNumber) -> str:
    return _format(number, PhoneNumberFormat.E164)


if __name__ == "__main__":
    lines = ",\n".join(json.dumps(case, ensure_ascii=True) for case in cases())
    FILE.write_text(f"[\n{lines}\n]\n")
