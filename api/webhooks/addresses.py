"""Addresses of webhooks: on the public internet, over TLS, and nowhere else.

A name is resolved once, all its addresses must be public, and the connection is made to the checked
address. So a name that resolves differently the second time gains nothing.
"""

import ipaddress
import re
import socket
from dataclasses import dataclass
from urllib.parse import urlsplit

IpAddress = ipaddress.IPv4Address | ipaddress.IPv6Address

_HOST = re.compile(r"[A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\]")
_PRIVATE_NAMES = (".localhost", ".local", ".internal", ".home.arpa")
_PRINTABLE = re.compile(r"[\x21-\x7e]+")
# Networks that `ipaddress` of some Python versions wrongly calls global, and one host through which
# every virtual machine of a large cloud reaches its own platform.
_SPECIAL = tuple(
    map(
        ipaddress.ip_network,
        (
            "168.63.129.16/32",  # platform services of Azure
            "192.0.0.0/24",  # IETF protocol assignments (RFC 6890)
            "192.88.99.0/24",  # 6to4 relays, deprecated (RFC 7526)
            "192.31.196.0/24",  # whichever server is nearest: AS112 (RFC 7535)
            "192.175.48.0/24",  # the same (RFC 7534)
            "2620:4f:8000::/48",  # the same (RFC 7534)
            "192.52.193.0/24",  # whichever relay is nearest: multicast (RFC 7450)
            "fec0::/10",  # site-local, deprecated (RFC 3879)
            "3fff::/20",  # documentation (RFC 9637)
            "5f00::/16",  # segment routing (RFC 9602)
            "100::/64",  # discard only (RFC 6666)
        ),
    )
)
# Ports that serve HTTPS; any other may be a private service of the same host.
_PORTS = (443, 8443)
# Words that end a host which is a number: `inet_aton` reads them as hex, octal or decimal.
_NUMBER = re.compile(r"0x[0-9a-f]*|[0-9]+")
# Third quarters of IPv6 addresses whose last one is an IPv4 address (ISATAP, RFC 5214 §6.1).
_ISATAP = (0x00005EFE, 0x02005EFE)
# Networks whose addresses contain an IPv4 address that needs its own check (RFC 6052, RFC 8215).
_TRANSLATED = tuple(map(ipaddress.IPv6Network, ("64:ff9b::/96", "64:ff9b:1::/48", "::/96")))


class AddressError(Exception):
    """The address is not allowed. The message is for the person who gave it; `case` is stable."""

    def __init__(self, *message: str, case: str | None = None) -> None:
        super().__init__(*message)
        self.case = case


@dataclass(frozen=True)
class Target:
    """Parts of a URL that can receive a POST."""

    tls: bool
    host: str
    port: int
    path: str

    @property
    def authority(self) -> str:
        name = f"[{self.host}]" if ":" in self.host else self.host
        return name if self.port == (443 if self.tls else 80) else f"{name}:{self.port}"


def parse(url: str, *, private: bool = False) -> Target:
    """Return the target of a URL: https, no user, no fragment.

    With `private`, permit http too, for tests.
    """
    if not _PRINTABLE.fullmatch(url):
        raise AddressError("A URL must be printable ASCII")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise AddressError("The text is not a URL") from error
    if parts.scheme != "https" and not (private and parts.scheme == "http"):
        raise AddressError("The URL must use https")
    if "@" in parts.netloc or parts.fragment:
        raise AddressError("The URL must have neither a user nor a fragment")
    host = parts.netloc.removesuffix(f":{port}")
    if not _HOST.fullmatch(host) or port == 0:
        raise AddressError("The URL has no valid host")
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    tls = parts.scheme == "https"
    port = port or (443 if tls else 80)
    if port not in _PORTS and not private:
        raise AddressError(f"Port {port} is not allowed: use 443 or 8443")
    return Target(tls, host.strip("[]"), port, path)


def refuse_private(target: Target) -> None:
    """Refuse what is private as it is written; no name is looked up, so nobody learns of one.

    A number that is not an address as everybody writes it is refused too: programs differ in how
    they read `010.0.0.1`.
    """
    name = target.host.lower().rstrip(".")
    try:
        found = socket.getaddrinfo(
            name, target.port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST
        )
    except (OSError, UnicodeError):
        if "." not in name or name.endswith(_PRIVATE_NAMES) or _is_number(name):
            raise _not_public(target) from None
        return
    if _is_number(name) and str(found[0][4][0]) != name:
        raise _not_public(target)
    if not all(is_public(str(info[4][0])) for info in found):
        raise _not_public(target)


def _is_number(name: str) -> bool:
    return _NUMBER.fullmatch(name.rpartition(".")[2]) is not None


def resolve(target: Target, *, private: bool = False) -> str:
    """Return one address of the host, if all of them are public."""
    try:
        found = socket.getaddrinfo(target.host, target.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise _not_public(target) from error
    addresses = [str(info[4][0]) for info in found]
    if not private and not all(is_public(address) for address in addresses):
        raise _not_public(target)
    return addresses[0]


def _not_public(target: Target) -> AddressError:
    # One answer for both cases, so that nobody learns which private names exist.
    return AddressError(
        f"{target.host} cannot be reached on the public internet", case="not-public"
    )


def is_public(text: str) -> bool:
    """Return whether this address means the same host everywhere on the internet."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:  # with a scope, like fe80::1%eth0
        return False
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    return all(_is_global(each) for each in (address, *_within(address)))


def _is_global(address: IpAddress) -> bool:
    special = any(address in network for network in _SPECIAL)
    return address.is_global and not (address.is_multicast or address.is_reserved or special)


def _within(address: IpAddress) -> list[IpAddress]:
    """Return the addresses inside an IPv6 address; an unknown one is returned as a private one."""
    if isinstance(address, ipaddress.IPv4Address):
        return []
    if any(address in network for network in _TRANSLATED):
        return [ipaddress.IPv4Address(int(address) & 0xFFFFFFFF), ipaddress.IPv4Address(0)]
    if int(address) >> 32 & 0xFFFFFFFF in _ISATAP:
        return [ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)]
    carried: list[IpAddress] = [] if address.sixtofour is None else [address.sixtofour]
    return carried + list(address.teredo or ())
