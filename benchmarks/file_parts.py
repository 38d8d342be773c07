"""Measures the CPU time of an import, a snapshot and an export by part, beside other checkouts of the same run.

    python benchmarks/file_parts.py [--solutions 10000] [--rounds 3] [--checkouts . ../before]

Each round runs every checkout in a new process with its own embedded PostgreSQL. Each figure is the least of all rounds
in microseconds of CPU per solution, because the clock also counts other work on the machine.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve()
TICKS = os.sysconf("SC_CLK_TCK")


class Parts:
    """CPU seconds of the threads by part, each without the parts inside it."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._of_thread = threading.local()

    @property
    def _inside(self) -> list[float]:
        """The CPU seconds inside each part that this thread is in."""
        inside: list[float] = self._of_thread.__dict__.setdefault("inside", [0.0])
        return inside

    def watch(self, owner: Any, name: str, part: str) -> None:
        """Count the calls of a function or method under a part."""
        function = getattr(owner, name)

        def watched(*given: Any, **options: Any) -> Any:
            return self.run(part, lambda: function(*given, **options))

        setattr(owner, name, watched)

    def run(self, part: str, work: Callable[[], Any]) -> Any:
        started = time.thread_time()
        self._inside.append(0.0)
        try:
            return work()
        finally:
            whole = time.thread_time() - started
            self.seconds[part] = self.seconds.get(part, 0.0) + whole - self._inside.pop()
            self._inside[-1] += whole


def backend_seconds(process: int) -> float:
    """The CPU seconds of a PostgreSQL backend so far."""
    fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def measure(solutions: int, folder: Path) -> dict[str, float]:
    """Seconds by part, of a run in the checkout on `sys.path`."""
    from django.contrib.auth.models import User
    from django.core.management import call_command
    from django.db import connection

    from annotation.core.membership.projects import create_project
    from annotation.files import chunks, identity, import_body, store
    from annotation.files.copying import NewRows
    from annotation.files.import_jobs import Manner, create_import
    from annotation.labels.datasets import record_stream, snapshots, tally
    from annotation.labels.datasets.losses import ExportCounts
    from annotation.labels.datasets.snapshot_export import export_snapshot
    from benchmarks.label_studio.solutions import as_line, solution

    call_command("migrate", verbosity=0)
    manager = User.objects.create_user("manager", is_staff=True)
    parts = Parts()
    ahead = {
        (chunks, "prepare_record"): "import: split and validate, ahead",
        (chunks, "warnings_of"): "import: split and validate, ahead",
        (identity, "text_hash"): "import: hashes and source group, ahead",
        (identity, "content_hash"): "import: hashes and source group, ahead",
        (identity, "source_group_of"): "import: hashes and source group, ahead",
        (identity, "vector_of_solution"): "import: words, ahead",
    }
    for (module, name), part in ahead.items():
        parts.watch(module, name, part)
    parts.watch(store._Chunk, "_find_problems", "import: look for known problems and solutions")
    parts.watch(store._Chunk, "_find_solutions", "import: look for known problems and solutions")
    parts.watch(store._Chunk, "_add", "import: match and assign keys")
    parts.watch(NewRows, "write", "import: rows and COPY, without the server")
    parts.watch(record_stream, "read_solutions", "snapshot: rows into records")
    parts.watch(record_stream, "consensus_of_each", "snapshot: consensus")
    parts.watch(ExportCounts, "add", "snapshot: what each format leaves out")
    parts.watch(tally.Tally, "_add", "snapshot: other counts")
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        [backend] = cursor.fetchone()

    def run(work: str, body: Callable[[], Any]) -> Any:
        served, all_threads, own = backend_seconds(backend), time.process_time(), time.thread_time()
        result = parts.run(f"{work}: other", body)
        others = time.process_time() - all_threads - (time.thread_time() - own)
        if work == "import":
            known = sum(parts.seconds[part] for part in set(ahead.values()))
            parts.seconds["import: read and parse, ahead"] = others - known
        if work != "export":
            parts.seconds[f"{work}: PostgreSQL"] = backend_seconds(backend) - served
        return result

    def import_file(*, labelled: bool) -> Any:
        name = "labelled" if labelled else "plain"
        path = folder / f"{name}.jsonl"
        path.write_bytes(b"".join(as_line(solution(number), labelled=labelled) for number in range(solutions)))
        project = create_project(by=manager, name=name, slug=name)
        job = create_import(by=None, project=project, path=path, filename=path.name, manner=Manner())
        run("import", lambda: import_body.run_import(job.pk))
        job.refresh_from_db()
        assert job.accepted == solutions, (job.error, job.accepted)
        return project

    project = import_file(labelled=True)
    parts.seconds.clear()  # the table has the import of a plain file
    import_file(labelled=False)
    snapshot = run("snapshot", lambda: snapshots.create_snapshot(by=None, project=project, filters={}))
    everything = ("pool", "calibration", "holdout")
    run("export", lambda: sum(map(len, export_snapshot(snapshot, "prm800k", splits=everything))))
    parts.seconds["export: PRM800K, from the snapshot's file"] = parts.seconds.pop("export: other")
    return parts.seconds


def run_here(solutions: int, checkout: Path) -> None:
    sys.path[:0] = [str(checkout)]
    from launch.embedded import servers

    with tempfile.TemporaryDirectory() as folder, servers(Path(folder), external={}) as addresses:
        os.environ.update(addresses, VAR_DIR=folder, DJANGO_SETTINGS_MODULE="config.settings.test")
        import django

        django.setup()
        print(json.dumps(measure(solutions, Path(folder))))
        from django.db import connection

        connection.close()


def compare(solutions: int, rounds: int, checkouts: list[Path]) -> None:
    least: list[dict[str, float]] = [{} for _ in checkouts]
    for _ in range(rounds):
        for best, checkout in zip(least, checkouts, strict=True):
            command = [sys.executable, str(HERE), "--solutions", str(solutions), "--inside", str(checkout)]
            done = subprocess.run(command, check=True, stdout=subprocess.PIPE, cwd=checkout)
            for part, seconds in json.loads(done.stdout.splitlines()[-1]).items():
                best[part] = min(best.get(part, seconds), seconds)
    for best in least:
        for work in ("import", "snapshot", "export"):
            best[f"{work}: all"] = sum(seconds for part, seconds in best.items() if part.startswith(work))
    print("| part, microseconds of CPU per solution |" + "".join(f" {checkout.name} |" for checkout in checkouts))
    print("|---|" + "---:|" * len(checkouts))
    for part in sorted(least[0], key=lambda part: (part.split(":")[0], part.endswith("all"), -least[0][part])):
        print(f"| {part} |" + "".join(f" {best.get(part, 0.0) / solutions * 1e6:.1f} |" for best in least), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--solutions", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--checkouts", type=Path, nargs="+", default=[HERE.parent.parent])
    parser.add_argument("--inside", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.inside:
        run_here(arguments.solutions, arguments.inside)
    else:
        compare(arguments.solutions, arguments.rounds, [checkout.resolve() for checkout in arguments.checkouts])


if __name__ == "__main__":
    main()
