"""Policy for public keys of researchers and of outside issuers.

[RFC7517] JSON Web Key. [RFC7638] thumbprint. [RFC8037] Ed25519 as a JWK. [RFC9864] its name.
"""

import re
from typing import Any

from joserfc.errors import JoseError
from joserfc.jwk import ECKey, Key, OKPKey, RSAKey
from joserfc.util import base64_to_int

from api.kernel.errors import InvalidRequestError

PRIVATE_MEMBERS = frozenset({"d", "p", "q", "dp", "dq", "qi", "oth", "k"})
# (kty, crv) → the signature algorithms that such a key may be used with
ALGORITHMS: dict[tuple[str, str | None], tuple[str, ...]] = {
    ("OKP", "Ed25519"): ("Ed25519",),
    ("EC", "P-256"): ("ES256",),
    ("EC", "P-384"): ("ES384",),
    ("RSA", None): ("RS256", "PS256"),
}
RSA_BITS = range(2048, 4096 + 1)
RSA_EXPONENTS = range(65537, 2**32)

_MEMBERS = {"OKP": ("crv", "x"), "EC": ("crv", "x", "y"), "RSA": ("n", "e")}
_TEXT = re.compile(r"[A-Za-z0-9_-]{1,1024}")


def validate_public_jwk(jwk: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """Return the key in its canonical form, and its thumbprint; refuse anything unsafe.

    The form is canonical because thumbprints identify keys: one key must not have two of them.
    """
    key = import_public_jwk(jwk)
    return dict(key.as_dict(private=False)), key.thumbprint()


def import_public_jwk(jwk: dict[str, Any]) -> Key:
    _refuse_private(jwk)
    kind = jwk.get("kty")
    if not isinstance(kind, str) or kind not in _MEMBERS:
        raise InvalidRequestError("The key must be of kty OKP (Ed25519), EC or RSA.")
    if jwk.get("use", "sig") != "sig":
        raise InvalidRequestError("The key is not meant for signatures.")
    members = {name: _text(jwk, name) for name in _MEMBERS[kind]}
    if (kind, members.get("crv")) not in ALGORITHMS:
        raise InvalidRequestError("The curve must be Ed25519, P-256 or P-384.")
    try:
        return _canonical({"kty": kind, **members})
    except (JoseError, ValueError) as error:
        raise InvalidRequestError("The key is not a valid public key.") from error


def algorithms_of(key: Key) -> tuple[str, ...]:
    """Return the algorithms that a registered key may sign with: never `none` or a shared
    secret.
    """
    public: dict[str, Any] = dict(key.as_dict(private=False))
    return ALGORITHMS[public["kty"], public.get("crv")]


def _refuse_private(jwk: dict[str, Any]) -> None:
    if jwk.get("kty") == "oct":
        raise InvalidRequestError("A shared secret cannot be registered: send a public key.")
    if PRIVATE_MEMBERS & jwk.keys():
        raise InvalidRequestError(
            "The key has private members. Nothing was stored, but it left your machine: "
            "make a new key and send only the public part.",
            case="private-key",
        )


def _text(jwk: dict[str, Any], name: str) -> str:
    value = jwk.get(name)
    if not isinstance(value, str) or not _TEXT.fullmatch(value):
        raise InvalidRequestError(f"The key's member {name} is missing or is not base64url.")
    return value


def _canonical(jwk: dict[str, str]) -> Key:
    """Return the same key, with its members rewritten from the numbers."""
    if jwk["kty"] == "OKP":
        return OKPKey.import_key(OKPKey.import_key(dict(jwk)).public_key)
    if jwk["kty"] == "EC":
        return ECKey.import_key(ECKey.import_key(dict(jwk)).public_key)
    # Checked before the import, because joserfc only warns of short keys.
    if base64_to_int(jwk["n"]).bit_length() not in RSA_BITS:
        raise InvalidRequestError("An RSA key must have 2048 to 4096 bits.")
    if base64_to_int(jwk["e"]) not in RSA_EXPONENTS:
        raise InvalidRequestError("An RSA key's exponent must be 65537 or a little larger.")
    return RSAKey.import_key(RSAKey.import_key(dict(jwk)).public_key)
