"""Sign-in of browsers: a one-time code opens a session, and a session identifies its caller.

The database holds digests, so that a reader of the database cannot sign in. A session ends after
`SESSION_LIFETIME`, or when its researcher signs out, is removed, or changes their key.
"""

import secrets
from dataclasses import replace
from datetime import datetime, timedelta
from hashlib import sha256

from sqlalchemy import delete
from sqlmodel import Session, col

from api.db import ConsoleSessionRow, ResearcherRow, SignInCodeRow, Store
from api.identity.caller import Caller, Credential, load_caller
from api.kernel.clock import now
from api.kernel.errors import NotFoundError, UnauthenticatedError
from api.kernel.settings import Settings
from openapi.resources import SignInLink

CODE_LIFETIME = timedelta(minutes=10)
SESSION_LIFETIME = timedelta(hours=10)
_SECRET_BYTES = 32


def make_sign_in_link(store: Store, caller: Caller, settings: Settings) -> SignInLink:
    """Return a link that signs the caller in to the console: it works once."""
    if not settings.console:
        raise NotFoundError("This service has no console.", case="no-console")
    code, until = make_code(store, caller)
    root = settings.issuer.rstrip("/")
    return SignInLink(url=f"{root}/console/sign-in?code={code}", expires_at=until)


def make_code(store: Store, caller: Caller) -> tuple[str, datetime]:
    """Return a sign-in code for an authenticated caller, and its expiry."""
    code, until = secrets.token_urlsafe(_SECRET_BYTES), now() + CODE_LIFETIME
    with store.write() as session:
        row = SignInCodeRow(
            digest=_digest(code), researcher_id=caller.researcher_id, expires_at=until
        )
        session.add(row)
    return code, until


def load_holder(session: Session, code: str) -> Caller:
    """Return the caller whom a code would sign in, without using up the code."""
    row = session.get(SignInCodeRow, _digest(code))
    caller = load_caller(session, row.researcher_id) if row and row.expires_at > now() else None
    if caller is None:
        raise UnauthenticatedError(
            "This link was used before, or is over ten minutes old. Request a new one.",
            case="used-or-old-link",
        )
    return caller


def use_code(store: Store, code: str) -> str:
    """Open the session of a code, which nobody can use again."""
    with store.write() as session:
        caller = load_holder(session, code)
        used = delete(SignInCodeRow).where(col(SignInCodeRow.digest) == _digest(code))
        # Of two concurrent requests, one deletes the row.
        if session.connection().execute(used).rowcount != 1:
            raise UnauthenticatedError("This link was used a moment ago. Request a new one.")
        return open_session(session, caller)


def open_session(session: Session, caller: Caller) -> str:
    """Open a session and return its secret."""
    secret = secrets.token_urlsafe(_SECRET_BYTES)
    holder = session.get_one(ResearcherRow, caller.researcher_id)
    row = ConsoleSessionRow(
        digest=_digest(secret),
        researcher_id=holder.id,
        key_thumbprint=holder.key_thumbprint,
        expires_at=now() + SESSION_LIFETIME,
    )
    session.add(row)
    return secret


def load_session_caller(session: Session, secret: str) -> Caller | None:
    """Return the caller who is signed in by this secret, or None."""
    row = session.get(ConsoleSessionRow, _digest(secret))
    if row is None or row.expires_at <= now():
        return None
    holder = session.get(ResearcherRow, row.researcher_id)
    if holder is None or holder.key_thumbprint != row.key_thumbprint:
        return None
    caller = load_caller(session, row.researcher_id)
    if caller is None:
        return None
    return replace(caller, credential=Credential(row.expires_at, session=row.digest))


def close_session(store: Store, secret: str) -> None:
    with store.write() as session:
        ended = delete(ConsoleSessionRow).where(col(ConsoleSessionRow.digest) == _digest(secret))
        session.execute(ended)


def _digest(secret: str) -> str:
    return sha256(secret.encode()).hexdigest()
