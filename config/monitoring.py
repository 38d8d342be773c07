"""What an operator's tools ask: is it healthy, and what has it been doing."""

import redis
from django.conf import settings
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse, HttpResponseForbidden, JsonResponse
from django.views.decorators.http import require_GET
from django_prometheus.exports import ExportToDjangoView

LOOPBACK = {"127.0.0.1", "::1"}


@require_GET
def healthz(request: HttpRequest) -> JsonResponse:
    """`{"database": "ok", "redis": "ok"}` with status 200, or 503 and what failed."""
    checks = {"database": _database(), "redis": _redis()}
    return JsonResponse(checks, status=200 if set(checks.values()) == {"ok"} else 503)


@require_GET
def metrics(request: HttpRequest) -> HttpResponse:
    """Prometheus metrics, for this machine and for staff; a request through a proxy is not from this machine."""
    local = request.META.get("REMOTE_ADDR") in LOOPBACK and "HTTP_X_FORWARDED_FOR" not in request.META
    if not local and not request.user.is_staff:
        return HttpResponseForbidden("Metrics are for this machine and for staff.", content_type="text/plain")
    response: HttpResponse = ExportToDjangoView(request)
    return response


def _database() -> str:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return "does not answer"
    return "ok"


def _redis() -> str:
    try:
        with redis.Redis.from_url(settings.REDIS_URL, socket_timeout=3, socket_connect_timeout=3) as client:
            client.ping()
    except redis.RedisError:
        return "does not answer"
    return "ok"
