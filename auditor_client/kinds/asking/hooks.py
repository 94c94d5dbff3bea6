"""Hooks of a kind for the construction of its requests."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from auditor_client.kinds.asking.facts import RequestFacts
from openapi.kinds.parameters import RequestParameter

Said = Mapping[str, Any]


@dataclass(frozen=True)
class FirstAudit:
    """First audit, whose result determines the requested audit.

    `then` returns the second request's fields from its result. Before that, `until_then` prices the
    second request.
    """

    kind: str
    said: Said
    then: Callable[[Any], Said]
    until_then: Said


def _nothing_more(said: Said, facts: RequestFacts) -> Said:  # noqa: ARG001  (the contract says it all)
    return {}


def _no_first_audit(said: Said) -> FirstAudit | None:  # noqa: ARG001  (there is none)
    return None


def _no_stand_in(request: Any, groups: Sequence[str]) -> Any:  # noqa: ARG001
    return None


@dataclass(frozen=True)
class AskingHalf:
    """Asking half of a kind; `extras` are parameters that are not fields of the request.

    `derive` returns fields of the request that follow from given parameters and public facts.
    `stand_in` replaces an earlier audit's result, for this request and these groups, until that
    audit is paid: prices do not depend on the result. A `by_hand` kind has its own hand-written
    method and command. `aliases` are earlier names of its command.
    """

    extras: tuple[RequestParameter, ...] = ()
    derive: Callable[[Said, RequestFacts], Said] = _nothing_more
    first: Callable[[Said], FirstAudit | None] = _no_first_audit
    stand_in: Callable[[Any, Sequence[str]], Any] = _no_stand_in
    by_hand: bool = False
    aliases: tuple[str, ...] = ()
