"""The researcher's Ed25519 key: made and kept on this machine; only its public half is sent."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from joserfc.errors import JoseError
from joserfc.jwk import OKPKey

from auditor_client.errors import InputError, ProfileError
from auditor_client.local.private_files import refuse_shared, write_private

# Members of a JWK that only its holder may have.
PRIVATE_MEMBERS = frozenset({"d", "p", "q", "dp", "dq", "qi", "oth", "k"})
KeySource = OKPKey | Mapping[str, Any] | str | Path


def new_key(path: str | Path) -> dict[str, Any]:
    """Make a private key, write it to a new file of mode 0600, and return the public JWK.

    A regulator registers the public JWK for you.
    """
    path = Path(path)
    if path.exists():
        raise ProfileError(
            f"{path} already exists. A key is never overwritten. Choose another file.",
            case="key-exists",
        )
    key = OKPKey.generate_key("Ed25519")
    write_private(path, json.dumps(key.as_dict(private=True)) + "\n")
    return public_jwk(key)


def public_jwk(key: OKPKey) -> dict[str, Any]:
    return {**key.as_dict(private=False), "kid": key.thumbprint()}


def read_public(path: Path) -> dict[str, Any]:
    """Return the public JWK in a file."""
    try:
        jwk = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise InputError(f"{path} is not a JWK.") from error
    if not isinstance(jwk, dict):
        raise InputError(f"{path} is not a JWK.")
    return checked_public(jwk, str(path))


def checked_public(jwk: Mapping[str, Any], name: str = "The key") -> dict[str, Any]:
    """Return a JWK without secrets; refuse a private key before it leaves this machine."""
    if jwk.get("kty") == "oct" or PRIVATE_MEMBERS & jwk.keys():
        raise InputError(
            f"{name} is a private key, but a public key is needed. Nothing was sent. Give "
            "the output of `auditor key public FILE`.",
            case="private-key",
        )
    return dict(jwk)


def plain_jwk(key: OKPKey) -> dict[str, str]:
    """Return only the public half, as applications and key changes state it."""
    public = key.as_dict(private=False)
    return {name: str(public[name]) for name in ("kty", "crv", "x")}


def load_key(source: KeySource) -> OKPKey:
    """Return a private key from a key, a JWK or the path of a JWK file."""
    if isinstance(source, str | Path):
        source = _read(Path(source))
    try:
        key = source if isinstance(source, OKPKey) else OKPKey.import_key(dict(source))
    except (JoseError, KeyError, TypeError, ValueError) as error:
        raise ProfileError("This is not a JWK. Make one with: auditor key new FILE") from error
    if not key.is_private or key.curve_name != "Ed25519":
        raise ProfileError("A private Ed25519 key is needed. Make one with: auditor key new FILE")
    return key


def _read(path: Path) -> dict[str, Any]:
    try:
        refuse_shared(path)
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ProfileError(
            f"There is no key file {path}. Make one: auditor key new", case="no-key-file"
        ) from error
    except (OSError, ValueError) as error:
        raise ProfileError(f"The key file {path} cannot be read: {error}") from error
    if not isinstance(content, dict):
        raise ProfileError(f"The key file {path} is not a JWK.", case="not-a-jwk")
    return content
