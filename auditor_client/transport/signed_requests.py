"""Signed requests: each carries its maker's own signature into the ledger."""

import secrets
import time
from threading import Lock

from joserfc.jwk import OKPKey
from pydantic import BaseModel

from auditor_client.transport.http_client import Model, Transport
from openapi.resources import LedgerKeys
from privacy.ledger import statements


class Statements:
    """Sender of requests that their maker signs; each names the previously signed one."""

    def __init__(self, transport: Transport, public: Transport, maker: str, key: OKPKey) -> None:
        self.transport = transport
        self._public = public
        self._maker = maker
        self._key = key
        self._origin: str | None = None
        self._lock = Lock()
        self._signed_last: str | None = None

    def use(self, key: OKPKey) -> None:
        """Sign with this key from now on."""
        self._key = key

    def post(
        self,
        path: str,
        action: str,
        body: BaseModel,
        model: type[Model],
        *,
        key: str | None = None,
        retry_idempotently: bool = False,
    ) -> Model:
        """Sign and send a request, and read the answer. One `key` identifies one intended
        action.
        """
        headers = self.headers(action, body, key or secrets.token_urlsafe(24))
        return self.transport.post(
            path, body, model, retry_idempotently=retry_idempotently, headers=headers
        )

    def headers(
        self, action: str, body: BaseModel, key: str, signature: str | None = None
    ) -> dict[str, str]:
        """Return the headers that make a request a statement of its maker.

        `signature` is an earlier signature of the same statement, which is sent again while it is
        valid.
        """
        if signature is None or not self._is_good(signature):
            signature = self._sign(action, body, key)
        return {"idempotency-key": key, "statement-signature": signature}

    def _is_good(self, signature: str) -> bool:
        """Return whether the service still accepts it: made recently, by the current key."""
        head = statements.parse_header(signature)
        age = time.time() - head.iat
        return head.kid == self._key.thumbprint() and 0 <= age < statements.FRESH / 2

    def _sign(self, action: str, body: BaseModel, key: str) -> str:
        sent = body.model_dump(mode="json")
        stated = (
            statements.condense_request(sent)
            if action == "charge"
            else statements.state_request(sent)
        )
        signed = statements.payload(self.origin(), action, self._maker, key, stated)
        with self._lock:
            signature = statements.sign(signed, self._key, after=self._signed_last)
            self._signed_last = statements.digest_statement(signature, signed)
        return signature

    def origin(self) -> str:
        """Return the name of the service's ledger; a statement is for one platform."""
        if self._origin is None:
            self._origin = self._public.get("/v1/ledger/keys", LedgerKeys).origin
        return self._origin
