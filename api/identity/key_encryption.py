"""Encryption of stored private keys: JWE (dir, A256GCM) under the operator's key.

[RFC7516] JWE. [RFC7518] §4.5 direct encryption, §5.3 AES-GCM.
"""

import json

from joserfc import jwe
from joserfc.errors import JoseError
from joserfc.jwk import OctKey, OKPKey
from joserfc.util import urlsafe_b64decode
from pydantic import SecretStr

from api.kernel.errors import UnavailableError

ALGORITHMS = ("dir", "A256GCM")


class KeyCipher:
    """Cipher that seals and opens private keys; the operator's key stays in memory."""

    def __init__(self, secret: SecretStr) -> None:
        self._key = OctKey.import_key(decode(secret))

    def close(self, key: OKPKey) -> str:
        text = json.dumps(key.as_dict(private=True))
        return jwe.encrypt_compact({"alg": "dir", "enc": "A256GCM"}, text, self._key, ALGORITHMS)

    def open(self, sealed: str, kid: str) -> OKPKey:
        """Return the private key of this kid.

        Raise if it was sealed under another operator's key.
        """
        try:
            plain = jwe.decrypt_compact(sealed, self._key, ALGORITHMS).plaintext or b""
            key = OKPKey.import_key(json.loads(plain))
        except (JoseError, ValueError) as error:
            raise UnavailableError(
                "The service cannot open its signing keys.", case="sealed-keys"
            ) from error
        if key.thumbprint() != kid:
            raise UnavailableError("The service cannot open its signing keys.", case="sealed-keys")
        return key


def decode(secret: SecretStr) -> bytes:
    """Return the bytes of the operator's key."""
    try:
        raw = urlsafe_b64decode(secret.get_secret_value().rstrip("=").encode())
    except ValueError:
        raw = b""
    if len(raw) != 32:
        raise ValueError("key_encryption_key must be 32 bytes in base64url")
    return raw
