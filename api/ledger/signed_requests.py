"""Signed requests: the dependency that reads the key and the signature from the two headers."""

from typing import Annotated

from fastapi import Depends

from api.kernel.errors import IdempotencyConflictError, UnsignedError
from api.ledger.statements import SignedRequest
from api.web.dependencies import OriginDep
from api.web.parameters import KeyHeader, SignatureHeader

REFUSALS = (UnsignedError, IdempotencyConflictError)


async def _signed(key: KeyHeader, signature: SignatureHeader, origin: OriginDep) -> SignedRequest:
    return SignedRequest(key, signature, origin)


SignedDep = Annotated[SignedRequest, Depends(_signed)]
