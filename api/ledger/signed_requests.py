"""Requests that their maker signs: two headers become a statement."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends
from pydantic import BaseModel
from sqlmodel import Session

from api.identity.caller import Caller
from api.kernel.errors import IdempotencyConflictError, UnsignedError
from api.ledger import statements
from api.web.dependencies import OriginDep
from api.web.parameters import KeyHeader, SignatureHeader
from privacy.ledger.statements import Statement

REFUSALS = (UnsignedError, IdempotencyConflictError)


@dataclass(frozen=True)
class Signed:
    """What the headers say."""

    key: str
    signature: str
    origin: str

    def statement(
        self, session: Session, caller: Caller, action: str, draft: BaseModel
    ) -> Statement:
        """The caller's statement of this request, verified in the transaction that enacts it."""
        return self._read(statements.key_of(session, caller), caller, action, draft)

    def stated(self, caller: Caller, action: str, draft: BaseModel) -> Statement:
        """The same by the key that let the caller in, before any transaction."""
        return self._read(caller.jwk, caller, action, draft)

    def _read(
        self, jwk: Mapping[str, Any] | None, caller: Caller, action: str, draft: BaseModel
    ) -> Statement:
        return statements.read(jwk, caller, action, draft, self.key, self.signature, self.origin)


async def _signed(key: KeyHeader, signature: SignatureHeader, origin: OriginDep) -> Signed:
    return Signed(key, signature, origin)


SignedDep = Annotated[Signed, Depends(_signed)]
