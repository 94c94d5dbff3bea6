"""Signed requests: the dependency that reads the key and the signature from the two headers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends
from joserfc.jwk import Key
from pydantic import BaseModel
from sqlmodel import Session

from api.db import ResearcherRow, find
from api.identity.caller import Caller
from api.identity.key_policy import algorithms_of, import_public_jwk
from api.kernel.clock import now
from api.kernel.errors import IdempotencyConflictError, UnsignedError
from api.web.dependencies import OriginDep
from api.web.parameters import KeyHeader, SignatureHeader
from privacy.errors import StatementError
from privacy.ledger import statements
from privacy.ledger.statements import Statement, StatementHeader

REFUSALS = (UnsignedError, IdempotencyConflictError)


@dataclass(frozen=True)
class SignedRequest:
    """Idempotency key and signature of a request, for the ledger `origin`."""

    key: str
    signature: str
    origin: str

    def statement(
        self, session: Session, caller: Caller, action: str, draft: BaseModel
    ) -> Statement:
        """Return the caller's statement, verified in the transaction that enacts it."""
        return self._read(load_key(session, caller), caller, action, draft)

    def stated(self, caller: Caller, action: str, draft: BaseModel) -> Statement:
        """Return the statement, verified before any transaction with the key of the
        authentication.
        """
        return self._read(caller.jwk, caller, action, draft)

    def _read(
        self, jwk: Mapping[str, Any] | None, caller: Caller, action: str, draft: BaseModel
    ) -> Statement:
        return read(jwk, caller, action, draft, self.key, self.signature, self.origin)


async def _signed(key: KeyHeader, signature: SignatureHeader, origin: OriginDep) -> SignedRequest:
    return SignedRequest(key, signature, origin)


SignedDep = Annotated[SignedRequest, Depends(_signed)]


def load_key(session: Session, caller: Caller) -> Mapping[str, Any] | None:
    """Return the key that is registered for the caller, as this transaction sees it."""
    row = find(session, ResearcherRow, id=caller.researcher_id)
    return row.jwk if row else None


def read(
    jwk: Mapping[str, Any] | None,
    caller: Caller,
    action: str,
    draft: BaseModel,
    key: str,
    signature: str,
    origin: str,
) -> Statement:
    """Return the statement that the caller makes with this request, if this key signed it."""
    if jwk is None:
        raise UnsignedError("You have no registered key. Ask your regulator to register one.")
    body = draft.model_dump(mode="json")
    stated = statements.condense_request(body) if action == "charge" else stated_body(body)
    maker = import_public_jwk(dict(jwk))
    return check(Statement(action, caller.researcher_id, key, stated, signature), maker, origin)


def check(statement: Statement, maker: Key, origin: str) -> Statement:
    try:
        signed = statements.payload(
            origin, statement.action, statement.by, statement.key, statement.body
        )
        statements.verify(statement.signature, signed, maker, list(algorithms_of(maker)))
        made = statements.parse_header(statement.signature)
        _check_named(made, maker)
        statements.check_fresh(made, now().timestamp(), statements.CLOCK_SKEW)
    except (StatementError, ValueError) as error:  # what has no canonical form is not signed
        raise UnsignedError(
            f"{_sentence(error)} Nothing was done."
            " Sign the whole request with your registered key, as docs/reference/ledger.md says."
        ) from error
    return statement


def _check_named(made: StatementHeader, maker: Key) -> None:
    """Check the key's name, by which it is recognised when the entry is written."""
    if made.kid != maker.thumbprint():
        raise StatementError("the signature names another key than the one that made it")


def stated_body(body: Mapping[str, Any]) -> dict[str, Any]:
    try:
        return statements.state_request(body)
    except StatementError as error:
        raise UnsignedError(f"{_sentence(error)} Nothing was done.") from error


def _sentence(error: Exception) -> str:
    text = str(error).rstrip(".")
    return f"{text[:1].upper()}{text[1:]}."
