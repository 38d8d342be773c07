"""Measures time and memory to rank a pool of scored solutions and to draw a batch from it.

    python benchmarks/ranking.py [--solutions 100000] [--steps 8] [--heads 8] [--budget 500] [--columns-only]
        [--functions NAME ...]

Starts an embedded PostgreSQL in a temporary folder and fills it with scored solutions of 1 to twice `--steps` steps.
"Columns" measures each function of the library on columns in memory. "Own work" is processor time; memory is the growth
of the process's peak.
"""

import argparse
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

FILL = """
INSERT INTO annotation_problem (project_id, text, text_hash, source_group, split, domain, extra, created_at)
SELECT %(project)s, 'problem ' || n, 'hash ' || n, 'group ' || n, 'pool', 'domain ' || n %% 5, '{}', now()
FROM generate_series(1, %(problems)s) AS n;
INSERT INTO annotation_solution (
    project_id, problem_id, split, content_hash, external_id, generator, extra, provenance, outcome_source,
    multiplicity, created_at)
SELECT %(project)s, problem.id, 'pool', problem.id || '/' || k, '', '', '{}', '{}', '', 1, now()
FROM annotation_problem AS problem, generate_series(1, 4) AS k;
INSERT INTO annotation_step (solution_id, position, alternative, text, kind)
SELECT id, position, 0, repeat('word ', (4 + (id * 7 + position * 13) %% 30)::int), 'reasoning'
FROM annotation_solution, generate_series(0, (id * 31 %% (2 * %(steps)s))) AS position;
INSERT INTO annotation_poolscore
    (model_version_id, solution_id, mean, spread, score, gain, expected_seconds, heads, embedding, unscored_steps)
SELECT %(version)s, id, '{}', '{}', 0.5, 0, 0,
    substring(
        %(noise)s::bytea FROM (id %% 1000)::int * 2 + 1 FOR (id * 31 %% (2 * %(steps)s) + 1)::int * 2 * %(heads)s
    ),
    substring(%(noise)s::bytea FROM (id %% 1000)::int * 2 + 1 FOR 64), 0
FROM annotation_solution;
ANALYZE;
"""


def measured(name: str, work: Callable[[], Any]) -> Any:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started, worked = time.perf_counter(), time.process_time()
    found = work()
    seconds, own = time.perf_counter() - started, time.process_time() - worked
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    print(f"| {name} | {seconds:.2f} | {own:.2f} | {grown:,.0f} |", flush=True)
    return found


def columns(solutions: int, steps: int, heads: int, budget: int, functions: list[str]) -> None:
    """Measure the acquisition functions on columns in memory."""
    from prm.acquisition import Caps, CostModel, Pool, rank_pool

    rng = np.random.default_rng(0)
    lengths = rng.integers(1, 2 * steps + 1, solutions)
    total = int(lengths.sum())
    pool = Pool(
        problem=np.arange(solutions) // 4,
        domain=np.arange(solutions) // 4 % 5,
        steps=lengths,
        p=rng.random((total, heads), dtype=np.float32).astype(np.float16),
        chars=rng.integers(20, 150, total, dtype=np.int32),
        correct=rng.integers(-1, 2, solutions).astype(np.int8),
        embedding=rng.normal(size=(solutions, 32)).astype(np.float16),
    )
    for name in functions:
        measured(
            f"columns: {name}",
            lambda name=name: rank_pool(name, pool, budget=budget, cost=CostModel(), rng=rng, caps=Caps(1, 0.5)),
        )


def production(solutions: int, steps: int, heads: int, budget: int) -> None:
    """Measure the ranking from the database to the batch."""
    from functools import partial

    from django.contrib.auth.models import User
    from django.core.management import call_command
    from django.db import connection

    from annotation.core.membership.projects import create_project
    from annotation.loop.pool.partitions import create_partition
    from annotation.loop.selection import ranking
    from annotation.loop.selection.candidates import candidates_of
    from annotation.loop.selection.composition import compose
    from annotation.models import ModelVersion

    call_command("migrate", verbosity=0)
    manager = User.objects.create_user("manager", is_staff=True)
    mix = {"holdout": 0, "calibration": 0}
    policy = {"generation_budget": budget, "caps": {"domain": 0.5}, "mix": mix}
    project = create_project(by=manager, name="Pool", slug="pool", policy=policy)
    version = ModelVersion.objects.create(project=project, number=1, path="none", sha256="0" * 64)
    create_partition(version)
    noise = np.random.default_rng(0).random(1000 + 2 * steps * heads).astype("<f2").tobytes()
    words = {"project": project.pk, "problems": solutions // 4, "steps": steps, "heads": heads}
    with connection.cursor() as cursor:
        for statement in FILL.split(";\n"):
            if statement.strip():
                cursor.execute(statement, words | {"version": version.pk, "noise": noise})
    candidates = measured("candidates from the database", lambda: candidates_of(project))
    measured("their scores from the database", lambda: ranking.scored_of(version, candidates))
    rng, ranker = np.random.default_rng(0), partial(ranking.rank_pool, project, version)
    plan = measured(
        "all of a generation, from the database to its items",
        lambda: compose(project, rng=rng, ranker=ranker, acquisition="first_error_bald"),
    )
    assert len(plan.selections) == budget


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("solutions", 100_000), ("steps", 8), ("heads", 8), ("budget", 500)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--columns-only", action="store_true")
    parser.add_argument("--functions", nargs="+", default=None, help="of the columns; all by default")
    given = vars(parser.parse_args())
    from prm.acquisition import FUNCTIONS

    functions = given.pop("functions") or list(FUNCTIONS)
    columns_only = given.pop("columns_only")
    print(f"{given['solutions']:,} solutions, {given['steps']} steps in the mean, {given['heads']} heads\n")
    print("| what | seconds | own work | MB |\n|---|---:|---:|---:|")
    if not columns_only:
        with tempfile.TemporaryDirectory() as folder:
            os.environ |= {"VAR_DIR": folder, "DJANGO_SETTINGS_MODULE": "config.settings.test"}
            from launch.embedded import servers

            with servers(Path(folder), external={}, durable=False) as addresses:
                os.environ |= addresses
                import django

                django.setup()
                production(**given)
    columns(**given, functions=functions)


if __name__ == "__main__":
    main()
