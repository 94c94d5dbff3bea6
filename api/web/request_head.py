"""Networks by which callers without a token are counted."""

import ipaddress

from starlette.types import Scope


def header(scope: Scope, name: bytes) -> bytes | None:
    """Return the value of a request's header, if it was sent."""
    return next((value for key, value in scope["headers"] if key == name), None)


def network_of(host: str) -> str:
    """Return an IPv4 address unchanged, and the /64 of an IPv6 address, which one host may own."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None:
            return str(address.ipv4_mapped)
        return str(ipaddress.ip_network((address, 64), strict=False))
    return host
