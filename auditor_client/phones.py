"""Phone numbers in E.164 form, or a refusal: a guess would match another person.

A number that starts with "+" or "00" says its country. One that does not needs `country`, and is
refused where it could be read in two ways.
"""

import re

from auditor_client.errors import InputError

SEPARATORS = re.compile(r"[\s().\-/\u2010-\u2015\u00a0]")
E164 = re.compile(r"\+[1-9][0-9]{6,14}")
COUNTRY = re.compile(r"\+?([1-9][0-9]{0,2})")
NORTH_AMERICA = "1"
# Calling codes of countries where a national number is dialled with a 0 that E.164 drops.
# Italy (39) keeps its 0, Hungary (36) dials 06, Russia (7) dials 8: those are refused.
TRUNK_ZERO = frozenset(
    {20, 27, 30, 31, 32, 33, 40, 41, 43, 44, 46, 49, 60, 61, 62, 63, 64, 66, 81, 82, 84, 86, 90}
    | {91, 92, 94, 98, 212, 213, 233, 234, 251, 254, 255, 256, 353, 355, 358, 359, 380, 381, 385}
    | {386, 389, 421, 880, 961, 962, 966, 971, 972}
)


def e164(text: str, country: str | None = None) -> str:
    """The number as "+", country code and national number."""
    compact = SEPARATORS.sub("", text)
    if compact.startswith("00"):
        compact = f"+{compact[2:]}"
    number = compact if compact.startswith("+") else _international(compact, country)
    if not E164.fullmatch(number):
        raise InputError("not a phone number")
    return number


def _international(national: str, country: str | None) -> str:
    if country is None:
        raise InputError("a phone number without a country; give country=, for example '+44'")
    match = COUNTRY.fullmatch(country.strip())
    if match is None:
        raise InputError(f"{country!r} is not a country calling code; write it like '+44'")
    code = match.group(1)
    if code == NORTH_AMERICA:
        return _north_american(national)
    if national.startswith("0"):
        if int(code) not in TRUNK_ZERO:
            raise InputError(f"a leading 0 is ambiguous in +{code}; write the number with its +")
        return f"+{code}{national[1:]}"
    if national.startswith(code):
        raise InputError(f"it starts with {code} but without +; write the number with its +")
    return f"+{code}{national}"


def _north_american(national: str) -> str:
    """Ten digits, or eleven with the trunk prefix 1."""
    digits = national.removeprefix("1")
    if len(digits) != 10 or not digits.isdecimal():
        raise InputError("a number in +1 has ten digits; write the number with its +")
    return f"+1{digits}"
