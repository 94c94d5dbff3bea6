"""Requests for audits of every kind, built from a service's facts. Building one spends nothing."""

from collections.abc import Callable, Mapping
from typing import Any

from auditor_client.audits.typed_methods import TypedRequests
from auditor_client.kinds.asking.builder import build_request
from auditor_client.kinds.registry import auditor_kind
from auditor_client.kinds.two_party.request import TwoPartyRequests
from auditor_client.local.audience_records import names_for
from auditor_client.transport.http_client import Transport
from openapi.resources import Audience, Catalogue


class ServiceFacts:
    """Facts of a service on which requests may depend."""

    def __init__(self, transport: Transport, result: Callable[[str], Any]) -> None:
        self._transport = transport
        self.result = result

    def catalogue(self) -> Catalogue:
        return self._transport.get("/v1/catalogue", Catalogue)

    def audience(self, audience_id: str) -> Audience:
        return self._transport.get(f"/v1/audiences/{audience_id}", Audience)

    def names(self, audience_id: str) -> Mapping[str, str]:
        return names_for(audience_id)


class RequestBuilder(TypedRequests, TwoPartyRequests):
    """Builder of requests to submit, or to price together with `price_all`: a method for every
    kind.
    """

    def __init__(self, facts: ServiceFacts) -> None:
        self._facts = facts

    def of(self, kind: str, /, **said: Any) -> Any:
        """Return the request of a kind by its name, from the parameters of its contract."""
        found = auditor_kind(kind)
        return build_request(found.contract, found.asking, said, self._facts)
