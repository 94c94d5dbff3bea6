"""Keys: the private half never leaves the machine."""

from pathlib import Path

import pytest

from auditor_client.errors import InputError
from auditor_client.kinds.two_party.request import public_bytes
from auditor_client.local.keys import checked_public, load_key, new_key, public_jwk, read_public
from tests.refusals import refuses


def test_a_private_key_is_refused_where_a_public_one_belongs(tmp_path: Path) -> None:
    path = tmp_path / "ada.jwk"
    public = new_key(path)
    with refuses(InputError, "private-key", str(path)):
        read_public(path)
    with refuses(InputError, "private-key"):
        public_bytes(load_key(path).as_dict(private=True))
    assert checked_public(public) == public_jwk(load_key(path))


@pytest.mark.parametrize("jwk", [{"kty": "oct", "k": "AA"}, {"kty": "EC", "d": "AA"}])
def test_no_secret_of_any_type_of_key_passes(jwk: dict[str, str]) -> None:
    with refuses(InputError, "private-key"):
        checked_public(jwk)
