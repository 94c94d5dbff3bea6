"""Audits of an auditor: pricing, running, waiting and reading again later."""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Unpack

from pydantic import RootModel

from auditor_client.audiences.client import NamedAudience
from auditor_client.audits.offers import Offer
from auditor_client.audits.polling import wait_until_final
from auditor_client.audits.release_check import check_release_matches_request
from auditor_client.audits.request_builder import RequestBuilder, ServiceFacts
from auditor_client.audits.typed_methods import TypedAudits
from auditor_client.errors import ConnectionBrokenError, InputError, NotSignedError
from auditor_client.kinds.asking.running import RunOptions
from auditor_client.kinds.forecasts import Forecast, ForecastAudience
from auditor_client.kinds.lifetime_caps import rho_used, within_lifetime
from auditor_client.kinds.registry import AnyResult as AnyResult
from auditor_client.kinds.registry import auditor_kind, result_class
from auditor_client.kinds.score_histogram.result import ScoreHistogramResult
from auditor_client.kinds.two_party.request import Kind, TwoPartyAudits
from auditor_client.local.audience_records import load_record, names_for
from auditor_client.local.pending_audits import PendingAudits
from auditor_client.local.pending_claims import Claim
from auditor_client.local.progress import tell
from auditor_client.local.saved_receipt import verify_release
from auditor_client.transport.signed_requests import Statements
from auditor_client.transport.validation import validate
from openapi.resources import (
    Audience,
    Audit,
    AuditRequest,
    BatchQuote,
    Budget,
    Catalogue,
    Content,
    InclusionProof,
    Price,
    Quote,
    ScoreHistogramRequest,
)

PATH = "/v1/audits"


class Batch(RootModel[list[AuditRequest]]):
    """Several requests in one body."""


class Audits(TypedAudits, TwoPartyAudits):
    """The audits of this auditor."""

    def __init__(
        self, statements: Statements, keys: Callable[[], dict[str, Any]], pending: PendingAudits
    ) -> None:
        self._statements = statements
        self._transport = statements.transport
        self._keys = keys
        self._pending = pending

    def until_saved(self) -> AbstractContextManager[None]:
        """Mark results of this block as delivered only when the block ends without an error.

        with auditor.audits.until_saved():
            audit = auditor.audits.run(content, audience)
            audit.save_receipt("receipt.json")

        Outside such a block, a result is delivered when the call returns it. The block requires a
        folder of pending audits, which `Auditor.from_profile` has.
        """
        return self._pending.until_saved()

    @property
    def requests(self) -> RequestBuilder:
        """Builders of the requests of every kind, for `submit` and `price_all`."""
        return RequestBuilder(ServiceFacts(self._transport, self.result))

    def ask(self, kind: str, running: RunOptions | None = None, /, **said: Any) -> AnyResult:
        """Pay for an audit of a kind by its name, wait for its release, and verify its receipt.

        `said` are the parameters of the kind's contract; each kind has a method that names them.
        The same call continues an interrupted run, which is charged once; `new` starts another
        audit. This requires a folder of pending audits, which `Auditor.from_profile` has. Without
        the folder, give each audit an `idempotency_key`, and repeat it to continue.
        """
        running = running or RunOptions()
        before = auditor_kind(kind).asking.first(_given(said))
        if before is None:
            return self.run_request(self.requests.of(kind, **said), **running)
        first = self.requests.of(before.kind, **before.said)
        # The second request depends on the first release: keep both records until both are
        # released.
        with self._pending.until_saved():
            if running.get("new") or not self._pending.is_pending(first.model_dump(mode="json")):
                second = self.requests.of(kind, **{**said, **before.until_then})
                _tell_both(self.price_all([first, second]), running)
            found = self.run_request(first, **_for_the_first(running))
            return self.run_request(
                self.requests.of(kind, **{**said, **before.then(found)}), **running
            )

    def run_request(self, request: AuditRequest, **running: Unpack[RunOptions]) -> AnyResult:
        """Pay for an audit of any kind, wait for its release, and verify its receipt."""
        return self._run(request, result_class(request.kind), running)

    def offer(self, kind: str, /, **said: Any) -> Offer:
        """Return the price and the forecast of an audit that `ask` would run; this spends
        nothing.
        """
        before = auditor_kind(kind).asking.first(_given(said))
        if before is None:
            return self.offer_of(self.requests.of(kind, **said))
        first = self.requests.of(before.kind, **before.said)
        second = self.requests.of(kind, **{**said, **before.until_then})
        both = self.price_all([first, second])
        forecast = self.forecast(second, both.quotes[1].price)
        return Offer(second, both.quotes[1], forecast, both.quotes[0], both.covered)

    def offer_of(self, request: AuditRequest) -> Offer:
        """Return the price and the forecast of one request; this spends nothing."""
        quote = self.quote(request)
        return Offer(request, quote, self.forecast(request, quote.price), covered=quote.covered)

    def forecast(self, request: AuditRequest, price: Price | None = None) -> Forecast:
        """Return the accuracy to expect from an audit of these people at this noise; this spends
        nothing.

        With its price, the forecast also says if earlier audits have used up the people's lifetime
        cap.
        """
        audience = self._transport.get(f"/v1/audiences/{request.audience_id}", Audience)
        facts = ForecastAudience.of(audience, names_for(audience.id))
        catalogue = self._transport.get("/v1/catalogue", Catalogue)
        told = auditor_kind(request.kind).forecast(request, facts, catalogue)
        if price is None:
            return told
        used = rho_used(self._transport.items(PATH, Audit), audience)
        return within_lifetime(told, request, price, used, catalogue.limits.rho_per_person)

    def price(self, content: Content | str, audience: NamedAudience | str, **said: Any) -> Quote:
        """Return the price of such a `run` and its expected error; this spends nothing."""
        return self.quote(self.request(content, audience, **said))

    def quote(self, request: AuditRequest) -> Quote:
        """Return the price of an audit of any kind; this spends nothing."""
        return self._transport.post(f"{PATH}/price", request, Quote, retry_idempotently=True)

    def price_all(self, requests: Sequence[AuditRequest]) -> BatchQuote:
        """Return the price of several audits, paid in this order; this spends nothing.

        `request` and `requests` make requests of every kind.
        """
        body = validate(Batch, root=list(requests))
        return self._transport.post(f"{PATH}/prices", body, BatchQuote, retry_idempotently=True)

    def request(
        self, content: Content | str, audience: NamedAudience | str, **said: Any
    ) -> ScoreHistogramRequest:
        """Return the request that `run` would submit."""
        return self.requests.score_histogram(content, audience, **said)

    def submit(
        self, request: AuditRequest, idempotency_key: str | None = None, *, new: bool = False
    ) -> Audit:
        """Pay for an audit and return at once. The same key never pays twice.

        The same call continues a submission that was interrupted before its answer arrived.
        """
        with self._claimed(request, RunOptions(idempotency_key=idempotency_key, new=new)) as claim:
            return self._submit(request, claim)

    def finish(self, audit_id: str, *, progress: bool = True) -> AnyResult:
        """Wait for a submitted audit of any kind, and return its result."""
        audit = wait_until_final(self._transport, audit_id, progress=progress)
        return self._finished(audit, result_class(audit.kind))

    def wait(self, audit_id: str, *, progress: bool = True) -> ScoreHistogramResult:
        """Wait for a score histogram, and return its result."""
        return self._finished(
            wait_until_final(self._transport, audit_id, progress=progress), ScoreHistogramResult
        )

    def get(self, audit_id: str) -> ScoreHistogramResult:
        """Return a released score histogram; raise `NotReleasedError` before its release."""
        return self._finished(self.state(audit_id), ScoreHistogramResult)

    def result(self, audit_id: str) -> AnyResult:
        """Return a released audit of any kind; raise `NotReleasedError` before its release."""
        audit = self.state(audit_id)
        return self._finished(audit, result_class(audit.kind))

    def state(self, audit_id: str) -> Audit:
        """Return the current state of an audit."""
        return self._transport.get(f"{PATH}/{audit_id}", Audit)

    def proof(self, audit_id: str, *, patience: float = 60) -> InclusionProof | None:
        """Return the proof that a release is in the ledger.

        Return None if no signed checkpoint covers it within `patience` seconds.
        """
        until = time.monotonic() + patience
        while True:
            try:
                return self._transport.get(f"{PATH}/{audit_id}/proof", InclusionProof)
            except NotSignedError:
                if time.monotonic() > until:
                    return None
                time.sleep(0.5)

    def cancel(self, audit_id: str) -> Audit:
        """Cancel and refund an audit that has not read anything yet."""
        return self._transport.post(f"{PATH}/{audit_id}/cancel", None, Audit)

    def list(self) -> list[Audit]:
        """Return all audits of this auditor."""
        return list(self._transport.items(PATH, Audit))

    def _run(self, request: AuditRequest, kind: type[Kind], running: RunOptions) -> Kind:
        with self._claimed(request, running) as claim:
            audit = self._submit(request, claim)
            progress = running.get("progress", True)
            return self._finished(
                wait_until_final(self._transport, audit.id, progress=progress), kind
            )

    def _claimed(self, request: AuditRequest, running: RunOptions) -> AbstractContextManager[Claim]:
        """Claim the request: its record continues it after an interruption."""
        key, new = running.get("idempotency_key"), running.get("new", False)
        return self._pending.claimed(request.model_dump(mode="json"), key=key, new=new)

    def _submit(self, request: AuditRequest, claim: Claim) -> Audit:
        """Record the signed request, send it, and record the audit that was charged."""
        if claim.record.audit_id is not None:
            return self.state(claim.record.audit_id)
        key = claim.record.key
        headers = self._statements.headers("charge", request, key, claim.record.signature)
        signature = headers["statement-signature"]
        claim.save(request=request.model_dump(mode="json"), signature=signature)
        try:
            audit = self._transport.post(
                PATH, request, Audit, retry_idempotently=True, headers=headers
            )
        except ConnectionBrokenError as error:
            error.add_note(_repeat(claim))
            raise
        claim.save(audit_id=audit.id, price=f"{audit.price.debit} {audit.price.currency}")
        return audit

    def _finished(self, audit: Audit, kind: type[Kind]) -> Kind:
        if audit.kind != kind.kind:
            raise InputError(
                f"{audit.id} is a {audit.kind}: read it with `audits.result`.", case="another-kind"
            )
        keys = self._keys()
        stored = self._transport.send("GET", f"{PATH}/{audit.id}/release").content
        contents = tuple(self._content(name) for name in audit.request.content_ids)
        record = load_record(audit.request.audience_id)
        names = record.names if record else {}
        release = verify_release(stored, keys)
        check_release_matches_request(
            release, audit, contents, record.commitment if record else None, tuple(names)
        )
        mandates = self._transport.get("/v1/budget", Budget).mandates
        return kind(
            release=release,
            keys=keys,
            names=names,
            clusters=record.clusters if record else None,
            audit=audit,
            contents=contents,
            mandate=next((item for item in mandates if item.id == audit.mandate_id), None),
            url=self._transport.url,
            prove=lambda: self.proof(audit.id),
        )

    def _content(self, content_id: str) -> Content:
        return self._transport.get(f"/v1/contents/{content_id}", Content)


def _given(said: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in said.items() if value is not None}


def _tell_both(batch: BatchQuote, running: RunOptions) -> None:
    """State the cost of both audits before either is paid; refuse if the mandate covers only
    one.
    """
    prices = " and ".join(
        f"{quote.price.debit} {quote.price.currency} for the {what}"
        for quote, what in zip(batch.quotes, ("bins", "audit"), strict=True)
    )
    if not batch.covered:
        raise InputError(
            f"Both audits cost {prices}, which the mandate does not cover. Nothing was "
            "paid. Ask for less, or give the edges of bins, which cost nothing.",
            case="not-covered",
        )
    tell(f"The audits cost {prices}.", show=running.get("progress", True))


def _for_the_first(running: RunOptions) -> RunOptions:
    """Return options for the first of two audits, with its own idempotency key."""
    key = running.get("idempotency_key")
    return running if key is None else RunOptions(**{**running, "idempotency_key": f"{key}-bins"})


def _repeat(claim: Claim) -> str:
    """Say how to continue a request whose answer was lost."""
    if claim.slot is not None:
        return (
            "The audit may have been charged. Run the same call again: it continues the "
            "audit, which is charged once."
        )
    key = claim.record.key
    return (
        f"The audit may have been charged. Repeat the call with idempotency_key={key!r}: "
        "charged once."
    )
