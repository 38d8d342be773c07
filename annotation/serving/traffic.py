"""A project's traffic, from the score log."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from django.db import connection
from django.db.models import Count
from django.utils import timezone

from annotation.core.periodic import for_each
from annotation.models import Project, ServedScore

Bin = Literal["hour", "day"]
_BY_TIME = """
WITH requests AS (
    SELECT request, min(asked_at) AS asked_at, max(seconds) AS seconds, bool_or(failure <> '') AS failed,
           count(*) FILTER (WHERE failure = '') AS solutions,
           count(*) FILTER (WHERE abstained IS NOT NULL) AS could_abstain,
           count(*) FILTER (WHERE abstained) AS abstained,
           count(*) FILTER (WHERE out_of_domain IS NOT NULL) AS could_flag,
           count(*) FILTER (WHERE out_of_domain) AS out_of_domain
    FROM annotation_servedscore WHERE project_id = %s AND asked_at >= %s GROUP BY request
)
SELECT date_trunc(%s, asked_at AT TIME ZONE %s) AT TIME ZONE %s AS bin, count(*),
       sum(solutions)::bigint, count(*) FILTER (WHERE failed),
       percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds) FILTER (WHERE NOT failed),
       percentile_cont(0.95) WITHIN GROUP (ORDER BY seconds) FILTER (WHERE NOT failed),
       sum(abstained)::float / nullif(sum(could_abstain), 0), sum(out_of_domain)::float / nullif(sum(could_flag), 0)
FROM requests GROUP BY bin ORDER BY bin
"""


@dataclass(frozen=True)
class Traffic:
    """One hour or day. Latencies are seconds of answered requests; shares are of the solutions with that flag."""

    begins: datetime
    requests: int = 0
    solutions: int = 0
    failed: int = 0
    median: float | None = None
    p95: float | None = None
    abstained: float | None = None
    out_of_domain: float | None = None


def traffic_of(project: Project, *, bins: int, size: Bin) -> list[Traffic]:
    """The last `bins` hours or days, earliest first, including those without a request."""
    step = timedelta(hours=1) if size == "hour" else timedelta(days=1)
    now = timezone.localtime()
    last = now.replace(minute=0, second=0, microsecond=0, hour=now.hour if size == "hour" else 0)
    places = [last - step * back for back in range(bins - 1, -1, -1)]
    zone = timezone.get_current_timezone_name()
    with connection.cursor() as cursor:
        cursor.execute(_BY_TIME, [project.pk, places[0], size, zone, zone])
        by_bin = {row[0]: Traffic(*row) for row in cursor.fetchall()}
    return [by_bin.get(place, Traffic(place)) for place in places]


def failures_of(project: Project, *, since: datetime) -> Sequence[tuple[str, int]]:
    """The number of failed requests by error code, the most frequent first."""
    rows = ServedScore.objects.filter(project=project, asked_at__gte=since).exclude(failure="")
    counted = rows.values("failure").annotate(n=Count("request", distinct=True)).order_by("-n", "failure")
    return [(row["failure"], row["n"]) for row in counted]


def forget_old_scores() -> int:
    """Delete rows older than each project's policy allows; returns how many."""
    return for_each(Project.objects.all(), _forget_old_scores)


def _forget_old_scores(project: Project) -> int:
    before = timezone.now() - timedelta(days=project.policies.serving.log_days)
    dropped: int = ServedScore.objects.filter(project=project, asked_at__lt=before)._raw_delete("default")
    return dropped
