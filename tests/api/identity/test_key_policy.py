"""Keys that may be registered, and those that may not."""

from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from joserfc.jwk import ECKey, OctKey, OKPKey
from joserfc.util import int_to_base64, urlsafe_b64decode

from api.identity import validate_public_jwk
from api.kernel.errors import InvalidRequestError
from tests.api.identity.people import KeyName, make_key
from tests.refusals import refuses


@pytest.mark.parametrize("name", ["Ed25519", "ES256", "ES384", "RS256"])
def test_good_keys_are_taken_in_their_plain_form(name: KeyName) -> None:
    key = make_key(name)
    dressed = key.as_dict(private=False) | {"kid": "mine", "use": "sig", "x5u": "https://x.example"}
    clean, thumbprint = validate_public_jwk(dressed)
    assert thumbprint == key.thumbprint()
    assert clean.keys() <= {"kty", "crv", "x", "y", "n", "e"}
    assert validate_public_jwk(clean) == (clean, thumbprint)


@pytest.mark.parametrize("name", ["Ed25519", "ES256", "RS256"])
def test_private_keys_are_refused(name: KeyName) -> None:
    jwk = dict(make_key(name).as_dict(private=True))
    with refuses(InvalidRequestError, "private-key") as caught:
        validate_public_jwk(jwk)
    assert str(jwk["d"]) not in str(caught.value)


def test_one_key_has_one_thumbprint() -> None:
    jwk = make_key("RS256").as_dict(private=False)
    number = int.from_bytes(_decode(str(jwk["n"])), "big")
    padded = dict(jwk) | {"n": int_to_base64(number, 300)}
    assert validate_public_jwk(padded) == validate_public_jwk(dict(jwk))


@pytest.mark.parametrize(
    "jwk",
    [
        {},
        {"kty": None},
        {"kty": ["OKP"]},
        {"kty": "OKP"},
        {"kty": "OKP", "crv": "Ed25519", "x": 5},
        {"kty": "OKP", "crv": "Ed25519", "x": "AAAA"},
        {"kty": "OKP", "crv": "Ed25519", "x": "A" * 43 + "="},
        {"kty": "EC", "crv": "P-256", "x": "AAAA", "y": "AAAA"},
        {"kty": "EC", "crv": "Ed25519", "x": "A" * 43, "y": "A" * 43},
        {"kty": "RSA", "n": "AQAB", "e": "AQAB"},
        {"kty": "RSA", "n": "A", "e": "A"},
        dict(OctKey.generate_key(256).as_dict()),
        dict(OKPKey.generate_key("X25519").as_dict(private=False)),
        dict(OKPKey.generate_key("Ed448").as_dict(private=False)),
        dict(ECKey.generate_key("P-521").as_dict(private=False)),
        dict(ECKey.generate_key("secp256k1").as_dict(private=False)),
        dict(ECKey.generate_key("P-256").as_dict(private=False)) | {"use": "enc"},
    ],
)
def test_bad_keys_are_refused(jwk: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequestError):
        validate_public_jwk(jwk)


@pytest.mark.parametrize(("bits", "exponent"), [(1024, 65537), (2048, 3)])
def test_weak_rsa_keys_are_refused(bits: int, exponent: int) -> None:
    numbers = rsa.generate_private_key(exponent, bits).public_key().public_numbers()
    jwk = {"kty": "RSA", "n": int_to_base64(numbers.n), "e": int_to_base64(numbers.e)}
    with pytest.raises(InvalidRequestError, match="RSA"):
        validate_public_jwk(jwk)


def _decode(text: str) -> bytes:
    return urlsafe_b64decode(text.encode())
