"""Conversion of sensitivity rules to and from a charge's form: a name, and numbers as decimal
strings.
"""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from privacy.errors import BoundsError
from privacy.tables.sensitivity import (
    Candidates,
    Counts,
    ExplicitSensitivity,
    Lots,
    Products,
    Rows,
    SensitivityRule,
    Sums,
)

_RULES: dict[str, Any] = {
    rule.name: rule
    for rule in (Counts, Sums, Rows, Candidates, Products, Lots, ExplicitSensitivity)
}


def declared_numbers(rule: SensitivityRule) -> dict[str, str | bool]:
    """Return the numbers of a rule as a charge states them: integers as decimal strings."""
    numbers = {each.name: getattr(rule, each.name) for each in fields(rule)}  # type: ignore[arg-type]
    return {
        name: value if isinstance(value, bool) else str(value) for name, value in numbers.items()
    }


def rule_from(name: str, numbers: Mapping[str, str | bool]) -> SensitivityRule | None:
    """Return the rule that a charge states, or None if this version has no rule of that name.

    Raise `BoundsError` if the numbers are not those of the rule.
    """
    kind = _RULES.get(name)
    if kind is None:
        return None
    types = {each.name: each.type for each in fields(kind)}
    if types.keys() != numbers.keys():
        raise BoundsError(f"the rule {name!r} is declared by {', '.join(sorted(types))}")
    rule: SensitivityRule = kind(
        **{each: _read(types[each], value) for each, value in numbers.items()}
    )
    return rule


def _read(kind: Any, value: str | bool) -> int | bool:
    if kind in (bool, "bool"):
        if not isinstance(value, bool):
            raise BoundsError("a yes or no of a rule must be true or false")
        return value
    if not isinstance(value, str) or str(_integer(value)) != value:
        raise BoundsError("a number of a rule must be an integer in decimal notation, as a string")
    return _integer(value)


def _integer(text: str) -> int:
    if len(text) > 64:
        raise BoundsError("a number of a rule must have at most 64 characters")
    try:
        return int(text)
    except ValueError as error:
        raise BoundsError(f"{text!r} is not an integer") from error
