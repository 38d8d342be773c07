"""Measures the scores of a large pool: writing by COPY and by bulk_create, reading, dropping, and scoring by workers.

    python -m benchmarks.pool_scoring [--rows 1000000] [--solutions 2000] [--workers 1 2]

Runs embedded servers under var/benchmark and stops them at the end. The rows are synthetic (eight steps, twelve heads,
an embedding of 32 numbers). The throughput is that of a small model, which is trained first, on short solutions.
"""

import argparse
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from launch.embedded import servers

ROOT = Path("var/benchmark").resolve()
STEPS, HEADS, WIDTH = 8, 12, 32
BATCH = 20_000  # rows of one COPY or bulk_create
SLOW_SHARE = 20  # of the rows, on which bulk_create is timed


def main() -> None:
    """Print one line for each measurement."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--solutions", type=int, default=2000)
    parser.add_argument("--workers", type=int, nargs="*", default=[1, 2])
    options = parser.parse_args()
    shutil.rmtree(ROOT, ignore_errors=True)
    with servers(ROOT, external={}) as addresses:
        os.environ |= dict(addresses) | {"VAR_DIR": str(ROOT), "DJANGO_SETTINGS_MODULE": "config.settings.local"}
        import django
        from django.core.management import call_command

        django.setup()
        call_command("migrate", verbosity=0)
        storing(options.rows)
        if options.workers:
            scoring(options.solutions, options.workers)
    shutil.rmtree(ROOT)


def storing(rows: int) -> None:
    """Write, read and drop synthetic scores of `rows` solutions."""
    from django.db import connection, transaction

    from annotation.loop.pool.partitions import create_partition, drop_partition, write_scores
    from annotation.loop.pool.shards import cut_shards
    from annotation.models import ModelVersion, PoolScore, Project

    project = Project.objects.create(slug="large", name="Large")
    with connection.cursor() as cursor:
        cursor.execute(_POOL, [project.pk, rows // 10, project.pk])
        cursor.execute("ANALYZE")
    ids = list(project.solutions.order_by("problem", "pk").values_list("pk", flat=True))
    copied, created = (
        ModelVersion.objects.create(project=project, number=n, path="none", sha256="0" * 64) for n in (1, 2)
    )

    def write(version: ModelVersion, some: list[int], put: Callable[[list[PoolScore]], Any]) -> float:
        """Seconds of the transactions, without the time to create the synthetic rows."""
        create_partition(version)
        seconds = 0.0
        for start in range(0, len(some), BATCH):
            batch = list(_synthetic(version, some[start : start + BATCH]))
            begun = time.monotonic()
            with transaction.atomic():
                put(batch)
            seconds += time.monotonic() - begun
        return seconds

    few = ids[: rows // SLOW_SHARE]
    _say(f"COPY of {rows:,} rows", write(copied, ids, lambda batch: write_scores(copied, batch)), rows)
    seconds = write(created, few, lambda batch: PoolScore.objects.bulk_create(batch, batch_size=1000))
    _say(f"bulk_create of {len(few):,} rows", seconds, len(few))
    _say("looking for new solutions (none there)", _timed(lambda: cut_shards(copied))[0], rows)
    chosen = [ids[i] for i in np.random.default_rng(0).permutation(len(ids))[:20_000]]
    needed = PoolScore.objects.filter(model_version=copied, solution__in=chosen)
    columns = ("solution_id", "heads", "embedding", "unscored_steps")
    _say("reading what ranks 20,000 of them", _timed(lambda: list(needed.values_list(*columns)))[0], len(chosen))
    _say(f"dropping the partition of {rows:,}", _timed(lambda: drop_partition(copied))[0])
    _say(f"deleting {len(few):,} rows", _timed(lambda: created.pool_scores.all().delete())[0], len(few))
    _say("cutting all of them into shards", _timed(lambda: cut_shards(copied))[0], rows)


def scoring(solutions: int, workers: list[int]) -> None:
    """Score one pool with this number of workers, each a process with one thread."""
    from annotation.loop.pool.partitions import drop_partition
    from annotation.loop.pool.shards import cut_shards
    from annotation.models import ModelVersion, PoolScoring, Project

    project = Project.objects.create(slug="scored", name="Scored")
    version = _small_version(project, solutions)
    for number in workers:
        drop_partition(version)
        PoolScoring.objects.filter(model_version=version).delete()
        wanted = cut_shards(version)
        command = [sys.executable, "-m", "benchmarks.pool_scoring_worker", str(version.pk)]
        processes = [
            subprocess.Popen(command, env=os.environ | {"OMP_NUM_THREADS": "1"}, stdin=subprocess.PIPE, stdout=-1)
            for _ in range(number)
        ]
        for process in processes:
            assert process.stdout is not None
            process.stdout.readline()  # the model is loaded
        started = time.monotonic()
        for process in processes:  # all start before the first is waited for
            assert process.stdin is not None
            process.stdin.write(b"\n")
            process.stdin.flush()
        for process in processes:
            process.communicate()
        _say(f"scoring {wanted:,} solutions with {number} workers", time.monotonic() - started, wanted)
        assert version.pool_scores.count() == wanted
    ModelVersion.objects.filter(pk=version.pk).update(state=ModelVersion.State.RETIRED)


def _small_version(project: Any, solutions: int) -> Any:
    """A trained version with a pool of sandbox solutions."""
    from django.conf import settings

    from annotation.files.record_import import import_records
    from annotation.loop.gateway.sandbox import Sandbox
    from annotation.loop.gateway.training import read_manifest
    from annotation.models import ModelVersion
    from prm.config import TrainConfig
    from prm.sandbox import WorldConfig, generate
    from prm.traces import write_traces
    from prm.training import train

    folder = settings.STATE_ROOT / "models" / "small"
    folder.mkdir(parents=True)
    write_traces(folder / "data.jsonl", generate(WorldConfig(), split="pool", n=60, seed=1))
    train(data=folder / "data.jsonl", out=folder, config=TrainConfig(epochs=1), report=lambda progress: None)
    import_records(project=project, records=list(Sandbox(solutions=solutions, seed=2).records()), by=None)
    manifest, sha256 = read_manifest(folder)
    return ModelVersion.objects.create(project=project, number=1, path="small", sha256=sha256, manifest=manifest)


def _synthetic(version: Any, ids: list[int]) -> Iterator[Any]:
    from annotation.models import PoolScore

    rng = np.random.default_rng(ids[0])
    means = rng.random((len(ids), STEPS))
    heads = rng.random((len(ids), STEPS * HEADS)).astype("<f2")
    places = rng.standard_normal((len(ids), WIDTH)).astype("<f2")
    for at, pk in enumerate(ids):
        mean = means[at].tolist()
        yield PoolScore(
            model_version=version, solution_id=pk, mean=mean, spread=mean, score=mean[0], gain=mean[1],
            expected_seconds=30.0, heads=heads[at].tobytes(), embedding=places[at].tobytes(), unscored_steps=0,
        )  # fmt: skip


def _timed(work: Callable[[], Any]) -> tuple[float, Any]:
    started = time.monotonic()
    found = work()
    return time.monotonic() - started, found


def _say(what: str, seconds: float, rows: int = 0) -> None:
    rate = f"{rows / seconds:>12,.0f} a second" if rows else ""
    print(f"{what:<45} {seconds:>9.2f} s {rate}", flush=True)


# Ten solutions for each problem, without steps: scores need no text.
_POOL = """
WITH problem AS (
    INSERT INTO annotation_problem (project_id, text, text_hash, source_group, split, domain, extra, created_at)
    SELECT %s, 'problem', md5(n::text) || md5(n::text), n::text, 'pool', 'none', '{}', now()
    FROM generate_series(1, %s) AS n RETURNING id
)
INSERT INTO annotation_solution
    (project_id, problem_id, split, content_hash, external_id, generator, extra, provenance, outcome_source,
    multiplicity, created_at)
SELECT %s, problem.id, 'pool', problem.id || '-' || k, '', '', '{}', '{}', '', 1, now()
FROM problem, generate_series(1, 10) AS k
"""

if __name__ == "__main__":
    main()
