"""Addresses of the OAuth endpoints, and their metadata.

[RFC8414] authorisation server metadata.
"""

from typing import Any, get_args
from urllib.parse import urlsplit

from api.identity.key_policy import ALGORITHMS
from openapi.resources import Role

TOKEN_PATH = "/oauth/token"  # noqa: S105
REVOCATION_PATH = "/oauth/revoke"
JWKS_PATH = "/.well-known/jwks.json"
METADATA_PATH = "/.well-known/oauth-authorization-server"

AUTH_METHOD = "private_key_jwt"
GRANT = "client_credentials"
SCOPES: tuple[str, ...] = get_args(Role)
SIGNING_ALGORITHMS = tuple(name for names in ALGORITHMS.values() for name in names)


def metadata(issuer: str) -> dict[str, Any]:
    root = issuer.rstrip("/")
    return {
        "issuer": issuer,
        "token_endpoint": root + TOKEN_PATH,
        "token_endpoint_auth_methods_supported": [AUTH_METHOD],
        "token_endpoint_auth_signing_alg_values_supported": list(SIGNING_ALGORITHMS),
        "revocation_endpoint": root + REVOCATION_PATH,
        "revocation_endpoint_auth_methods_supported": [AUTH_METHOD],
        "revocation_endpoint_auth_signing_alg_values_supported": list(SIGNING_ALGORITHMS),
        "jwks_uri": root + JWKS_PATH,
        "grant_types_supported": [GRANT],
        "scopes_supported": list(SCOPES),
        # Required by [RFC8414, §2] although there is no authorisation endpoint to use one at.
        "response_types_supported": [],
    }


def require_https(url: str, what: str) -> None:
    """Raise for a plain http URL that is not on this machine, where tokens could be read."""
    parts = urlsplit(url)
    if parts.scheme == "https" and parts.hostname:
        return
    if parts.scheme == "http" and parts.hostname in {"localhost", "127.0.0.1", "::1"}:
        return
    raise ValueError(f"{what} must be an https URL, or http on a loopback address: {url}")
