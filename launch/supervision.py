"""Runs the long-running processes under supervisord: web, three workers and beat."""

import http.client
import os
import shlex
import signal
import subprocess
import sys
import xmlrpc.client
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from supervisor.states import ProcessStates
from supervisor.xmlrpc import SupervisorTransport

from launch.devices import SLOTS, training_slots
from launch.embedded import socket_folder
from launch.errors import LaunchError
from launch.options import BASE_DIR, Options
from launch.tether import SESSION_LEADER, tethered

WEB_WORKERS, WEB_THREADS, DATABASE_CONNECTIONS = 2, 32, 8  # most threads wait for scores and need no connection
STOP_SECONDS = 20  # above Celery's soft shutdown timeout
SUPERVISOR_STOP_SECONDS = 30
ANSWER_SECONDS = 20  # for one health check; on a busy machine the first request is slow
GROUP = "stepmark"
ALIVE = {ProcessStates.STARTING, ProcessStates.RUNNING}


@dataclass(frozen=True)
class Program:
    """A process to keep running; `ready` returns why it is not ready yet, "" if it is."""

    name: str
    command: list[str]
    environment: dict[str, str] = field(default_factory=dict)
    ready: Callable[[], str] = str


@dataclass(frozen=True)
class State:
    """The state of a process: supervisord does not restart a `given_up` one; `exited_at` is its last exit, or 0."""

    running: bool
    given_up: bool
    exited_at: int


class Supervisor:
    """A running supervisord, which starts the web at once and the other programs on `start_all`."""

    def __init__(self, process: subprocess.Popen[bytes], socket: Path, logs: Path) -> None:
        self.process = process
        self._socket = socket
        self._logs = logs

    def raise_if_ended(self) -> None:
        """Raises LaunchError if supervisord has ended."""
        if self.process.poll() is not None:
            raise LaunchError(f"The supervisor stopped unexpectedly: see {self._logs / 'supervisor.log'}.")

    def states(self) -> dict[str, State]:
        """The state of each process by name; empty while supervisord itself is starting.

        Raises LaunchError if supervisord has ended.
        """
        self.raise_if_ended()
        try:
            processes: list[dict[str, object]] = self._call().supervisor.getAllProcessInfo()  # type: ignore[assignment]
        except (OSError, http.client.HTTPException, xmlrpc.client.Error):
            return {}
        return {
            str(info["name"]): State(
                running=info["state"] in ALIVE,
                given_up=info["state"] == ProcessStates.FATAL,
                exited_at=int(str(info["stop"])),
            )
            for info in processes
        }

    def start_all(self) -> None:
        """Start the programs that do not run yet."""
        self._call().supervisor.startProcessGroup(GROUP, False)

    def log(self, program: Program) -> Path:
        """The log file of a process."""
        return self._logs / f"{program.name}.log"

    def _call(self) -> xmlrpc.client.ServerProxy:
        return xmlrpc.client.ServerProxy("http://supervisor", SupervisorTransport(None, None, f"unix://{self._socket}"))


def worker_commands(slots: Sequence[str] = ()) -> dict[str, list[str]]:
    """The command of the worker of each queue.

    Scoring does not wait for training, which has its own worker: one training at a time for each GPU slot.
    """
    return {
        "default": _worker("default", pool="prefork", concurrency=2),
        "gpu": _worker("gpu", pool="threads", concurrency=max(1, len(slots))),
        # Batches of scoring requests are capped by prefetch.
        "score": [*_worker("score", pool="threads", concurrency=1), "--prefetch-multiplier", "64"],
    }


def programs(options: Options) -> list[Program]:
    """The programs, the web first."""
    run = options.var / "run"
    web = [
        sys.executable, "-m", "gunicorn", "config.wsgi", "--config", "python:config.gunicorn",
        "--bind", options.bind, "--workers", str(WEB_WORKERS), "--threads", str(WEB_THREADS),
        "--worker-tmp-dir", str(run),
    ]  # fmt: skip
    slots = training_slots(os.environ)
    workers = worker_commands(slots)
    own = {
        "DATABASE_POOL": str(DATABASE_CONNECTIONS),
        "PROMETHEUS_MULTIPROC_DIR": str(run / "prometheus"),
        "AWAITED_WORKERS": ",".join(workers),
        "PREPARED_FILE": str(prepared_file(options)),
    }
    beat = ["beat", "--schedule", str(run / "beat"), "--pidfile="]
    return [
        Program("web", web, own, lambda: _health(options)),
        *(_worker_program(queue, command, run / f"{queue}.ready", slots) for queue, command in workers.items()),
        Program("beat", _celery(*beat)),
    ]


def prepared_file(options: Options) -> Path:
    """The file that the launcher creates after the migration; the web then opens its address."""
    return options.var / "run" / "database.ready"


def become_worker(queue: str) -> NoReturn:
    """Replace this process by the worker of a queue. Raises LaunchError for an unknown queue."""
    slots = training_slots(os.environ)
    command = worker_commands(slots).get(queue)
    if command is None:
        raise LaunchError(f"There is no queue {queue!r}: the queues are {', '.join(worker_commands())}.")
    os.execve(command[0], command, os.environ | {SLOTS: ";".join(slots)})


@contextmanager
def supervised(
    options: Options, running: Sequence[Program], environment: Mapping[str, str] | None = None
) -> Iterator[Supervisor]:
    """Run the programs during the block: the first at once, the others after `start_all`."""
    folder, logs = options.var / "run", options.var / "log"
    for needed in (folder, logs):
        needed.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.ready"):
        old.unlink()
    socket = socket_folder(options.var) / "supervisor.sock"
    configuration = folder / "supervisord.conf"
    configuration.write_text(supervisor_configuration(running, folder, logs, socket))
    process = subprocess.Popen(
        tethered([sys.executable, "-m", "supervisor.supervisord", "--nodaemon", "--configuration", str(configuration)]),
        cwd=BASE_DIR, env=os.environ | dict(environment or {}), start_new_session=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        yield Supervisor(process, socket, logs)
    finally:
        if process.poll() is None:
            process.terminate()
        try:
            process.wait(SUPERVISOR_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()  # its programs are tethered to it
            process.wait()


def supervisor_configuration(running: Sequence[Program], folder: Path, logs: Path, socket: Path) -> str:
    """The text of supervisord.conf. Only the first program starts at once, so that the others do not slow it down."""
    sections = [
        "[supervisord]",
        _line("logfile", logs / "supervisor.log"),
        _line("pidfile", folder / "supervisord.pid"),
        *(["user=root"] if os.geteuid() == 0 else []),  # without it, supervisord warns that it runs as root
    ]
    sections += ["", "[unix_http_server]", _line("file", socket), "chmod=0700"]
    factory = "supervisor.rpcinterface:make_main_rpcinterface"
    sections += ["", "[rpcinterface:supervisor]", f"supervisor.rpcinterface_factory={factory}"]
    # One group: supervisord stops groups one after another, and the programs of a group together.
    sections += ["", f"[group:{GROUP}]", f"programs={','.join(program.name for program in running)}"]
    for program in running:
        command = tethered(program.command, on_parent_death=signal.SIGKILL, parent=SESSION_LEADER)
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
            f"autostart={'true' if program is running[0] else 'false'}",
            "autorestart=true",
            "startretries=10",
        ]
    return "\n".join(sections) + "\n"


def _worker_program(queue: str, command: list[str], ready: Path, slots: Sequence[str]) -> Program:
    environment = {"READY_FILE": str(ready)} | ({SLOTS: ";".join(slots)} if queue == "gpu" else {})
    return Program(queue, command, environment, lambda: "" if ready.exists() else "loading")


def _health(options: Options) -> str:
    """Why the web application is not healthy yet, "" if it is. Uses no proxy of the environment."""
    connection = http.client.HTTPConnection(options.local_host, options.port, timeout=ANSWER_SECONDS)
    try:
        connection.request("GET", "/healthz", headers={"Host": "localhost"})
        answer = connection.getresponse()
        if answer.status == http.HTTPStatus.OK:
            return ""
        return f"answers {answer.status}: {answer.read(200).decode(errors='replace')}"
    except (OSError, http.client.HTTPException):
        return "no answer yet"
    finally:
        connection.close()


def _line(key: str, value: object) -> str:
    """One setting; supervisord expands `%`, so it is doubled."""
    return f"{key}={str(value).replace('%', '%%')}"


def _worker(queue: str, *, pool: str, concurrency: int) -> list[str]:
    return _celery(
        "worker", "--queues", queue, "--hostname", f"{queue}@%h", "--pool", pool, "--concurrency", str(concurrency),
        "--without-gossip", "--without-mingle", "--loglevel", "INFO",
    )  # fmt: skip


def _celery(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "celery", "--app", "config.celery", *arguments]
