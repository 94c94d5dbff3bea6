"""Requests that their maker signs: two headers become a statement."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends
from pydantic import BaseModel
from sqlmodel import Session

from api.auth.caller import Caller
from api.errors import IdempotencyConflictError, UnsignedError
from api.ledger import statements
from api.routes.parameters import KeyHeader, SignatureHeader
from api.service import ServiceDep
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
        """The caller's statement of this request, verified."""
        return statements.read(
            session, caller, action, draft, self.key, self.signature, self.origin
        )


async def _signed(key: KeyHeader, signature: SignatureHeader, service: ServiceDep) -> Signed:
    return Signed(key, signature, service.origin)


SignedDep = Annotated[Signed, Depends(_signed)]
