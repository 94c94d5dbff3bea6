"""Identity: callers, the proof of who they are, and sessions.

Routes import their dependencies from `api.identity.roles`.
"""

from api.identity.caller import Authenticator, Caller
from api.identity.cleanup import forget_expired
from api.identity.key_policy import validate_public_jwk
from api.identity.signing_keys import SigningKeys
from api.identity.wiring import Auth, build_auth

__all__ = [
    "Auth",
    "Authenticator",
    "Caller",
    "SigningKeys",
    "build_auth",
    "forget_expired",
    "validate_public_jwk",
]
