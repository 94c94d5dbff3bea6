"""Allowed addresses of webhooks: every known way to reach a private host is closed."""

import socket
from typing import Any

import pytest

from api.webhooks.addresses import AddressError, Target, is_public, parse, refuse_private, resolve
from tests.refusals import refuses


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "127.255.255.254",
        "0.0.0.0",
        "10.1.2.3",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",  # metadata of clouds
        "100.64.0.1",
        "192.0.0.1",
        "198.18.0.1",
        "203.0.113.7",
        "224.0.0.1",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::ffff:127.0.0.1",
        "::ffff:10.0.0.1",
        "::127.0.0.1",
        "64:ff9b::7f00:1",
        "64:ff9b:1::a00:1",
        "2002:7f00:1::",  # 6to4 of 127.0.0.1
        "2002:0a00:0001::1",
        "2001:0:4136:e378:8000:63bf:3fff:fdd2",  # Teredo
        "fc00::1",
        "fd12:3456::1",
        "fe80::1",
        "fe80::1%eth0",
        "ff02::1",
        "2001:db8::1",
        "168.63.129.16",  # platform services of Azure
        "::ffff:168.63.129.16",
        "192.0.0.192",
        "192.88.99.1",
        "fec0::1",
        "3fff::1",
        "5f00::1",
        "100::1",
        "192.31.196.1",
        "192.52.193.1",
        "192.175.48.1",
        "2620:4f:8000::1",
        "2606:4700::5efe:7f00:1",  # ISATAP of 127.0.0.1
        "2606:4700::200:5efe:a00:1",
        "not an address",
    ],
)
def test_private_and_odd_addresses_are_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize(
    "address",
    ["93.184.216.34", "1.1.1.1", "2606:4700::1111", "::ffff:8.8.8.8", "2002:808:808::1"],
)
def test_public_addresses_are(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    ("url", "target"),
    [
        ("https://a.example/hook", Target(True, "a.example", 443, "/hook")),
        ("https://a.example", Target(True, "a.example", 443, "/")),
        ("https://a.example:8443/h?x=1", Target(True, "a.example", 8443, "/h?x=1")),
        ("https://[2606:4700::1111]/h", Target(True, "2606:4700::1111", 443, "/h")),
    ],
)
def test_a_url_has_parts(url: str, target: Target) -> None:
    assert parse(url) == target


@pytest.mark.parametrize("port", [22, 25, 80, 444, 5432, 6379, 8080])
def test_only_ports_of_https_are_reached(port: int) -> None:
    with pytest.raises(AddressError):
        parse(f"https://a.example:{port}/hook")
    assert parse(f"http://127.0.0.1:{port}/hook", private=True).port == port


def test_the_host_header_is_what_the_url_says() -> None:
    assert parse("https://a.example/x").authority == "a.example"
    assert parse("https://a.example:8443/x").authority == "a.example:8443"
    assert parse("https://[2606:4700::1111]:8443/x").authority == "[2606:4700::1111]:8443"


@pytest.mark.parametrize(
    "url",
    [
        "http://a.example/",
        "ftp://a.example/",
        "https:///path",
        "https://",
        "https://user@a.example/",
        "https://user:secret@a.example/",
        "https://a.example/#fragment",
        "https://a.example:0/",
        "https://a.example:99999/",
        "https://a.example:port/",
        "https://a.exa mple/",
        "https://a.example/\r\nHost: b.example",
        "https://a.example/\x00",
        "https://ä.example/",
        "https://[::1/",
        "https://a%2eexample/",
        "https://a.example\\@b.example/",
    ],
)
def test_urls_that_are_not_spoken_to(url: str) -> None:
    with pytest.raises(AddressError):
        parse(url)


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "LOCALHOST.",
        "printer",
        "db.internal",
        "a.localhost",
        "nas.local",
        "127.0.0.1",
        "127.1",
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "127.0.0.1.",
        "010.0.0.1",
        "8.8.2056",
        "1.1.1.1.1",
        "a.example.0x7f",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "169.254.169.254",
    ],
)
def test_what_is_private_as_it_is_written_is_refused_at_once(host: str) -> None:
    with refuses(AddressError, "not-public"):
        refuse_private(parse(f"https://{host}/hook"))


@pytest.mark.parametrize("host", ["1.1.1.1", "1.1.1.1.", "[2606:4700::1111]", "4.example", "a.4b"])
def test_what_is_public_as_it_is_written_is_allowed(host: str) -> None:
    refuse_private(parse(f"https://{host}/hook"))


def test_a_name_is_not_looked_up_before_it_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    real = socket.getaddrinfo

    def watching(*args: Any, **options: Any) -> Any:
        asked.append(options.get("flags", 0))
        return real(*args, **options)

    monkeypatch.setattr(socket, "getaddrinfo", watching)
    refuse_private(parse("https://hooks.example.org/x"))
    assert asked == [socket.AI_NUMERICHOST]


def answers(monkeypatch: pytest.MonkeyPatch, *found: str) -> None:
    """As if a name server had answered so."""
    infos = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 443)) for address in found]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: infos)


def test_every_address_of_a_name_must_be_public(monkeypatch: pytest.MonkeyPatch) -> None:
    target = parse("https://hooks.example.org/")
    answers(monkeypatch, "93.184.216.34", "1.1.1.1")
    assert resolve(target) == "93.184.216.34"
    for private in ("127.0.0.1", "::ffff:10.0.0.1", "fe80::1%2"):
        answers(monkeypatch, "93.184.216.34", private)
        with refuses(AddressError, "not-public"):
            resolve(target)


def test_tests_may_reach_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    answers(monkeypatch, "127.0.0.1")
    target = parse("http://hooks.example.org:81/", private=True)
    assert resolve(target, private=True) == "127.0.0.1"
