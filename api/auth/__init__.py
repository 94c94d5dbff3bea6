"""Who is calling, and how they prove it.

Routes import their dependencies from `api.auth.access`.
"""

from api.auth.caller import Authenticator, Caller
from api.auth.composition import Auth, build_auth
from api.auth.expiry import forget_expired
from api.auth.keys import SigningKeys
from api.auth.registration import validate_public_jwk

__all__ = [
    "Auth",
    "Authenticator",
    "Caller",
    "SigningKeys",
    "build_auth",
    "forget_expired",
    "validate_public_jwk",
]
