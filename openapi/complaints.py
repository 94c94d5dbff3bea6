"""Plain texts for invalid values, in place of those of the validation library.

The texts name the field and the admissible values, but never the value, which may be private.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

_WORDS: Mapping[str, str] = {
    "missing": "it is missing",
    "extra_forbidden": "there is no such field",
    "greater_than": "must be greater than {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than": "must be less than {lt}",
    "less_than_equal": "must be at most {le}",
    "decimal_max_places": "must have at most {decimal_places} decimal places",
    "decimal_parsing": "must be a number",
    "decimal_type": "must be a number",
    "float_parsing": "must be a number",
    "float_type": "must be a number",
    "finite_number": "must be a finite number",
    "int_parsing": "must be a whole number",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "bool_parsing": "must be true or false",
    "bool_type": "must be true or false",
    "string_type": "must be text",
    "string_too_short": "must have at least {min_length} characters",
    "string_too_long": "must have at most {max_length} characters",
    "too_short": "must have at least {min_length} element(s), but has {actual_length}",
    "too_long": "must have at most {max_length} elements",
    "literal_error": "must be {expected}",
    "enum": "must be {expected}",
    "union_tag_invalid": "must be one of {expected_tags}",
    "union_tag_not_found": "must state {discriminator}",
    "dict_type": "must be a mapping of names to values",
    "list_type": "must be a list",
    "tuple_type": "must be a list",
    "model_type": "must be an object with fields",
    "model_attributes_type": "must be an object with fields",
    "datetime_parsing": "must be a date and time, such as 2026-01-31T12:00:00Z",
    "datetime_type": "must be a date and time, such as 2026-01-31T12:00:00Z",
    "datetime_from_date_parsing": "must be a date and time, such as 2026-01-31T12:00:00Z",
    "date_from_datetime_parsing": "must be a date, such as 2026-01-31",
    "date_parsing": "must be a date, such as 2026-01-31",
    "timezone_aware": "must have a time zone, such as Z",
    "base64_decode": "must be base64",
    "json_invalid": "must be valid JSON",
    "bytes_type": "must be bytes",
    "none_required": "must be empty",
    "unexpected_keyword_argument": "there is no such field",
}
_IDENTIFIER = "must be an identifier, such as {thing}_0193c2a5f0d1000000000000000002"
_THINGS = ("content", "audience", "mandate", "audit", "auditor", "researcher")


def what_is_wrong(item: ErrorDetails) -> str:
    """Return the condition that one value violates."""
    if item["type"] in ("value_error", "assertion_error"):
        return item["msg"].partition(", ")[2]
    context: Mapping[str, Any] = item.get("ctx") or {}
    if item["type"] == "string_pattern_mismatch":
        if str(context.get("pattern", "")).startswith("^[a-z]+_"):
            return _IDENTIFIER.format(thing=_thing(item))
        return f"must have the form {context.get('pattern')}"
    words = _WORDS.get(item["type"])
    return words.format(**context) if words else "does not have the documented form"


def _thing(item: ErrorDetails) -> str:
    """Return what a field identifies, by its name, for an example."""
    fields = [step for step in item["loc"] if isinstance(step, str)]
    name = fields[-1].removesuffix("_id").removesuffix("s") if fields else ""
    return name if name in _THINGS else _THINGS[1]


def where_it_is(item: ErrorDetails, names: Mapping[str, str] | None = None) -> str:
    """Return the location of a value, in the names that people know."""
    steps = [str(step) for step in item["loc"]]
    known = names or {}
    return ".".join(known.get(step, step) for step in steps)


def complaints(error: ValidationError, names: Mapping[str, str] | None = None) -> list[str]:
    """Return one short line for each invalid value."""
    lines = [
        ": ".join(filter(None, (where_it_is(item, names), what_is_wrong(item))))
        for item in error.errors(include_url=False)
    ]
    return list(dict.fromkeys(lines))


@contextmanager
def usage_in_plain_words(kind: type[Exception]) -> Iterator[None]:
    """Give errors of a command line (`kind`) that invalid values caused these lines as message."""
    try:
        yield
    except kind as error:
        if isinstance(error.__cause__, ValidationError):
            error.message = "; ".join(complaints(error.__cause__)).rstrip(".") + "."  # type: ignore[attr-defined]
        raise
