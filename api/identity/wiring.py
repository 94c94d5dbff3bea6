"""The parts of authentication of one deployment, put together once."""

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
    """`server` is None when tokens of an outside issuer are accepted instead of our own."""

    keys: SigningKeys
    authenticator: Authenticator
    server: TokenServer | None


def build_auth(store: Store, settings: Settings, log: KeyLog) -> Auth:
    """Our own tokens, or an outside issuer's: one of the two, never both."""
    keys = SigningKeys(store, settings, log)
    if settings.outside_issuer:
        return Auth(keys, OutsideTokens(store, settings.outside_issuer), server=None)
    tokens = OwnTokens(store, keys, settings.issuer)
    return Auth(keys, tokens, TokenServer(store, tokens, settings.issuer))
