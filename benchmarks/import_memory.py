"""Measures memory and speed of an import by the size of its file, beside a bare COPY of the same step rows.

    python benchmarks/import_memory.py [--solutions 10000 100000 1000000] [--steps 8] [--folder DIR]

Starts an embedded PostgreSQL (durable, as in production). Each row of the table has a new process for the import and
one for the COPY. Memory is the peak of that process's resident set with Django, and beside it the peak before the work.
"""

import argparse
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.import_speed import WORDS, lines  # noqa: E402


class Measured(NamedTuple):
    """Seconds of wall time; the process's peak in MB before and after the work."""

    seconds: float
    before: float
    peak: float


def alone(work: Callable[..., Measured], *given: object) -> Measured:
    """The measurement of the work in a new process, whose peak only this work raises."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn"), initializer=set_up) as process:
        return process.submit(work, *given).result()


def set_up() -> None:
    import django

    django.setup()


def measured(work: Callable[[], None]) -> Measured:
    before, started = _peak(), time.perf_counter()
    work()
    return Measured(time.perf_counter() - started, before, _peak())


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def migrate() -> Measured:
    from django.core.management import call_command

    return measured(lambda: call_command("migrate", verbosity=0))


def take_in(path: Path) -> Measured:
    from annotation.files.import_body import run_import
    from annotation.files.import_jobs import Manner, create_import
    from tests.factories import ProjectFactory

    project = ProjectFactory(slug=path.stem)
    job = create_import(by=None, project=project, path=path, filename=path.name, manner=Manner(decomposition="lines"))
    result = measured(lambda: run_import(job.pk))
    job.refresh_from_db()
    assert job.state == "done", job.error
    assert job.accepted == job.done_records, f"{job.accepted} of {job.done_records} were new"
    return result


def copy_bare(solutions: int, steps: int) -> Measured:
    from django.db import connection

    def copy_rows() -> None:
        with connection.cursor() as cursor:
            cursor.execute("DROP TABLE IF EXISTS bare_step")
            cursor.execute("CREATE TABLE bare_step (LIKE annotation_step INCLUDING ALL)")
            with cursor.copy("COPY bare_step (solution_id, position, alternative, text, kind) FROM STDIN") as copy:
                for number in range(solutions):
                    for place in range(steps):
                        copy.write_row((number, place, 0, WORDS % (place, number), "reasoning"))

    return measured(copy_rows)


def compare(sizes: Sequence[int], steps: int, folder: Path) -> None:
    alone(migrate)
    print("| solutions | file, MB | import, s | steps/s | COPY, s | x COPY | peak, MB | before, MB | COPY's, MB |")
    print("|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    for size in sizes:
        path = folder / f"solutions-{size}.jsonl"
        with path.open("wb") as file:
            file.writelines(lines(size, steps, labelled=False))
        copied, taken = alone(copy_bare, size, steps), alone(take_in, path)
        print(
            f"| {size:,} | {path.stat().st_size / 1e6:.0f} | {taken.seconds:.1f} | {size * steps / taken.seconds:,.0f} "
            f"| {copied.seconds:.1f} | {taken.seconds / copied.seconds:.1f} "
            f"| {taken.peak:.0f} | {taken.before:.0f} | {copied.peak:.0f} |",
            flush=True,
        )
        path.unlink()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--solutions", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--folder", type=Path, help="where the files and the database lie while it runs")
    arguments = parser.parse_args()

    from launch.embedded import servers

    with (
        tempfile.TemporaryDirectory(dir=arguments.folder) as folder,
        servers(Path(folder), external={}) as addresses,
    ):
        os.environ.update(addresses, VAR_DIR=folder, DJANGO_SETTINGS_MODULE="config.settings.test")
        compare(arguments.solutions, arguments.steps, Path(folder))


if __name__ == "__main__":
    main()
