"""How values are written on a page. Whatever an outsider may have written is escaped."""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from markupsafe import Markup, escape

_LABEL = re.compile(r"\bg(?:0|[1-9][0-9]{0,2})\b")


def moment(at: datetime | None) -> Markup | str:
    """An instant: in UTC, until the reader's browser writes it in their own zone."""
    if at is None:
        return "never"
    words = at.astimezone(UTC)
    return Markup('<time datetime="{}">{} UTC</time>').format(
        words.isoformat(timespec="seconds"), f"{words:%Y-%m-%d %H:%M}"
    )


def amount(value: Decimal | float | str) -> str:
    """An exact amount, without zeros at its end."""
    return f"{Decimal(str(value)).normalize():f}"


def number(value: int) -> str:
    """A whole number, in groups of three digits."""
    return f"{value:,}".replace(",", "\u202f")


def named(text: str, audience_id: str) -> Markup:
    """A text in which labels of groups give way to names, where the reader's browser knows them."""
    pieces, end = [Markup()], 0
    for match in _LABEL.finditer(text):
        label = match.group()
        pieces += [escape(text[end : match.start()]), _label(label, audience_id)]
        end = match.end()
    return Markup().join([*pieces, escape(text[end:])])


def _label(label: str, audience_id: str) -> Markup:
    return Markup('<span data-label="{}" data-audience="{}">{}</span>').format(
        label, audience_id, label
    )


def listed(value: Any) -> str:
    """A number, a list or a table of them, in one line."""
    if isinstance(value, Mapping):
        return "; ".join(f"{name}: {listed(each)}" for name, each in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(listed, value))
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def short(digest: str | None) -> Markup | str:
    """The start of a digest, with the whole of it at hand."""
    if digest is None:
        return "none"
    name, _, digits = digest.rpartition(":")
    return Markup('<code title="{}">{}…</code>').format(digest, f"{name}:{digits[:12]}")


FILTERS: dict[str, Callable[..., Any]] = {
    "amount": amount,
    "listed": listed,
    "moment": moment,
    "named": named,
    "number": number,
    "short": short,
}
