"""Measures the speed of import and export, beside a bare COPY of the same step rows in the same database.

    python benchmarks/import_speed.py [--solutions 10000] [--steps 8]

Starts an embedded PostgreSQL (durable, as in production) in a temporary folder. Memory is the growth of the process's
peak, in MB.
"""

import argparse
import json
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

WORDS = "so we add both sides and find that $x_{%d} = %d$, which is what the problem asks us to show in the end"


def lines(solutions: int, steps: int, *, labelled: bool) -> Iterator[bytes]:
    for number in range(solutions):
        line = {
            "id": str(number),
            "problem": f"In group {'g' * (number % 40)} there are {number} people; how many are left?",
            "steps": [WORDS % (place, number) for place in range(steps)],
        }
        yield json.dumps(line | ({"label": number % (steps + 1) - 1} if labelled else {})).encode() + b"\n"


def measured(work: Callable[[], object]) -> tuple[float, float, float]:
    """Seconds of wall time and of processor time, and the growth of the process's peak in MB."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started, worked = time.perf_counter(), time.process_time()
    work()
    seconds, own = time.perf_counter() - started, time.process_time() - worked
    return seconds, own, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024


def compare(solutions: int, steps: int, folder: Path) -> None:
    from django.contrib.auth.models import User
    from django.core.management import call_command
    from django.db import connection

    from annotation.core.membership.projects import create_project
    from annotation.files.import_body import run_import
    from annotation.files.import_jobs import Manner, create_import
    from annotation.labels.datasets.snapshot_export import export_snapshot
    from annotation.labels.datasets.snapshots import create_snapshot, read_snapshot
    from annotation.models import Project

    call_command("migrate", verbosity=0)
    manager = User.objects.create_user("manager", is_staff=True)

    def bare_copy() -> None:
        with connection.cursor() as cursor:
            cursor.execute("CREATE TABLE bare_step (LIKE annotation_step INCLUDING ALL)")
            statement = "COPY bare_step (solution_id, position, alternative, text, kind) FROM STDIN"
            with cursor.copy(statement) as copy:
                for number in range(solutions):
                    for place in range(steps):
                        copy.write_row((number, place, 0, WORDS % (place, number), "reasoning"))

    def run(path: Path, project: Project) -> None:
        manner = Manner(decomposition="lines")
        job = create_import(by=None, project=project, path=path, filename=path.name, manner=manner)
        run_import(job.pk)
        job.refresh_from_db()
        assert job.state == "done", job.error
        assert job.done_records == job.accepted + job.duplicates

    rows: list[tuple[str, float, float, float]] = [("bare COPY of the step rows", *measured(bare_copy))]
    for labelled, size in ((False, solutions), (True, solutions), (False, 4 * solutions)):
        name = "labelled" if labelled else "plain"
        path = folder / f"{name}-{size}.jsonl"
        with path.open("wb") as file:
            file.writelines(lines(size, steps, labelled=labelled))
        project = create_project(by=manager, name=path.stem, slug=path.stem)
        seconds, own, memory = measured(lambda path=path, project=project: run(path, project))
        share = solutions / size
        rows.append((f"import of {size} {name} solutions", seconds * share, own * share, memory))
        if size == solutions:
            again = measured(lambda path=path, project=project: run(path, project))
            rows.append((f"the same {name} file again", *again))
    project = Project.objects.get(slug=f"labelled-{solutions}")
    rows.append(("snapshot of the labels", *measured(lambda: create_snapshot(by=None, project=project, filters={}))))
    snapshot = project.snapshots.get()
    rows.append(("reading the snapshot", *measured(lambda: sum(1 for _ in read_snapshot(snapshot)))))
    for format in ("prm800k", "trl"):
        export = measured(lambda format=format: sum(map(len, export_snapshot(snapshot, format))))
        rows.append((f"export as {format}", *export))

    copied = rows[0][1]
    print(f"{solutions} solutions of {steps} steps; seconds are for that many\n")
    print(f"{'':40} {'seconds':>8} {'own work':>8} {'steps/s':>9} {'x COPY':>7} {'MB':>6}")
    for name, seconds, own, memory in rows:
        speed = solutions * steps / seconds
        print(f"{name:40} {seconds:8.2f} {own:8.2f} {speed:9.0f} {seconds / copied:7.1f} {memory:6.0f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--solutions", type=int, default=10_000)
    parser.add_argument("--steps", type=int, default=8)
    arguments = parser.parse_args()

    from launch.embedded import servers

    with tempfile.TemporaryDirectory() as folder, servers(Path(folder), external={}) as addresses:
        os.environ.update(addresses, VAR_DIR=folder, DJANGO_SETTINGS_MODULE="config.settings.test")
        import django

        django.setup()
        compare(arguments.solutions, arguments.steps, Path(folder))
        from django.db import connection

        connection.close()


if __name__ == "__main__":
    main()
