"""Vectors computed with coreutils: printf %s VALUE | sha256sum."""

import pytest

from auditor_client.audiences.identifiers import column_kind, normaliser, wire_kind
from auditor_client.errors import InputError
from tests.refusals import refuses

ADDRESS = "973dfe463ec85785f5f95af5ba3906eedb2d931c24e69824a89ea65dba4e813b"  # test@example.com
PHONE = "f5d25111e6d22d97db3057610016f70c7be6b2ef396598be0f99ea4255e79fff"  # +15550101234


@pytest.mark.parametrize("value", ["test@example.com", " Test@Example.COM\n", "TEST@EXAMPLE.COM"])
def test_email_is_stripped_lowered_and_hashed(value: str) -> None:
    assert normaliser("email")(value) == bytes.fromhex(ADDRESS)


@pytest.mark.parametrize("value", ["test", "@example.com", "test@", "te st@example.com"])
def test_what_is_no_address_is_refused(value: str) -> None:
    with refuses(InputError, "not-an-email"):
        normaliser("email")(value)


@pytest.mark.parametrize("value", ["+15550101234", "+1 (555) 010-1234", "001 555 010 1234"])
def test_phone_becomes_e164_and_is_hashed(value: str) -> None:
    assert normaliser("phone")(value) == bytes.fromhex(PHONE)


@pytest.mark.parametrize("value", ["555 010 1234", "1 555 010 1234", 5550101234])
def test_phone_without_plus_takes_the_country(value: object) -> None:
    assert normaliser("phone", "+1")(value) == bytes.fromhex(PHONE)


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ("@Ada", "ada"),
        ("  ada ", "ada"),
        ("ＡＤＡ", "ada"),
        ("@@ada", "@ada"),
        ("Straße", "strasse"),
    ],
)
def test_username_is_folded(value: str, name: str) -> None:
    assert normaliser("username")(value) == name


@pytest.mark.parametrize("value", ["@", "ada lovelace"])
def test_what_is_no_username_is_refused(value: str) -> None:
    with pytest.raises(InputError):
        normaliser("username")(value)


@pytest.mark.parametrize("value", [ADDRESS, ADDRESS.upper(), bytes.fromhex(ADDRESS)])
def test_a_hash_stays_itself(value: object) -> None:
    assert normaliser("email_sha256")(value) == bytes.fromhex(ADDRESS)


@pytest.mark.parametrize("value", ["test@example.com", ADDRESS[:-1], b"short"])
def test_what_is_no_hash_is_refused(value: object) -> None:
    with pytest.raises(InputError):
        normaliser("phone_sha256")(value)


@pytest.mark.parametrize("kind", ["email", "phone", "username", "email_sha256"])
@pytest.mark.parametrize("value", [None, "", "  ", float("nan")])
def test_nothing_is_nobody(kind: str, value: object) -> None:
    assert normaliser(column_kind(kind))(value) is None


def test_a_number_with_a_fraction_is_no_phone() -> None:
    with refuses(InputError, "fraction"):
        normaliser("phone")(15550101234.0)


@pytest.mark.parametrize(
    ("column", "kind"),
    [("email", "email"), ("E-Mail", "email"), ("Phone", "phone"), ("user name", "username")],
)
def test_the_name_of_a_column_says_its_kind(column: str, kind: str) -> None:
    assert column_kind(column) == kind


def test_an_unclear_column_needs_its_kind() -> None:
    with refuses(InputError, "no-id-kind"):
        column_kind("contact")
    assert column_kind("contact", "email") == "email"


def test_addresses_and_numbers_leave_as_hashes_only() -> None:
    kinds = [wire_kind(column_kind(name)) for name in ("email", "phone", "username")]
    assert kinds == ["email_sha256", "phone_sha256", "username"]
