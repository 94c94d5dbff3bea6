"""Wiring of authentication: the parts of one deployment."""

from dataclasses import dataclass

from api.db import Store
from api.identity.access_tokens import OwnTokens
from api.identity.authorization_server import TokenServer
from api.identity.caller import Authenticator
from api.identity.external_issuer.tokens import OutsideTokens
from api.identity.signing_keys import KeyLog, SigningKeys
from api.kernel.settings import Settings


@dataclass(frozen=True)
class Auth:
    """Parts of authentication; `server` is None if tokens of an outside issuer are accepted."""

    keys: SigningKeys
    authenticator: Authenticator
    server: TokenServer | None


def build_auth(store: Store, settings: Settings, log: KeyLog) -> Auth:
    """Return the parts for our own tokens, or for an outside issuer's: never for both."""
    keys = SigningKeys(store, settings, log)
    if settings.outside_issuer:
        return Auth(keys, OutsideTokens(store, settings.outside_issuer), server=None)
    tokens = OwnTokens(store, keys, settings.issuer)
    return Auth(keys, tokens, TokenServer(store, tokens, settings.issuer))
