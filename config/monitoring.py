"""Health check and metrics for an operator's tools."""

import hmac
from collections.abc import Callable

import redis
from django.conf import settings
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse, HttpResponseForbidden, JsonResponse
from django.views.decorators.http import require_GET
from django_prometheus.exports import ExportToDjangoView

from annotation.core import replica

LOOPBACK = {"127.0.0.1", "::1"}


class MetricsByToken:
    """Answers `/metrics` to a request with METRICS_TOKEN, before the host is checked.

    A Prometheus beside this server uses a name of the inner network, which is not in ALLOWED_HOSTS.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.method == "GET" and request.path == "/metrics" and _has_token(request):
            response: HttpResponse = ExportToDjangoView(request)
            return response
        return self.get_response(request)


@require_GET
def healthz(request: HttpRequest) -> JsonResponse:
    """`{"database": "ok", "redis": "ok"}` with status 200, else status 503 and which of them failed.

    With a replica also how far it is behind, which does not change the status: the primary then answers everything.
    """
    checks = {"database": _database(), "redis": _redis()}
    status = 200 if set(checks.values()) == {"ok"} else 503
    if checks["database"] == "ok" and replica.is_configured():
        checks["replica"] = replica.describe_lag()
    return JsonResponse(checks, status=status)


@require_GET
def metrics(request: HttpRequest) -> HttpResponse:
    """Prometheus metrics, for this machine and for staff. Programs on other machines use a token (`MetricsByToken`)."""
    # A request through a proxy on this machine may come from anywhere.
    local = request.META.get("REMOTE_ADDR") in LOOPBACK and "HTTP_X_FORWARDED_FOR" not in request.META
    if not local and not request.user.is_staff:
        return HttpResponseForbidden("Metrics are for this machine and for staff.", content_type="text/plain")
    response: HttpResponse = ExportToDjangoView(request)
    return response


def _has_token(request: HttpRequest) -> bool:
    token = settings.METRICS_TOKEN
    sent = request.headers.get("Authorization", "")
    return bool(token) and hmac.compare_digest(sent.encode(), f"Bearer {token}".encode())


def _database() -> str:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return "does not answer"
    return "ok"


def _redis() -> str:
    try:
        with redis.Redis.from_url(settings.REDIS_URL, **settings.REDIS_PATIENCE) as client:
            client.ping()
    except redis.RedisError:
        return "does not answer"
    return "ok"
