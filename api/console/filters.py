"""Filters that format values for pages. Text that an outsider may have written is escaped."""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from markupsafe import Markup, escape

from api.kernel.clock import now

_LABEL = re.compile(r"\bg(?:0|[1-9][0-9]{0,2})\b")


def moment(at: datetime | None) -> Markup | str:
    """Return an instant in UTC, which the reader's browser converts to the local time zone."""
    if at is None:
        return "never"
    words = at.astimezone(UTC)
    return Markup('<time datetime="{}">{} UTC</time>').format(
        words.isoformat(timespec="seconds"), f"{words:%Y-%m-%d %H:%M}"
    )


def left(due: datetime) -> str:
    """Return the time until a deadline, in whole days."""
    days = (due - now()) // timedelta(days=1)
    if due <= now():
        return f"{plural(-days, 'day')} late"
    return f"{plural(days, 'day')} left" if days else "less than a day left"


def plural(count: int, what: str) -> str:
    """Return a count with its noun, in English."""
    return f"{number(count)} {what}{'' if count == 1 else 's'}"


def amount(value: Decimal | float | str) -> str:
    """Return an exact amount without trailing zeros."""
    return f"{Decimal(str(value)).normalize():f}"


def number(value: int) -> str:
    """Return a whole number in groups of three digits."""
    return f"{value:,}".replace(",", "\u202f")


def size(count: int) -> str:
    """Return a number of bytes in a suitable unit."""
    amount, units = float(count), ["bytes", "kB", "MB", "GB"]
    while amount >= 1000 and len(units) > 1:
        amount, units = amount / 1000, units[1:]
    return f"{amount:.3g} {units[0]}" if amount < 1000 else f"{number(round(amount))} {units[0]}"


def named(text: str, audience_id: str) -> Markup:
    """Return text whose group labels the reader's browser replaces with names, where it knows
    them.
    """
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
    """Return a number, or a list or table of numbers, in one line."""
    if isinstance(value, Mapping):
        return "; ".join(f"{name}: {listed(each)}" for name, each in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(listed, value))
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def short(digest: str | None) -> Markup | str:
    """Return the start of a digest, with the whole digest in its tooltip."""
    if digest is None:
        return "none"
    name, _, digits = digest.rpartition(":")
    return Markup('<code title="{}">{}…</code>').format(digest, f"{name}:{digits[:12]}")


FILTERS: dict[str, Callable[..., Any]] = {
    "amount": amount,
    "bytes": size,
    "left": left,
    "listed": listed,
    "moment": moment,
    "named": named,
    "number": number,
    "plural": plural,
    "short": short,
}
