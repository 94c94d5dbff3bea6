"""Both ends show a certificate."""

import ssl
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from api.platforms.fault_isolation import PlatformDownError
from api.platforms.http import HttpPlatform, served
from api.platforms.interfaces import Platform
from tests.api.platforms.http.adapters import IMPATIENT, connected, hosted


@pytest.fixture(scope="module")
def papers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An authority, and what it gave to either end; and a stranger's."""
    folder = tmp_path_factory.mktemp("papers")
    for authority, holders in {"ours": ("adapter", "service"), "other": ("stranger",)}.items():
        key = ec.generate_private_key(ec.SECP256R1())
        _write(folder, authority, _certificate(authority, key, authority, key), key)
        for holder in holders:
            own = ec.generate_private_key(ec.SECP256R1())
            _write(folder, holder, _certificate(holder, own, authority, key), own)
    return folder


def _certificate(
    subject: str,
    key: ec.EllipticCurvePrivateKey,
    issuer: str,
    signer: ec.EllipticCurvePrivateKey,
) -> x509.Certificate:
    names = [x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, n)]) for n in (subject, issuer)]
    now = datetime.now(UTC)
    usage = x509.KeyUsage(True, False, False, False, False, True, True, False, False)
    return (
        x509.CertificateBuilder()
        .subject_name(names[0])
        .issuer_name(names[1])
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=subject == issuer, path_length=None), True)
        .add_extension(usage, True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), False
        )
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(IPv4Address("127.0.0.1"))]), False
        )
        .sign(signer, hashes.SHA256())
    )


def _write(
    folder: Path, name: str, certificate: x509.Certificate, key: ec.EllipticCurvePrivateKey
) -> None:
    pem = serialization.Encoding.PEM
    (folder / f"{name}.pem").write_bytes(certificate.public_bytes(pem))
    plain = serialization.NoEncryption()
    form = serialization.PrivateFormat.PKCS8
    (folder / f"{name}.key").write_bytes(key.private_bytes(pem, form, plain))


@pytest.fixture(scope="module")
def url(platform: Platform, papers: Path) -> Iterator[str]:
    options = {
        "ssl_certfile": papers / "adapter.pem",
        "ssl_keyfile": papers / "adapter.key",
        "ssl_ca_certs": papers / "ours.pem",
        "ssl_cert_reqs": ssl.CERT_REQUIRED,
    }
    with hosted(served(platform), **options) as url:
        yield url.replace("http://", "https://")


def shown(papers: Path, holder: str, authority: str) -> dict[str, Any]:
    return {
        "certificate": papers / f"{holder}.pem",
        "certificate_key": papers / f"{holder}.key",
        "authority": papers / f"{authority}.pem",
    }


def test_with_the_right_papers_it_is_reached(url: str, papers: Path, platform: Platform) -> None:
    with connected(url, **shown(papers, "service", "ours")) as far:
        assert far.name == platform.name


@pytest.mark.parametrize(
    ("holder", "authority"), [("stranger", "ours"), ("service", "other"), (None, "ours")]
)
def test_with_others_it_is_not(url: str, papers: Path, holder: str | None, authority: str) -> None:
    options = shown(papers, holder or "service", authority)
    if holder is None:
        options = {"authority": options["authority"]}
    with pytest.raises(PlatformDownError):
        HttpPlatform.at(url, **options, **IMPATIENT)
