"""Web processes share a few sessions of the database through PgBouncer in transaction mode."""

import pytest
from django.db import connections

from annotation.core.reading import read_rows
from annotation.models import Solution
from tests.flows.test_claim_concurrency import PEOPLE, SOLUTIONS, check_the_books, generation, in_processes, tabs, work
from tests.pooler import ABSENT, PGBOUNCER, PORT, pooler

__all__ = ["generation"]  # a fixture
SESSIONS = 3

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.skipif(PGBOUNCER is None, reason=ABSENT)]


def test_sixteen_processes_claim_and_submit_through_three_sessions(generation):
    with pooler(sessions=SESSIONS) as folder:
        jobs = [(folder, work, generation.project.slug, *tab) for tab in tabs(generation.project)]
        check_the_books(generation.project, in_processes(behind, jobs))


@pytest.mark.parametrize("read", [read_rows, lambda rows, at_once: rows.iterator(chunk_size=at_once)])
def test_long_reads_beside_each_other_get_every_row(generation, read):
    with pooler(sessions=SESSIONS) as folder:
        read_times = in_processes(behind, [(folder, read_all, read)] * PEOPLE)
    assert read_times == [[SOLUTIONS] * 20] * PEOPLE


def behind(folder, target, *job):
    """What the target reports in a process with the settings of a web process that has a PGBOUNCER_URL."""
    settings = connections.settings["default"]
    settings.update(HOST=folder, PORT=PORT, TRANSACTION_POOLING=True)
    settings["OPTIONS"]["prepare_threshold"] = None
    return target(*job)


def read_all(read):
    rows = Solution.objects.order_by("pk").values_list("pk", flat=True)
    return [len(set(read(rows, at_once=5))) for _ in range(20)]
