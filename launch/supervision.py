"""The long-running processes, kept running by supervisord: web, three workers and beat."""

import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from launch.devices import SLOTS, training_slots
from launch.errors import LaunchError
from launch.options import BASE_DIR, Options
from launch.tether import ANY_PARENT, tethered

WEB_WORKERS, WEB_THREADS, DATABASE_CONNECTIONS = 2, 32, 8  # most threads wait for scores, without a connection
STOP_SECONDS = 20  # above Celery's soft shutdown timeout
SUPERVISOR_STOP_SECONDS = 30


@dataclass(frozen=True)
class Program:
    """One process to keep running."""

    name: str
    command: list[str]
    environment: dict[str, str] = field(default_factory=dict)


def worker_commands(slots: Sequence[str] = ()) -> dict[str, list[str]]:
    """The worker of each queue. Scoring never stands behind training, a subprocess: one at a time for each GPU slot."""
    return {
        "default": _worker("default", pool="prefork", concurrency=2),
        "gpu": _worker("gpu", pool="threads", concurrency=max(1, len(slots))),
        # Batches of scoring requests are capped by prefetch.
        "score": [*_worker("score", pool="threads", concurrency=1), "--prefetch-multiplier", "64"],
    }


def programs(options: Options) -> list[Program]:
    """What runs."""
    metrics = options.var / "run" / "prometheus"
    web = [
        _script("gunicorn"), "config.wsgi", "--bind", f"{options.host}:{options.port}",
        "--workers", str(WEB_WORKERS), "--worker-class", "gthread", "--threads", str(WEB_THREADS),
        "--timeout", "60", "--graceful-timeout", "5", "--keep-alive", "30", "--no-control-socket",
        "--worker-tmp-dir", str(options.var / "run"),
    ]  # fmt: skip
    slots = training_slots(os.environ)
    told = {"gpu": {SLOTS: ";".join(slots)}}
    beat = ["beat", "--schedule", str(options.var / "run" / "beat"), "--pidfile="]
    return [
        Program("web", web, {"DATABASE_POOL": str(DATABASE_CONNECTIONS), "PROMETHEUS_MULTIPROC_DIR": str(metrics)}),
        *(Program(queue, command, told.get(queue, {})) for queue, command in worker_commands(slots).items()),
        Program("beat", _celery(*beat)),
    ]


def become_worker(queue: str) -> NoReturn:
    """Become the worker of a queue, as a container's command does; raises LaunchError for a queue that is not there."""
    slots = training_slots(os.environ)
    command = worker_commands(slots).get(queue)
    if command is None:
        raise LaunchError(f"There is no queue {queue!r}: the queues are {', '.join(worker_commands())}.")
    os.execve(command[0], command, os.environ | {SLOTS: ";".join(slots)})


@contextmanager
def supervised(options: Options, environment: Mapping[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """Run the programs for as long as the block runs."""
    folder = options.var / "run"
    (folder / "prometheus").mkdir(parents=True, exist_ok=True)
    for old in (folder / "prometheus").glob("*.db"):
        old.unlink()
    configuration = folder / "supervisord.conf"
    configuration.write_text(supervisor_configuration(programs(options), folder, options.var / "log"))
    process = subprocess.Popen(
        tethered([_script("supervisord"), "--nodaemon", "--configuration", str(configuration)]),
        cwd=BASE_DIR, env=os.environ | dict(environment), start_new_session=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        yield process
    finally:
        if process.poll() is None:
            process.terminate()
        try:
            process.wait(SUPERVISOR_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()  # its programs are tethered to it
            process.wait()


def supervisor_configuration(running: list[Program], folder: Path, logs: Path) -> str:
    """The text of supervisord.conf."""
    sections = [
        "[supervisord]",
        _line("logfile", logs / "supervisor.log"),
        _line("pidfile", folder / "supervisord.pid"),
        *(["user=root"] if os.geteuid() == 0 else []),  # say that root is meant, or it warns
    ]
    # One group: supervisord stops groups one after another, and the programs of a group together.
    sections += ["", "[group:stepmark]", f"programs={','.join(program.name for program in running)}"]
    for program in running:
        command = tethered(program.command, on_parent_death=signal.SIGKILL, parent=ANY_PARENT)
        sections += [
            "",
            f"[program:{program.name}]",
            _line("command", shlex.join(command)),
            _line("directory", BASE_DIR),
            _line("environment", ",".join(f'{name}="{value}"' for name, value in program.environment.items())),
            _line("stdout_logfile", logs / f"{program.name}.log"),
            "redirect_stderr=true",
            "stdout_logfile_maxbytes=10MB",
            "stdout_logfile_backups=2",
            f"stopwaitsecs={STOP_SECONDS}",
            "killasgroup=true",
            "autorestart=true",
            "startretries=10",
        ]
    return "\n".join(sections) + "\n"


def _line(key: str, value: object) -> str:
    """One setting; supervisord expands `%`, so a plain one is doubled."""
    return f"{key}={str(value).replace('%', '%%')}"


def _worker(queue: str, *, pool: str, concurrency: int) -> list[str]:
    return _celery(
        "worker", "--queues", queue, "--hostname", f"{queue}@%h", "--pool", pool, "--concurrency", str(concurrency),
        "--without-gossip", "--without-mingle", "--loglevel", "INFO",
    )  # fmt: skip


def _celery(*arguments: str) -> list[str]:
    return [_script("celery"), "--app", "config.celery", *arguments]


def _script(name: str) -> str:
    """A command of the environment that this Python belongs to."""
    return str(Path(sys.executable).parent / name)
