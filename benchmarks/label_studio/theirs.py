"""Label Studio as a side of the comparison: gunicorn, 2 workers of 2 threads, Redis and one worker of its queues."""

import json
import subprocess
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import psycopg

from benchmarks.label_studio import environment
from benchmarks.label_studio.processes import running
from benchmarks.label_studio.solutions import as_task, choice, ratings_of, solution
from benchmarks.label_studio.web import Door, await_answer
from benchmarks.label_studio.work import Request, Task

NAME = "Label Studio"
DATABASE, TABLES = "labelstudio", "labelstudio_tables"
NO_REDIS = {"BENCHMARK_REDIS_SOCKET": "/nowhere"}  # its migrations then do their background work immediately
WORKERS, THREADS = 2, 2


class _Choices(msgspec.Struct):
    steps: list[dict[str, str]]


class _Next(msgspec.Struct):
    id: int
    data: _Choices


class LabelStudio:
    """Label Studio through its API; projects are named by their ids."""

    name = NAME

    def __init__(self, address: str, tokens: list[str], processes: list[int], ask_people: Callable[..., Any]) -> None:
        self.address, self.processes = address, processes
        self.people = [f"Token {token}" for token in tokens[1:]]
        self._owner = Door(address, f"Token {tokens[0]}")
        self._ask_people = ask_people

    def make_project(self, title: str, *, sampling: str = "Sequential sampling", good_at_first: bool = False) -> str:
        """A project for step ratings, one annotation a task. With `good_at_first` every step is good until changed."""
        config = LABEL_CONFIG.replace('value="good"', 'value="good" selected="true"') if good_at_first else LABEL_CONFIG
        made = self._owner.ask(
            "POST",
            "/api/projects/",
            {"title": title, "label_config": config, "sampling": sampling, "maximum_annotations": 1},
        )
        return str(made["id"])

    def join(self, project: str) -> None:
        """Make all members annotators of the project; they only need to be in its organization."""
        self._ask_people("join", project)

    def content(self, numbers: Iterable[int], *, labelled: bool, scored: bool = False) -> bytes:
        """These solutions as the body of an import."""
        tasks = (as_task(solution(number), labelled=labelled, scored=scored) for number in numbers)
        return b"[" + b",".join(msgspec.json.encode(task) for task in tasks) + b"]"

    def take_in(self, project: str, content: bytes) -> None:
        """Import the body; returns at the end of the import."""
        self._owner.ask("POST", f"/api/projects/{project}/import", content)

    def open_queue(self, project: str, count: int) -> None:
        """Do nothing: every task of a project is in the queue."""

    def claim(self, project: str) -> Request:
        """The request for the next task."""
        return Request("GET", f"/api/projects/{project}/next")

    def claimed(self, project: str, body: bytes, *, together: bool = False) -> Task:
        """The task in the response to `claim`, with the request that submits it, which never claims."""
        task = _NEXT.decode(body)
        result = [choice(place, 1) for place in range(len(task.data.steps))]
        sent = msgspec.json.encode({"result": result, "lead_time": 60, "was_cancelled": False})
        return Task(task.id, Request("POST", f"/api/tasks/{task.id}/annotations/", sent))

    def sorted_by_score(self, project: str, person: str) -> int:
        """The task that a person gets on the page when labelling in the order of scores."""
        asked = {
            "ordering": ["tasks:predictions_score"],
            "selectedItems": {"all": True, "excluded": []},
            "filters": {"conjunction": "and", "items": []},
        }
        found = Door(self.address, person).ask("POST", f"/api/dm/actions?id=next_task&project={project}", asked)
        return int(found["id"])

    def export(self, project: str) -> int:
        """Export all labelled tasks as JSON; returns the size in bytes."""
        return self._owner.stream(f"/api/projects/{project}/export?exportType=JSON")

    def ratings(self, project: str) -> dict[int, list[int]]:
        """The ratings of every labelled solution, by its number, in the order of its steps."""
        tasks = self._owner.ask("GET", f"/api/projects/{project}/export?exportType=JSON")
        return {task["data"]["number"]: ratings_of(task["annotations"][0]["result"]) for task in tasks}

    def delete_as_member(self, project: str) -> int:
        """The status of the response when a plain member deletes the project."""
        return Door(self.address, self.people[0]).status("DELETE", f"/api/projects/{project}/")


LABEL_CONFIG = (environment.HERE / "label_config.xml").read_text()
_NEXT = msgspec.json.Decoder(_Next)


@contextmanager
def label_studio(
    *, venv: Path, var: Path, port: int, server: str, sockets: Path, redis: Path, people: int
) -> Iterator[LabelStudio]:
    """Run Label Studio on an empty database of the PostgreSQL at `server`, with an owner and members."""
    environment.prepare(venv)
    given = environment.variables(venv, data=var / "data", database=DATABASE, sockets=sockets, redis=redis)
    package, binaries = environment.package_of(venv), venv / "bin"
    (var / "data").mkdir(parents=True, exist_ok=True)
    python = [str(binaries / "python")]
    _prepare_database(server, given, [*python, "manage.py", "migrate", "--verbosity", "0"], package)

    def ask_people(*arguments: str) -> Any:
        command = [*python, str(environment.HERE / "people_of_label_studio.py"), *arguments]
        done = subprocess.run(
            command, cwd=package, env=given | NO_REDIS, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        return json.loads(done.stdout.splitlines()[-1])

    tokens = ask_people("people", str(people))
    commands = {
        "label-studio": [
            str(binaries / "gunicorn"), "core.wsgi", "--bind", f"127.0.0.1:{port}", "--workers", str(WORKERS),
            "--worker-class", "gthread", "--threads", str(THREADS), "--timeout", "3600", "--keep-alive", "30",
            "--no-control-socket",
        ],
        "label-studio-jobs": [*python, "manage.py", "rqworker", "critical", "high", "default", "low"],
    }  # fmt: skip
    with running(commands, cwd=package, environment=given, logs=var) as processes:
        address = f"http://127.0.0.1:{port}"
        await_answer(f"{address}/health")
        yield LabelStudio(address, tokens, processes, ask_people)


def _prepare_database(server: str, given: dict[str, str], migrate: list[str], package: Path) -> None:
    """Copy a database with Label Studio's tables. It is created once, which takes minutes."""
    with psycopg.connect(server, autocommit=True) as connection:
        there = connection.execute("SELECT FROM pg_database WHERE datname = %s AND datistemplate", [TABLES]).fetchone()
        if there is None:
            print("Making Label Studio's tables...", flush=True)
            connection.execute(f"DROP DATABASE IF EXISTS {TABLES}")
            connection.execute(f"CREATE DATABASE {TABLES}")
            subprocess.run(
                migrate, cwd=package, env=given | NO_REDIS | {"POSTGRE_NAME": TABLES}, check=True,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )  # fmt: skip
            connection.execute(f"ALTER DATABASE {TABLES} IS_TEMPLATE true")
        connection.execute(f"DROP DATABASE IF EXISTS {DATABASE} WITH (FORCE)")
        connection.execute(f"CREATE DATABASE {DATABASE} TEMPLATE {TABLES}")
