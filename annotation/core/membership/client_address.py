"""Who is calling, by address: what every limit on strangers counts by."""

import ipaddress

from django.conf import settings
from django.http import HttpRequest

HOUSEHOLD = 64  # bits of an IPv6 address that one client does not choose freely


def client_address(request: HttpRequest) -> str:
    """The address of the client; of an IPv6 client its /64 network.

    Each of the TRUSTED_PROXY_COUNT proxies in front appends to `X-Forwarded-For` the address that it sees. Entries
    further to the left come from the client and are ignored.
    """
    forwarded = [entry.strip() for entry in request.headers.get("X-Forwarded-For", "").split(",") if entry.strip()]
    trusted = forwarded[-settings.TRUSTED_PROXY_COUNT :] if settings.TRUSTED_PROXY_COUNT else []
    written = trusted[0] if trusted else request.META.get("REMOTE_ADDR", "")
    try:
        address = ipaddress.ip_address(_without_port(written))
    except ValueError:
        return "unknown"
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped:
            return str(address.ipv4_mapped)
        return str(ipaddress.ip_network((address, HOUSEHOLD), strict=False).network_address)
    return str(address)


def _without_port(written: str) -> str:
    if written.startswith("["):
        return written[1:].partition("]")[0]
    return written.partition(":")[0] if written.count(":") == 1 else written
