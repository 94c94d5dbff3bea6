"""Statements for tests that do without the SDK, signed as it signs them."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from joserfc.jwk import OKPKey
from pydantic import BaseModel

from privacy.ledger import statements
from privacy.ledger.statements import Statement

ORIGIN = "127.0.0.1:9/v1/ledger"
# Nobody's signature, though it has the form of one: whatever is wrong besides is found first.
A_FORM = "eyJ9..AAAA"


def new_key() -> OKPKey:
    return OKPKey.generate_key("Ed25519")


@dataclass(frozen=True)
class Maker:
    """Somebody who signs."""

    by: str
    key: OKPKey = field(default_factory=new_key)
    origin: str = ORIGIN
    at: float | None = None

    def states(
        self, action: str, body: BaseModel | Mapping[str, Any], once: str | None = None
    ) -> Statement:
        """The statement of this request; `once` is its idempotency key."""
        sent = body.model_dump(mode="json") if isinstance(body, BaseModel) else body
        stated = (
            statements.condense_request(sent)
            if action == "charge"
            else statements.state_request(sent)
        )
        return self.signed(action, stated, once or secrets.token_hex(8))

    def signed(self, action: str, stated: Mapping[str, Any], once: str) -> Statement:
        """These words, signed."""
        signed = statements.payload(self.origin, action, self.by, once, stated)
        signature = statements.sign(signed, self.key, at=self.at)
        return Statement(action, self.by, once, stated, signature)


def headers(statement: Statement) -> dict[str, str]:
    return {"Idempotency-Key": statement.key, "Statement-Signature": statement.signature}
