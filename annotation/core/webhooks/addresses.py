"""The addresses that webhooks may have. Only the operator can allow addresses of the private network."""

import socket
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address
from urllib.parse import SplitResult, urlsplit

from django.conf import settings

from annotation.core.errors import DomainError
from prm.messages import Message

LONGEST_URL = 500
PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True)
class Destination:
    """A checked address: the host by name, for TLS and the Host header, and the IP address to connect to."""

    parts: SplitResult
    host: str
    ip: str

    @property
    def url(self) -> str:
        """The address with the IP address in place of the name, so that nobody resolves the name again."""
        ip = f"[{self.ip}]" if ":" in self.ip else self.ip
        port = f":{self.parts.port}" if self.parts.port else ""
        return self.parts._replace(netloc=ip + port, fragment="").geturl()


def resolve_destination(url: str) -> Destination:
    """Where a webhook connects to. It is resolved again for every attempt, because a name can change its address.

    Hosts of WEBHOOK_PRIVATE_HOSTS may be private and use plain HTTP. Every other host needs HTTPS and public addresses
    only. Raises DomainError (`invalid_webhook_url`).
    """
    parts, host = _parse(url)
    private = host in settings.WEBHOOK_PRIVATE_HOSTS
    if parts.scheme != "https" and not private:
        raise _refusal(Message("webhook_url_not_https", host=host))
    try:
        found = socket.getaddrinfo(host, parts.port or PORTS[parts.scheme], type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise _refusal(Message("webhook_host_unknown", host=host)) from None
    ips = [ip_address(str(address[0]).partition("%")[0]) for *_kind, address in found]
    if not private and (closed := next((ip for ip in ips if not _is_public(ip)), None)):
        raise _refusal(Message("webhook_host_private", host=host, ip=str(closed)))
    return Destination(parts, host, str(ips[0]))


def _parse(url: str) -> tuple[SplitResult, str]:
    try:
        parts = urlsplit(url)
        host, _port = (parts.hostname or "").lower(), parts.port  # a port that is not a number raises
    except ValueError:
        raise _refusal(Message("webhook_url_invalid")) from None
    plain = url.isascii() and url.isprintable() and " " not in url
    if not plain or not host or parts.scheme not in PORTS or parts.username is not None or len(url) > LONGEST_URL:
        raise _refusal(Message("webhook_url_invalid"))
    return parts, host


def _is_public(ip: IPv4Address | IPv6Address) -> bool:
    """Whether an address is reached over the internet. An IPv6 address may contain an IPv4 address, which decides."""
    if isinstance(ip, IPv6Address):
        ip = ip.ipv4_mapped or ip.sixtofour or ip
    return ip.is_global and not ip.is_multicast


def _refusal(message: Message) -> DomainError:
    return DomainError(message, {"field": "url"}, code="invalid_webhook_url")
