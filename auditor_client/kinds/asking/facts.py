"""Public facts of a platform and an auditor from which requests are completed."""

from collections.abc import Mapping
from typing import Any, Protocol

from auditor_client.errors import InputError
from openapi.resources import Audience, Catalogue, LogOffer


class RequestFacts(Protocol):
    """Public facts on which a request may depend; reading them spends nothing."""

    def catalogue(self) -> Catalogue: ...

    def audience(self, audience_id: str) -> Audience: ...

    def names(self, audience_id: str) -> Mapping[str, str]:
        """Return the names of groups by label, if this machine knows them."""
        ...

    def result(self, audit_id: str) -> Any:
        """Return a released audit of this auditor."""
        ...


def log_offer(catalogue: Catalogue, name: str) -> LogOffer:
    """Return the catalogue's offer of a log."""
    offered = {log.name: log for log in catalogue.logs}
    if name not in offered:
        known = ", ".join(offered) or "it has none"
        raise InputError(
            f"The platform offers no log {name!r}. It offers: {known}.", case="no-such-log"
        )
    return offered[name]


def require_random_traffic(kind: str, offer: LogOffer, catalogue: Catalogue) -> None:
    """Refuse a log without random traffic; name those that have it."""
    if offer.traffic and offer.traffic.random:
        return
    known = [log.name for log in catalogue.logs if log.traffic and log.traffic.random]
    raise InputError(
        f"Log {offer.name!r} has no random traffic, which an {kind} audit needs."
        " Without it, relevant content that was never shown has no label."
        f" Logs that have: {', '.join(known) or 'none'}.",
        case="no-random-traffic",
    )


def column_range(offer: LogOffer, column: str) -> tuple[float, float]:
    """Return the public range of a numeric column."""
    for found in offer.numbers:
        if found.name == column:
            return found.low, found.high
    known = ", ".join(found.name for found in offer.numbers) or "none"
    raise InputError(
        f"The log {offer.name!r} has no numeric column {column!r}. Its numeric columns "
        f"are: {known}.",
        case="no-such-numbers",
    )


def columns_among(offer: LogOffer, among: str) -> list[str]:
    """Return the columns of a log that can be chosen."""
    if among == "creators":
        return list(offer.traffic.creators) if offer.traffic else []
    numbers = [found.name for found in offer.numbers]
    return numbers if among == "numbers" else [*numbers, *(each.name for each in offer.words)]


def _values(offer: LogOffer, column: str) -> list[str]:
    """Return the categories of a column of creators."""
    known = columns_among(offer, "creators")
    found = {each.name: each.values for each in offer.words if each.name in known}
    if column not in found:
        raise InputError(
            f"Log {offer.name!r} has no column of creators {column!r}. It has: {', '.join(known)}.",
            case="no-such-creators",
        )
    return found[column]


def words_among(offer: LogOffer, among: str | None, column: str = "") -> list[str]:
    """Return the values of a log that can be chosen: signals, strategies, days, or a column's
    categories.
    """
    every = {each.name: each.values for each in offer.words}
    if among == "values":
        return _values(offer, column)
    traffic = offer.traffic
    if traffic is None or among is None:
        return []
    if among == "signals":
        return list(traffic.signals)
    if among == "strategies":
        return [name for name in every.get(traffic.strategy, []) if name != traffic.random]
    return every.get(traffic.day or "", [])
