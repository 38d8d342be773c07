"""Measures the cost of a claim by the length of the queue, active leases and a person's history, beside a raw loop.

    python -m benchmarks.claims [--items 1000 10000 100000] [--leases 0 10000] [--history 0 10000] [--claims 200]
        [--processes 1 8] [--explain]

Starts an embedded PostgreSQL (durable, as in production) in a temporary folder and prints a Markdown table. Each row
has a queue of `--items` items that want three labels. Other people hold `--leases` leases, and each person who claims
has labelled `--history` of the first items. The raw loop claims items of the same table by `FOR UPDATE SKIP LOCKED` in
rank order, in the same run, with as many processes. Memory and disk for
1,000,000 items: about 2 GB; `--items 1000000` fills them in some minutes.
"""

import argparse
import multiprocessing
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

LANES = "(ARRAY['acquisition', 'acquisition', 'acquisition', 'control', 'overlap'])[1 + mod(n, 5)::int]"
FILL = f"""
INSERT INTO annotation_problem (project_id, text, text_hash, source_group, split, domain, extra, created_at)
SELECT %(project)s, 'What is ' || n || ' + 2?', md5(%(project)s || ' ' || n), n, 'pool', 'arithmetic', '{{}}', now()
FROM generate_series(1, %(items)s) n;
INSERT INTO annotation_solution (
    project_id, problem_id, split, content_hash, external_id, generator, extra, provenance, outcome_source,
    multiplicity, created_at)
SELECT project_id, id, 'pool', text_hash, '', '', '{{}}', '{{}}', '', 1, now()
FROM annotation_problem WHERE project_id = %(project)s;
INSERT INTO annotation_queueitem (
    project_id, generation_id, solution_id, split, lane, rank, wanted, leased, done, state, paused, pinned, created_at)
SELECT project_id, %(generation)s, id, 'pool', {LANES}, n, 3, 0, 0, 'ready', false, false, now()
FROM (SELECT *, row_number() OVER (ORDER BY id) AS n FROM annotation_solution WHERE project_id = %(project)s) s;
"""
# Other people hold all places of the first items; each person who claims has labelled the next ones.
HOLD = """
WITH held AS (
    UPDATE annotation_queueitem SET leased = 1, done = 2, state = 'full'
    WHERE generation_id = %(generation)s AND rank <= %(leases)s RETURNING id, solution_id)
INSERT INTO annotation_lease (item_id, solution_id, annotator_id, state, reason, claimed_at, expires_at)
SELECT id, solution_id, %(other)s, 'active', '', now(), now() + interval '1 day' FROM held
"""
PAST = """
INSERT INTO annotation_lease (item_id, solution_id, annotator_id, state, reason, claimed_at, expires_at, ended_at)
SELECT id, solution_id, %(person)s, 'submitted', '', now(), now(), now() FROM annotation_queueitem
WHERE generation_id = %(generation)s AND rank > %(leases)s AND rank <= %(leases)s + %(history)s
"""
RAW = """
UPDATE raw_item SET state = 'full' WHERE id = (
    SELECT id FROM raw_item WHERE state = 'ready' ORDER BY rank, id LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING id
"""
RAW_TABLE = """
DROP TABLE IF EXISTS raw_item;
CREATE TABLE raw_item AS
SELECT id, rank, 'ready' AS state FROM annotation_queueitem WHERE generation_id = %(generation)s;
ALTER TABLE raw_item ADD PRIMARY KEY (id);
CREATE INDEX ON raw_item (rank, id) WHERE state = 'ready';
"""


def execute(statement: str, **given: Any) -> None:
    from django.db import connection

    with connection.cursor() as cursor:
        for part in filter(str.strip, statement.split(";")):
            cursor.execute(part, given)


def filled(items: int, leases: int, history: int, people: int) -> tuple[Any, list[Any]]:
    """A project with the queue of a row, and the people who will claim in it."""
    from tests.factories import GenerationFactory, MembershipFactory

    generation = GenerationFactory(project__policy={"queue": {"prefetch_depth": 1}, "gold": {"share": 0}})
    project = generation.project
    given = {"project": project.pk, "generation": generation.pk, "items": items, "leases": leases, "history": history}
    execute(FILL, **given)
    execute(HOLD, other=MembershipFactory(project=project).pk, **given)
    members = [MembershipFactory(project=project) for _ in range(people)]
    for member in members:
        execute(PAST, person=member.pk, **given)
    execute(RAW_TABLE, **given)
    execute("VACUUM ANALYZE annotation_queueitem; VACUUM ANALYZE annotation_lease; VACUUM ANALYZE raw_item")
    return project, members


def claiming(project: Any, member: Any) -> Callable[[], float]:
    """Claim an item and complete it as a submission does: the lease has ended, the place is done."""
    from django.utils import timezone

    from annotation.models import Lease
    from annotation.work.claiming import claim_next
    from annotation.work.queue.items import lock_items, save_places

    def claim() -> float:
        started = time.perf_counter()
        lease = claim_next(by=member.user, project=project, holding=[]).lease
        took = time.perf_counter() - started
        assert lease is not None, "the queue ran out"
        from django.db import transaction

        with transaction.atomic():
            [item] = lock_items([lease.item_id])
            item.leased, item.done = item.leased - 1, item.done + 1
            save_places([item])
            Lease.objects.filter(pk=lease.pk).update(state="submitted", ended_at=timezone.now())
        return took

    return claim


def raw() -> Callable[[], float]:
    from django.db import connection

    def claim() -> float:
        started = time.perf_counter()
        with connection.cursor() as cursor:
            cursor.execute(RAW)
            assert cursor.fetchone()
        return time.perf_counter() - started

    return claim


def timed(make: list[Callable[[], Callable[[], float]]], claims: int) -> list[float]:
    """Milliseconds of every claim, with one process for each of `make`; the first tenth of each is warm-up."""
    from django.db import connections

    connections.close_all()
    fork = multiprocessing.get_context("fork")
    results = fork.Queue()

    def run(one: Callable[[], Callable[[], float]]) -> None:
        claim = one()
        results.put([1000 * claim() for _ in range(claims)][claims // 10 :])
        connections.close_all()

    children = [fork.Process(target=run, args=(one,), daemon=True) for one in make]
    for child in children:
        child.start()
    times = [took for _ in children for took in results.get(timeout=3600)]
    for child in children:
        child.join()
    return times


def middle_and_tail(times: list[float]) -> tuple[float, float]:
    return statistics.median(times), statistics.quantiles(times, n=20)[-1]


def explain(project: Any, member: Any) -> None:
    """Print what PostgreSQL does for one claim in the acquisition lane."""
    from django.db import connection, transaction
    from django.utils import timezone

    from annotation.work.queue import item_choice
    from annotation.work.queue.rules import rules_for

    rules = rules_for(member, timezone.now())
    statement = item_choice.statement(item_choice.IN_LANE, rules.lasting, rules.all, remember=item_choice.REMEMBER)
    frontier = member.frontiers.get(lane="acquisition")
    given = rules.given | {
        "now": timezone.now(),
        "until": timezone.now(),
        "generation": frontier.generation_id,
        "lane": "acquisition",
        "frontier": frontier.rank,
    }
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, BUFFERS, COSTS OFF) {statement}", given)
        print("\n".join(line for (line,) in cursor.fetchall()))
        transaction.set_rollback(True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--leases", type=int, nargs="+", default=[0, 10_000])
    parser.add_argument("--history", type=int, nargs="+", default=[0, 10_000])
    parser.add_argument("--claims", type=int, default=200, help="of each process")
    parser.add_argument("--processes", type=int, nargs="+", default=[1, 8])
    parser.add_argument("--explain", action="store_true", help="print the plan of a claim after each row")
    arguments = parser.parse_args()

    from launch.embedded import servers

    with tempfile.TemporaryDirectory() as folder, servers(Path(folder), external={}) as addresses:
        os.environ.update(addresses, VAR_DIR=folder, DJANGO_SETTINGS_MODULE="config.settings.test")
        import django

        django.setup()
        from django.core.management import call_command
        from django.db import connections

        call_command("migrate", verbosity=0)
        print(
            "| items | leases of others | own history | processes | p50 ms | p95 ms | raw p50 | raw p95 | p50 x raw |"
        )
        print("|---|---|---|---|---|---|---|---|---|", flush=True)
        for items in arguments.items:
            for leases in arguments.leases:
                for history in arguments.history:
                    for processes in arguments.processes:
                        if leases + history + 2 * processes * arguments.claims > items:
                            continue
                        project, members = filled(items, leases, history, processes)
                        ours = timed([partial(claiming, project, member) for member in members], arguments.claims)
                        bare = timed([raw] * processes, arguments.claims)
                        (p50, p95), (raw50, raw95) = middle_and_tail(ours), middle_and_tail(bare)
                        cells = [f"{n:,}" for n in (items, leases, history, processes)]
                        cells += [f"{ms:.2f}" for ms in (p50, p95, raw50, raw95)] + [f"{p50 / raw50:.1f}"]
                        print(f"| {' | '.join(cells)} |", flush=True)
                        if arguments.explain:
                            explain(project, members[0])
        connections.close_all()


if __name__ == "__main__":
    main()
