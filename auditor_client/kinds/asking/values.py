"""Parsers of given values, from Python or text: bins, columns, words, amounts."""

from collections.abc import Callable, Mapping, Sequence
from math import isfinite, nan
from typing import Any

from auditor_client.errors import InputError
from auditor_client.transport.decimals import to_decimal
from openapi.kinds.parameters import RequestParameter


def identifier(value: Any, _: RequestParameter) -> str:
    """Return an identifier, from an object that has one or from the identifier itself."""
    return value if isinstance(value, str) else value.id


def identifiers(value: Any, parameter: RequestParameter) -> list[str]:
    given = words(value, parameter) if isinstance(value, str) else list(value)
    return [identifier(each, parameter) for each in given]


def amount(value: Any, parameter: RequestParameter) -> Any:
    return to_decimal(value, parameter.name)


def whole(value: Any, parameter: RequestParameter) -> int:
    try:
        number = int(value)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{parameter.name}: {value!r} is not a whole number.", case="not-a-number"
        ) from error
    if isinstance(value, float) and number != value:
        raise InputError(f"{parameter.name}: {value!r} is not a whole number.", case="not-a-number")
    return number


def wholes(value: Any, parameter: RequestParameter) -> list[int]:
    return [whole(each, parameter) for each in (parts(value) if isinstance(value, str) else value)]


def text(value: Any, _: RequestParameter) -> str:
    return str(value)


def same(value: Any, _: RequestParameter) -> Any:
    return value


def words(value: Any, _: RequestParameter) -> list[str]:
    return parts(value) if isinstance(value, str) else [str(each) for each in value]


def mapping(value: Any, parameter: RequestParameter) -> dict[str, str | float]:
    """Read `name=value` pairs; numeric values become numbers."""
    if isinstance(value, Mapping):
        return dict(value)
    return {
        name: _number_or_word(said) for name, said in pairs(_lines(value), parameter, "=").items()
    }


def columns(value: Any, parameter: RequestParameter) -> dict[str, list[str]]:
    """Read `column=value,value` or lines of `column: value, value`."""
    if isinstance(value, Mapping):
        return {name: list(listed) for name, listed in value.items()}
    lines = _lines(value)
    sign = ":" if all(":" in line for line in lines) and lines else "="
    return {name: parts(listed) for name, listed in pairs(lines, parameter, sign).items()}


def low_high(value: Any, parameter: RequestParameter) -> dict[str, float] | None:
    """Read a range: two numbers."""
    if isinstance(value, Mapping):
        return dict(value)
    given = numbers(value, parameter) if isinstance(value, str) else [float(x) for x in value]
    if len(given) != 2:
        raise InputError(f"{parameter.name} takes a low and a high number, such as 0,1.")
    return {"low": given[0], "high": given[1]}


def numbers(value: Any, parameter: RequestParameter) -> list[float]:
    """Read finite numbers separated by commas."""
    try:
        found = [float(each) for each in (parts(value) if isinstance(value, str) else value)]
    except (TypeError, ValueError):
        found = [nan]
    if all(map(isfinite, found)):
        return found
    raise InputError(f"{parameter.name}: {value!r} is not a list of numbers like 0,0.5,1.")


def parts(value: str) -> list[str]:
    return [part for each in value.split(",") if (part := each.strip())]


def pairs(lines: Sequence[str], parameter: RequestParameter, sign: str) -> dict[str, str]:
    found = {}
    for line in lines:
        name, there, said = line.partition(sign)
        if not (name.strip() and there and said.strip()):
            raise InputError(
                f"{parameter.name}: {line.strip()!r} is not of the form name{sign}value."
            )
        found[name.strip()] = said.strip()
    return found


def _lines(value: Any) -> list[str]:
    return (
        [line for line in value.splitlines() if line.strip()]
        if isinstance(value, str)
        else [*value]
    )


def _number_or_word(said: str) -> str | float:
    try:
        return float(said)
    except ValueError:
        return said


READERS: Mapping[str, Callable[[Any, RequestParameter], Any]] = {
    "content": identifier,
    "audience": identifier,
    "mandate": identifier,
    "contents": identifiers,
    "amount": amount,
    "error": amount,
    "integer": whole,
    "integers": wholes,
    "log": text,
    "column": text,
    "text": text,
    "choice": text,
    "flag": same,
    "words": words,
    "context": mapping,
    "where": columns,
    "range": low_high,
    "audit": same,
}
