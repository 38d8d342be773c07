"""The client's address, by which calls without a valid token are limited."""

import ipaddress

from django.conf import settings
from django.http import HttpRequest

HOUSEHOLD = 64  # bits of an IPv6 address that a client cannot choose freely


def client_address(request: HttpRequest) -> str:
    """The address of the client; of an IPv6 client its /64 network.

    Each of the TRUSTED_PROXY_COUNT proxies in front appends to `X-Forwarded-For` the address that it sees. Entries
    further to the left come from the client and are ignored.
    """
    forwarded = [part.strip() for part in request.headers.get("X-Forwarded-For", "").split(",") if part.strip()]
    trusted = forwarded[-settings.TRUSTED_PROXY_COUNT :] if settings.TRUSTED_PROXY_COUNT else []
    entry = trusted[0] if trusted else request.META.get("REMOTE_ADDR", "")
    try:
        address = ipaddress.ip_address(_without_port(entry))
    except ValueError:
        return "unknown"
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped:
            return str(address.ipv4_mapped)
        return str(ipaddress.ip_network((address, HOUSEHOLD), strict=False).network_address)
    return str(address)


def _without_port(entry: str) -> str:
    if entry.startswith("["):
        return entry[1:].partition("]")[0]
    return entry.partition(":")[0] if entry.count(":") == 1 else entry
