"""The parts of authentication of one deployment, put together once."""

from dataclasses import dataclass

from api.auth.caller import Authenticator
from api.auth.keys import SigningKeys
from api.auth.outside import OutsideTokens
from api.auth.server import TokenServer
from api.auth.tokens import OwnTokens
from api.settings import Settings
from api.store import Store


@dataclass(frozen=True)
class Auth:
    """`server` is None when tokens of an outside issuer are accepted instead of our own."""

    keys: SigningKeys
    authenticator: Authenticator
    server: TokenServer | None


def build_auth(store: Store, settings: Settings) -> Auth:
    """Our own tokens, or an outside issuer's: one of the two, never both."""
    keys = SigningKeys(store, settings)
    if settings.outside_issuer:
        return Auth(keys, OutsideTokens(store, settings.outside_issuer), server=None)
    tokens = OwnTokens(store, keys, settings.issuer)
    return Auth(keys, tokens, TokenServer(store, tokens, settings.issuer))
