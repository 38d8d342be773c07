"""Stepmark as a side of the comparison: the web processes and the worker, started as `make run` does."""

import json
import subprocess
import sys
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from benchmarks.label_studio.processes import inherited, running
from benchmarks.label_studio.solutions import as_line, solution
from benchmarks.label_studio.web import Door, await_answer
from benchmarks.label_studio.work import Request, Task
from launch.options import Options
from launch.supervision import WEB_THREADS, WEB_WORKERS, prepared_file, programs
from prm.formats.record import Record, RecordAnnotation

NAME = "Stepmark"
ROOT = Path(__file__).parents[2]
PEOPLE = "benchmarks.label_studio.people_of_stepmark"
PROCESSES = ("web", "default")
WORKERS, THREADS = WEB_WORKERS, WEB_THREADS
LOOK_SECONDS = 0.1


class _Id(msgspec.Struct):
    id: int


class _Position(msgspec.Struct):
    alternatives: list[_Id]


class _Solution(msgspec.Struct):
    id: int
    steps: list[_Position]


class _Given(msgspec.Struct):
    lease: _Id
    solution: _Solution


class _Claim(msgspec.Struct):
    """The response to a claim; a label that claims has it as `next`."""

    task: _Given | None = None
    next: "_Claim | None" = None


class Stepmark:
    """Our platform through its API; projects are named by their slugs."""

    name = NAME

    def __init__(
        self, address: str, secrets: list[str], processes: list[int], environment: Mapping[str, str], checkout: Path
    ) -> None:
        self.address, self.processes, self.checkout = address, processes, checkout
        self.people = [f"Token {secret}" for secret in secrets[1:]]
        self._manager = Door(address, f"Token {secrets[0]}")
        self.environment = environment

    def make_project(self, title: str, *, policy: Mapping[str, Any] | None = None) -> str:
        """A project with all annotators as members, and one annotation for each solution."""
        slug = f"p{uuid.uuid4().hex[:12]}"
        body = {"slug": slug, "name": title, "policy": dict(policy or {})}
        self._manager.ask("POST", "/api/v1/projects/", body)
        self._ask_people("join", slug)
        return slug

    def content(self, numbers: Iterable[int], *, labelled: bool) -> bytes:
        """These solutions as a file for our importer."""
        return b"".join(as_line(solution(number), labelled=labelled) for number in numbers)

    def take_in(self, project: str, content: bytes) -> None:
        """Import: upload the file, and wait until a worker has imported it."""
        kind, body = _as_form(content)
        job = self._ended(self._manager.ask("POST", f"/api/v1/projects/{project}/imports/", body, kind=kind))
        if job["state"] != "done" or job["rejected"] or job["duplicates"]:
            raise SystemExit(f"The import ended otherwise than expected: {job}")

    def open_queue(self, project: str, count: int) -> None:
        """Put this number of solutions into the queue at once, the most that its design allows."""
        mix = {"control": 0, "holdout": 0, "calibration": 0, "overlap": 0}
        policy = {"policy": {"generation_budget": count, "mix": mix}}
        self._manager.ask("PATCH", f"/api/v1/projects/{project}/", policy)
        self._manager.ask("POST", f"/api/v1/projects/{project}/generations/", {})

    def places(self, project: str, tasks: Sequence[int]) -> list[int]:
        """The places of these tasks in the queue, from 1."""
        return list(self._ask_people("places", project, *map(str, tasks)))

    def given_out(self, count: int) -> list[int]:
        """The numbers of the first solutions in the queue, which leaves out problems reserved for measuring."""
        return list(self._ask_people("pool", str(count)))

    def session(self) -> tuple[str, str]:
        """Name and value of the session cookie of an annotator."""
        name, value = self._ask_people("session")
        return name, value

    def claim(self, project: str) -> Request:
        """The request for the next task."""
        return Request("POST", f"/api/v1/projects/{project}/claim/", b"{}")

    def claimed(self, project: str, body: bytes, *, together: bool = False) -> Task:
        """The task in the response, with the request that submits it; `together`, it also claims the next one."""
        claim = _CLAIM.decode(body)
        task = (claim.next or claim).task
        assert task is not None, "the pool is empty"
        steps = [position.alternatives[0].id for position in task.solution.steps]
        sent = {
            "submission_id": str(uuid.uuid4()),
            "solution": task.solution.id,
            "lease": task.lease.id,
            "finish_reason": "solution",
            "total_ms": 60_000,
            "path": [
                {"position": place, "chosen": step, "ratings": [{"step": step, "state": "rated", "rating": 1}]}
                for place, step in enumerate(steps)
            ],
        }
        if together:
            sent["holding"] = []
        submit = Request("POST", f"/api/v1/projects/{project}/annotations/", msgspec.json.encode(sent))
        return Task(task.solution.id, submit)

    def export(self, project: str) -> int:
        """Create a snapshot of all labels and download it as PRM800K; returns its size in bytes."""
        return self.download(self.freeze(project))

    def freeze(self, project: str) -> int:
        """Create a snapshot; returns its id."""
        return int(self._ended(self._manager.ask("POST", f"/api/v1/projects/{project}/exports/", {}))["snapshot"])

    def ratings(self, project: str) -> dict[int, list[int]]:
        """The ratings of every labelled solution, by its number, in the order of its steps."""
        address = f"/api/v1/snapshots/{self.freeze(project)}/download/?format=records"
        records = map(_RECORD.decode, self._manager.ask("GET", address, raw=True).splitlines())
        return {int(record.external_id): _ratings(record.annotations[0]) for record in records}

    def download(self, snapshot: int) -> int:
        """Download a snapshot as PRM800K; returns its size in bytes."""
        return self._manager.stream(f"/api/v1/snapshots/{snapshot}/download/?format=prm800k")

    def delete_as_member(self, project: str) -> int:
        """The status of the response when a plain member deletes the project."""
        return Door(self.address, self.people[0]).status("DELETE", f"/api/v1/projects/{project}/")

    def _ended(self, job: Any) -> Any:
        """The job at its end."""
        while job["state"] not in ("done", "failed", "cancelled"):
            time.sleep(LOOK_SECONDS)
            job = self._manager.ask("GET", f"/api/v1/projects/{job['project']}/jobs/{job['kind']}/{job['id']}/")
        return job

    def _ask_people(self, *arguments: str) -> Any:
        return _ask_people(self.checkout, self.environment, *arguments)


def _ratings(annotation: RecordAnnotation) -> list[int]:
    said = [rating.rating for place in annotation.path for rating in place.ratings]
    return [rating for rating in said if rating is not None]


_CLAIM = msgspec.json.Decoder(_Claim)
_RECORD = msgspec.json.Decoder(Record)


@contextmanager
def stepmark(
    *, var: Path, port: int, addresses: Mapping[str, str], people: int, checkout: Path = ROOT
) -> Iterator[Stepmark]:
    """Run the platform of a checkout on the servers at `addresses`, with a manager and annotators."""
    var.mkdir(parents=True, exist_ok=True)
    (var / "run" / "prometheus").mkdir(parents=True, exist_ok=True)
    options = Options("127.0.0.1", port, var, dict(addresses))
    environment = inherited({**addresses, "VAR_DIR": str(var), "DJANGO_SETTINGS_MODULE": "config.settings.local"})
    subprocess.run(
        [sys.executable, "manage.py", "migrate", "--verbosity", "0"], cwd=checkout, env=environment, check=True
    )
    prepared_file(options).touch()
    secrets = _ask_people(checkout, environment, "people", str(people))
    chosen = [program for program in programs(options) if program.name in PROCESSES]
    with running(
        {one.name: ["env", *map("=".join, one.environment.items()), *one.command] for one in chosen},
        cwd=checkout,
        environment=environment,
        logs=var / "log",
    ) as processes:
        await_answer(f"{options.address}healthz")
        yield Stepmark(options.address.rstrip("/"), secrets, processes, environment, checkout)


def _ask_people(checkout: Path, environment: Mapping[str, str], *arguments: str) -> Any:
    done = subprocess.run(
        [sys.executable, "-m", PEOPLE, *arguments], cwd=checkout, env=environment, check=True, stdout=subprocess.PIPE
    )
    return json.loads(done.stdout.splitlines()[-1])


def _as_form(content: bytes) -> tuple[str, bytes]:
    """The content type and the body of a form with one file."""
    boundary = uuid.uuid4().hex
    head = f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="solutions.jsonl"\r\n\r\n'
    return f"multipart/form-data; boundary={boundary}", head.encode() + content + f"\r\n--{boundary}--\r\n".encode()
