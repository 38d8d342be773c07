"""The header Content-Security-Policy."""

from functools import cache

from csp.constants import HEADER
from csp.middleware import CSPMiddleware
from csp.utils import build_policy
from django.http import HttpRequest, HttpResponseBase


class ConstantPolicy(CSPMiddleware):
    """Sends the policy of the settings with every response; django-csp would build it twice for each."""

    def process_request(self, request: HttpRequest) -> None:
        """Offers no nonce, because no page has inline scripts."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        response.headers.setdefault(HEADER, _policy())
        return response


@cache
def _policy() -> str:
    return build_policy()
