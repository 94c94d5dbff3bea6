"""Phone numbers in E.164 form, checked against the numbering plan of their country.

The library `phonenumbers` knows the plans. `api/console/static/phones.js` does the same in the
browser with `libphonenumber-js`; `tests/vectors/phones.json` binds both.

A text can have several readings: "49 1511 2345678" may lack its "+", or be a national number of
Germany. A number is returned only if exactly one reading is in use. Every other text is refused,
because a wrong number drops a person from the audit silently.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

import phonenumbers
from phonenumbers import NumberParseException, PhoneNumber, ValidationResult

from auditor_client.errors import InputError

# Digits of ASCII, full width, Arabic and Persian, which both libraries know.
_DIGITS = "".join(chr(start + digit) for start in (0xFF10, 0x660, 0x6F0) for digit in range(10))
_TO_ASCII = str.maketrans(_DIGITS + "\uff0b", "0123456789" * 3 + "+")
_SPACE = "\\t-\\r\\x1c- \\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000"
_INVISIBLE = "\\u00ad\\u200b-\\u200f\\u202a-\\u202e\\u2060\\ufeff"
_SEPARATOR = re.compile(f"[{_SPACE}{_INVISIBLE}().\\-/\\u2010-\\u2015\\u2212]")
_COMPACT = re.compile(r"\+?[0-9]+")
# "(0)" means: leave out this zero when you dial the country code.
_OPTIONAL_ZERO = re.compile(f"\\([{_SPACE}]*0[{_SPACE}]*\\)")
# "030 123456/57" lists two numbers; "0151/1234567" is one.
_SECOND_NUMBER = re.compile(r"/[^0-9]*([0-9][^0-9]*){0,3}\Z|/.*/", re.DOTALL)
# Calling code 1 never assigns area 555, so simulated people have such numbers.
_FICTION = re.compile(r"\+1555[0-9]{7}")
_CALLING_CODE = re.compile(r"\+?([1-9][0-9]{0,2})")
_WORLD = "001"
_LONGEST = 40


def e164(text: str, country: str | None = None) -> str:
    """Return the number as "+", calling code and national number.

    Args:
        text: The number as somebody wrote it.
        country: Calling code ("+44") or region ("GB") of numbers that start with neither "+"
            nor "00".

    Raises:
        InputError: If the text is not a number in use, or can be read as two of them.

    """
    code = None if country is None else calling_code(country)
    written = text.translate(_TO_ASCII)
    if len(written) > _LONGEST or _SECOND_NUMBER.search(written):
        raise InputError("more than one phone number, or too long for one", case="several-numbers")
    found = [_parse(digits) for digits in dict.fromkeys(_readings(written, code))]
    numbers = {_format(number) for number in found if number is not None and _in_use(number)}
    if len(numbers) > 1 or (numbers and _is_guess(written, code, numbers)):
        raise InputError(
            "can be read as two phone numbers; write it with + and the calling code",
            case="ambiguous-number",
        )
    if not numbers:
        raise InputError(
            "not a phone number in use; check the digits and the calling code",
            case="number-not-in-use",
        )
    return numbers.pop()


@lru_cache
def calling_code(country: str) -> str:
    """Return the calling code of a country that is given by calling code or by region."""
    name = country.strip()
    if match := _CALLING_CODE.fullmatch(name):
        region = phonenumbers.region_code_for_country_code(int(match.group(1)))
        if region not in (_WORLD, phonenumbers.UNKNOWN_REGION):
            return match.group(1)
    elif code := phonenumbers.country_code_for_region(name.upper()):
        return str(code)
    raise InputError(
        f"{country!r} is not a country; write a calling code ('+44') or region ('GB')",
        case="unknown-country",
    )


def _readings(written: str, code: str | None) -> Iterator[str]:
    """Yield each possible calling code and national number, the stated one first."""
    kept = _compact(_OPTIONAL_ZERO.sub("0", written))
    if kept.startswith("+"):
        yield kept[1:]
        yield _compact(_OPTIONAL_ZERO.sub("", written))[1:]
        return
    # Where people dial 00 before a calling code, no national number begins with it.
    if code is not None and not (kept.startswith("00") and _dials_00(code)):
        yield code + kept
        if kept.startswith(code):
            yield kept
    if kept.startswith("00"):
        yield kept[2:]
        yield _compact(_OPTIONAL_ZERO.sub("", written))[2:]
    elif code is None:
        raise InputError(
            "a phone number without a country; give country=, for example '+44'", case="no-country"
        )


@lru_cache
def _dials_00(code: str) -> bool:
    region = phonenumbers.region_code_for_country_code(int(code))
    plan = phonenumbers.PhoneMetadata.metadata_for_region(region)
    return plan is not None and plan.international_prefix == "00"


def _compact(written: str) -> str:
    compact = _SEPARATOR.sub("", written)
    if not _COMPACT.fullmatch(compact):
        raise InputError(
            "not a phone number; write digits only, without an extension", case="not-digits"
        )
    return compact


def _parse(digits: str) -> PhoneNumber | None:
    try:
        return phonenumbers.parse(f"+{digits}")
    except NumberParseException:
        return None


def _format(number: PhoneNumber) -> str:
    return phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)


def _in_use(number: PhoneNumber) -> bool:
    return phonenumbers.is_valid_number(number) or bool(_FICTION.fullmatch(_format(number)))


def _is_guess(written: str, code: str | None, numbers: set[str]) -> bool:
    """Tell whether the text means another number under a numbering plan newer than the library."""
    stated = _parse(next(_readings(written, code)))
    if stated is None or _format(stated) in numbers:
        return False
    length = phonenumbers.is_possible_number_with_reason(stated)
    return length == ValidationResult.IS_POSSIBLE
