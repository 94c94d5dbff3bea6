"""Hooks of a kind for the construction of its requests."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from auditor_client.kinds.asking.facts import RequestFacts
from openapi.kinds.parameters import RequestParameter

Said = Mapping[str, Any]


@dataclass(frozen=True)
class FirstAudit:
    """An audit that runs before the one that was asked for, which follows from its result.

    `then` returns what its result says of the second, which is priced by `until_then` before.
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
    """Asking half of a kind: `extras` are parameters that are not of the request.

    `derive` returns fields of the request that follow from what was said and from public facts.
    `stand_in` takes the place of an earlier audit's result, of this request and these groups, for
    as long as that is not paid: prices do not depend on it.
    A kind that is asked for `by_hand` has a method and a command of its own. `aliases` are names
    that its command had before.
    """

    extras: tuple[RequestParameter, ...] = ()
    derive: Callable[[Said, RequestFacts], Said] = _nothing_more
    first: Callable[[Said], FirstAudit | None] = _no_first_audit
    stand_in: Callable[[Any, Sequence[str]], Any] = _no_stand_in
    by_hand: bool = False
    aliases: tuple[str, ...] = ()
