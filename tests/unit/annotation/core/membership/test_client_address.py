"""The address that limits count by: that of the client, never that of a proxy of the operator's."""

import pytest
from django.test import RequestFactory

from annotation.core.membership.client_address import client_address


@pytest.mark.parametrize(
    ("proxies", "forwarded", "remote", "address"),
    [
        (0, "", "203.0.113.5", "203.0.113.5"),
        (0, "198.51.100.7", "203.0.113.5", "203.0.113.5"),  # nobody vouches for the header
        (1, "10.1.1.1, 198.51.100.7", "172.18.0.1", "198.51.100.7"),
        (2, "10.1.1.1, 198.51.100.7, 192.0.2.1", "172.18.0.1", "198.51.100.7"),
        (2, "198.51.100.7", "172.18.0.1", "198.51.100.7"),  # the inner proxy was asked directly
        (1, "", "127.0.0.1", "127.0.0.1"),  # the health check
        (1, "198.51.100.7:55123", "172.18.0.1", "198.51.100.7"),
        (1, "[2001:db8::1:2]:55123", "172.18.0.1", "2001:db8::"),  # a household has a /64
        (0, "", "::ffff:203.0.113.5", "203.0.113.5"),
        (1, "unknown", "172.18.0.1", "unknown"),
        (0, "", "", "unknown"),  # a socket file
    ],
)
def test_client_address(settings, proxies, forwarded, remote, address):
    settings.TRUSTED_PROXY_COUNT = proxies
    headers = {"X-Forwarded-For": forwarded} if forwarded else {}
    request = RequestFactory().get("/", headers=headers, REMOTE_ADDR=remote)
    assert client_address(request) == address
