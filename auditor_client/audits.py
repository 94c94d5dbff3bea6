"""Audits: price, run, wait, and read again later."""

import secrets
from collections.abc import Callable
from typing import Any, Unpack

from auditor_client.audiences import NamedAudience
from auditor_client.errors import ConnectionBrokenError
from auditor_client.finished import FinishedAudit
from auditor_client.following import follow
from auditor_client.receipts import hold_to, verify_release
from auditor_client.records import load_record
from auditor_client.requests import Options, audit_request
from auditor_client.transport import Transport
from openapi.models import Audit, AuditRequest, Budget, Catalogue, Content, Quote

PATH = "/v1/audits"


class Audits:
    """The audits of this auditor."""

    def __init__(self, transport: Transport, keys: Callable[[], dict[str, Any]]) -> None:
        self._transport = transport
        self._keys = keys

    def run(
        self,
        content: Content | str,
        audience: NamedAudience | str,
        *,
        idempotency_key: str | None = None,
        progress: bool = True,
        **options: Unpack[Options],
    ) -> FinishedAudit:
        """Pay for an audit, wait for its release, and verify its receipt.

        `options` are `bins=100` (a number, or edges), `levels=`, `epsilon=1`, `size_epsilon=`,
        `context=` and `mandate_id=`: see `auditor_client.requests.Options`. To repeat a run that
        was interrupted without paying again, give the `idempotency_key` it had.
        """
        request = self.request(content, audience, **options)
        audit = self.submit(request, idempotency_key)
        return self.wait(audit.id, progress=progress)

    def price(
        self, content: Content | str, audience: NamedAudience | str, **options: Unpack[Options]
    ) -> Quote:
        """What such an audit would cost, how large its error would be; asking spends nothing."""
        request = self.request(content, audience, **options)
        return self._transport.post(f"{PATH}/price", request, Quote, again=True)

    def request(
        self, content: Content | str, audience: NamedAudience | str, **options: Unpack[Options]
    ) -> AuditRequest:
        """The request that `run` would submit."""
        scores = self._transport.get("/v1/catalogue", Catalogue).score_range
        return audit_request(content, audience, scores, options)

    def submit(self, request: AuditRequest, idempotency_key: str | None = None) -> Audit:
        """Pay for an audit and return at once. The same key never pays twice."""
        key = idempotency_key or secrets.token_urlsafe(24)
        headers = {"idempotency-key": key}
        try:
            return self._transport.post(PATH, request, Audit, again=True, headers=headers)
        except ConnectionBrokenError as error:
            error.add_note(f"It may be paid for. Repeat it with idempotency_key={key!r}: no cost.")
            raise

    def wait(self, audit_id: str, *, progress: bool = True) -> FinishedAudit:
        """The finished audit, as soon as it is released."""
        return self._finished(follow(self._transport, audit_id, progress=progress))

    def get(self, audit_id: str) -> FinishedAudit:
        """An audit that is released; `NotReleasedError` until then."""
        return self._finished(self.state(audit_id))

    def state(self, audit_id: str) -> Audit:
        """How far an audit is."""
        return self._transport.get(f"{PATH}/{audit_id}", Audit)

    def cancel(self, audit_id: str) -> Audit:
        """Cancel and refund an audit that has not read anything yet."""
        return self._transport.post(f"{PATH}/{audit_id}/cancel", None, Audit)

    def list(self) -> list[Audit]:
        """All audits of this auditor."""
        return list(self._transport.items(PATH, Audit))

    def _finished(self, audit: Audit) -> FinishedAudit:
        keys = self._keys()
        stored = self._transport.send("GET", f"{PATH}/{audit.id}/release").content
        content = self._transport.get(f"/v1/contents/{audit.request.content_id}", Content)
        record = load_record(audit.request.audience_id)
        release = verify_release(stored, keys)
        hold_to(release, audit, content, record.commitment if record else None)
        mandates = self._transport.get("/v1/budget", Budget).mandates
        return FinishedAudit(
            release=release,
            keys=keys,
            names=record.names if record else {},
            audit=audit,
            content=content,
            mandate=next((item for item in mandates if item.id == audit.mandate_id), None),
            url=self._transport.url,
        )
