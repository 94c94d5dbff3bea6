"""Networks by which callers without a token are counted."""

import ipaddress


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
