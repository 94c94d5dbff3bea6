"""Page of settings, from the fields of `api.kernel.settings.Settings`."""

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from api.kernel.settings import OutsideIssuer, RayCluster, Settings, SignIn
from docs.site.reference.tables import table

_LIMITS = {"ge": "at least", "gt": "more than", "le": "at most", "lt": "less than"}


def page() -> str:
    """Return the page."""
    lines = [
        "# Settings",
        "",
        "Settings come from a TOML file and from environment variables. The variable of `issuer`"
        " is `PLATFORM_AUDITOR_ISSUER`; it wins over the file. An unknown key is refused."
        " No setting weakens a guarantee.",
        *_table(Settings),
    ]
    for nested, name in (
        (OutsideIssuer, "outside_issuer"),
        (SignIn, "outside_issuer.sign_in"),
        (RayCluster, "ray"),
    ):
        lines += [f"## `{name}`", "", nested.__doc__ or "", *_table(nested)]
    return "\n".join(lines)


def _table(model: type[BaseModel]) -> Iterator[str]:
    rows = [
        (f"`{name}`", _default(field), _limits(field), field.description or "")
        for name, field in model.model_fields.items()
    ]
    return table(("setting", "default", "limits", "meaning"), rows)


def _default(field: FieldInfo) -> str:
    if field.default is PydanticUndefined:
        return "**required**"
    return "" if field.default is None else f"`{_toml(field.default)}`"


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return "[" + ", ".join(f'"{each}"' for each in value) + "]"
    return str(value)


def _limits(field: FieldInfo) -> str:
    found = [
        f"{words} {limit}"
        for each in field.metadata
        for name, words in _LIMITS.items()
        if (limit := getattr(each, name, None)) is not None
    ]
    return ", ".join(found)
