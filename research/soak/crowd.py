"""Runs a crowd: annotators with think time on a pool of a million, beside imports, exports, training and scoring.

    python -m research.soak.crowd --var var/crowd --prepare
    python -m research.soak.crowd --var var/crowd --json var/crowd.json

The first command makes the platform's folder with the pool, which takes some minutes; the second one uses it up. It
starts the platform as `make run` does, kills nothing, and expects no error. Prints the latencies, the memory of each
process, and the invariants; the exit status is 1 after an error, if memory grew, or if an invariant does not hold.
"""

import argparse
import asyncio
import json
import os
import random
import sys
import time
import uuid
from collections import defaultdict
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count, cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import psutil

from benchmarks.label_studio.clients import LOST, Connection
from benchmarks.label_studio.work import Request
from research.soak.platform import Platform, platform

if TYPE_CHECKING:
    from annotation.models import Project
    from annotation.work.labelling.payload import Submission

SLUG = "crowd"
SPREAD = 0.6  # of the logarithm of the think time
SKIPS = 0.02
LABELS_OF_ROUND = 150  # before the first one
PAUSES = {"import": 60.0, "export": 120.0, "start of a round": 240.0, "scoring": 1.0, "page": 5.0}  # seconds
IMPORTED = 2_000  # solutions of a file
SCORERS = 2
MEMORY_SECONDS = 10.0
WATCHED = ("web", "default", "gpu", "score", "beat", "Redis", "PostgreSQL")
GROWTH = 1.10, 20.0  # from the second sixth of the time to the last: the largest ratio, or MB
BOUND = ("web", "default", "beat")  # the other workers load models, and the servers keep data
PAGES = (
    "", "solutions/", "labels/", "queue/", "quality/", "quality/agreement/", "quality/annotators/", "generations/",
    "runs/", "models/", "datasets/", "jobs/", "review/", "members/",
)  # fmt: skip
LIVE = ("queued", "running")
AGAIN = b'hx-get="?again=1"'  # the page asks for figures that are missing or old
THREADS = 32
READY_SECONDS = 300
SOCKET_ERRORS = (OSError, asyncio.IncompleteReadError)


@dataclass
class Diary:
    """The measured calls by kind: seconds since the start, milliseconds; the errors; megabytes by process."""

    started: float = field(default_factory=time.monotonic)
    calls: dict[str, list[tuple[float, float]]] = field(default_factory=lambda: defaultdict(list))
    errors: list[str] = field(default_factory=list)
    memory: dict[str, list[tuple[float, float]]] = field(default_factory=lambda: defaultdict(list))

    @property
    def now(self) -> float:
        return time.monotonic() - self.started

    def note(self, kind: str, asked: float) -> None:
        """A call that began at `asked` and has just ended."""
        self.calls[kind].append((asked, 1000 * (self.now - asked)))

    def fail(self, what: str) -> None:
        self.errors.append(f"{self.now:.0f} s: {what}")
        print(f"ERROR {self.errors[-1]}", flush=True)


@dataclass
class Crowd:
    """The people and programs of a run, and its end in seconds since the start."""

    options: argparse.Namespace
    running: Platform
    project: "Project"
    secrets: dict[str, str]
    diary: Diary
    chance: random.Random

    @property
    def over(self) -> bool:
        return self.diary.now > 60 * self.options.minutes

    async def annotate(self, secret: str, ledger: Any, name: str) -> None:
        """Claim, think, submit, and now and then skip, until the end."""
        from research.soak.books import Entry

        chance = random.Random(name)
        connection = Connection(self.running.address, f"Token {secret}")
        await asyncio.sleep(chance.uniform(0, 2 * self.options.think))
        while not self.over:
            claim = Request("POST", f"/api/v1/projects/{SLUG}/claim/", b'{"holding": []}')
            body = await self.ask(connection, "claim", claim)
            task = body and json.loads(body)["task"]
            if not task:
                await asyncio.sleep(5)
                continue
            await asyncio.sleep(self.options.think * chance.lognormvariate(-(SPREAD**2) / 2, SPREAD))
            if chance.random() < SKIPS:
                await self.ask(
                    connection, "skip", Request("POST", f"/api/v1/leases/{task['lease']['id']}/release/", b"{}")
                )
                continue
            label = rated(task, chance)
            submit = Request("POST", f"/api/v1/projects/{SLUG}/annotations/", msgspec.json.encode(label))
            body = await self.ask(connection, "submit", submit, again=True)
            annotation = json.loads(body)["id"] if body else None
            refused = "" if body else "no response"
            entry = Entry(str(label.submission_id), label.solution, label.payload_hash, name, annotation, refused)
            await asyncio.to_thread(ledger.write, entry)
        connection.close()

    async def ask(self, connection: Connection, kind: str, request: Request, *, again: bool = False) -> bytes:
        """The body of the response; empty after an error. A lost call is an error too, and is repeated with `again`."""
        while True:
            asked = self.diary.now
            try:
                status, body = await connection.ask(request)
            except SOCKET_ERRORS as error:
                status, body = LOST, repr(error).encode()
            if status < 400:
                self.diary.note(kind, asked)
                return body
            self.diary.fail(f"{kind} answered {status}: {body[:200]!r}")
            if not (again and status == LOST):
                return b""
            await asyncio.sleep(1)

    async def repeat(self, kind: str, work: Callable[[], Any], *, quiet: bool = False) -> None:
        """Do work that blocks, in a thread, again and again with the pause of its kind."""
        while not self.over:
            asked = self.diary.now
            try:
                if await asyncio.to_thread(work) is not False and not quiet:
                    self.diary.note(kind, asked)
            except (Exception, SystemExit) as error:
                self.diary.fail(f"{kind}: {error!r}")
            await asyncio.sleep(min(PAUSES[kind], max(60 * self.options.minutes - self.diary.now, 0)))

    async def weigh(self) -> None:
        """Write down the memory of each kind of process."""
        while not self.over:
            for name, megabytes in (await asyncio.to_thread(memory_of, self.running)).items():
                self.diary.memory[name].append((self.diary.now, megabytes))
            await asyncio.sleep(MEMORY_SECONDS)

    async def run(self, folder: Path) -> None:
        from research.soak.books import Ledger

        people = [(name, secret) for name, secret in self.secrets.items() if name.startswith("person")]
        ledger = Ledger(folder, "people")
        programs: list[Awaitable[None]] = [
            *(self.annotate(secret, ledger, name) for name, secret in people),
            *(self.repeat(kind, work, quiet=kind == "page") for kind, work in works(self).items()),
            *(self.repeat("scoring", one) for one in scorers(self)),
            self.weigh(),
        ]
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(THREADS))
        await asyncio.to_thread(await_scores, self)
        self.diary.started = time.monotonic()
        await asyncio.gather(*programs)


def rated(task: dict[str, Any], chance: random.Random) -> "Submission":
    """A label: every step is good, or every step up to a first error."""
    from annotation.work.labelling.payload import GivenPosition, GivenRating, Submission

    places = task["solution"]["steps"]
    wrong = chance.choice([None, *range(len(places))]) if chance.random() < 0.6 else None
    return Submission(
        submission_id=uuid.uuid4(),
        solution=task["solution"]["id"],
        lease=task["lease"]["id"],
        finish_reason="solution" if wrong is None else "found_error",
        path=[
            GivenPosition(
                position=place,
                chosen=None if place == wrong else at["alternatives"][0]["id"],
                dwell_ms=4_000,
                ratings=[
                    GivenRating(step=at["alternatives"][0]["id"], state="rated", rating=-1 if place == wrong else 1)
                ],
            )
            for place, at in enumerate(places[: None if wrong is None else wrong + 1])
        ],
        total_ms=30_000,
    )


def works(crowd: Crowd) -> dict[str, Callable[[], Any]]:
    """What happens beside the labelling, by kind."""
    from benchmarks.label_studio.ours import ROOT, Stepmark
    from benchmarks.label_studio.web import Door

    address, manager = crowd.running.address.rstrip("/"), crowd.secrets["manager"]
    side, door = Stepmark(address, [manager], [], {}, ROOT), Door(address, f"Token {manager}")
    numbers, pages = count(0, IMPORTED), cycle(PAGES)

    def import_file() -> None:
        first = next(numbers)
        side.take_in(SLUG, side.content(range(first, first + IMPORTED), labelled=False))

    def export() -> bool:
        return len(crowd.diary.calls["submit"]) >= LABELS_OF_ROUND and bool(side.export(SLUG))

    def train() -> bool:
        """Start a round if none runs; the time is that of the request."""
        runs = door.ask("GET", f"/api/v1/projects/{SLUG}/runs/")["results"]
        if len(crowd.diary.calls["submit"]) < LABELS_OF_ROUND or any(run["state"] in LIVE for run in runs):
            return False
        door.ask("POST", f"/api/v1/projects/{SLUG}/runs/", {})
        return True

    def page() -> None:
        """Open a page, and compute its figures if the browser would."""
        place, asked = f"{address}/p/{SLUG}/{next(pages)}", crowd.diary.now
        if AGAIN in look(place, crowd.secrets["session"]):
            crowd.diary.note("page", asked)
            asked = crowd.diary.now
            look(f"{place}?again=1", crowd.secrets["session"])
            crowd.diary.note("figures of a page", asked)
        else:
            crowd.diary.note("page", asked)

    return {"import": import_file, "export": export, "start of a round": train, "page": page}


def look(address: str, cookie: str) -> bytes:
    """Open a page as the manager."""
    import urllib.request

    request = urllib.request.Request(address, headers={"Cookie": cookie})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return answer.read()  # type: ignore[no-any-return]


def scorers(crowd: Crowd) -> list[Callable[[], Any]]:
    """Programs that ask for the scores of one solution at a time."""
    from benchmarks.label_studio.web import Door
    from benchmarks.serving.load import bodies_of

    door = Door(crowd.running.address, f"Bearer {crowd.secrets['scoring']}")
    bodies = cycle(bodies_of(256))
    return [lambda: door.ask("POST", "/api/v1/score", next(bodies)) and None] * SCORERS


def await_scores(crowd: Crowd) -> None:
    """Wait until a worker scores: the web answers before the workers have started."""
    from benchmarks.label_studio.web import Refused

    [score, *_] = scorers(crowd)
    deadline = time.monotonic() + READY_SECONDS
    while True:
        try:
            return score()  # type: ignore[no-any-return]
        except Refused:
            if time.monotonic() > deadline:
                raise
            time.sleep(1)


def memory_of(running: Platform) -> dict[str, float]:
    """Megabytes of each kind of process; memory that processes share counts once."""
    found = {}
    for name in WATCHED:
        with suppress(psutil.Error):
            processes = {
                one for found_one in running.find(name) for one in (found_one, *found_one.children(recursive=True))
            }
            found[name] = sum(process.memory_full_info().pss for process in processes) / 2**20
    return found


def prepare(options: argparse.Namespace, var: Path) -> None:
    """Make the pool, the people with their tokens, and a served model; writes the secrets to a file."""
    from django.conf import settings
    from django.contrib.auth.models import User
    from django.test import Client

    from annotation.core.membership.members import add_member
    from annotation.core.membership.projects import create_project
    from annotation.core.membership.tokens import issue_token
    from annotation.loop.selection.generations import open_first_generation
    from annotation.models import Scope
    from benchmarks.large_project import execute, make_solutions, set_sequences
    from benchmarks.serving.platform import _served

    started = time.monotonic()
    manager = User.objects.create_user("crowd-manager", is_staff=True)
    mix = {"control": 0.2, "holdout": 0.15, "calibration": 0.05, "overlap": 0.1}
    policy = {"generation_budget": options.budget, "mix": mix, "training_sources": ["human", "simulated"]}
    project = create_project(by=manager, name="Crowd", slug=SLUG, policy=policy)
    make_solutions(project, options.solutions)
    set_sequences()
    execute("VACUUM ANALYZE")
    open_first_generation(by=manager, project=project, seed=1)
    secrets = {"manager": issue_token(by=manager, name="crowd", scopes=Scope.values)[1]}
    for number in range(options.people):
        user = User.objects.create_user(f"person-{number}")
        add_member(by=manager, project=project, user=user, role="annotator", kind="simulated")
        secrets[user.username] = issue_token(by=user, name="crowd", scopes=("claim", "submit"))[1]
    browser = Client()
    browser.force_login(manager, backend=settings.AUTHENTICATION_BACKENDS[0])
    secrets["session"] = f"{settings.SESSION_COOKIE_NAME}={browser.cookies[settings.SESSION_COOKIE_NAME].value}"
    secrets["scoring"] = _served(var)
    execute("VACUUM ANALYZE")
    (var / "crowd-secrets.json").write_text(json.dumps(secrets))
    print(f"Prepared {options.solutions:,} solutions in {time.monotonic() - started:,.0f} s.", flush=True)


def report(options: argparse.Namespace, diary: Diary, broken: dict[str, list[str]]) -> int:
    """Print the tables and write the file; returns 0 if all is well, else 1."""
    minutes = options.minutes
    print(f"\n| call | number | p50 ms | p95 | p99 | most | p95, first third | last third |\n|---|{'---:|' * 7}")
    for kind, calls in sorted(diary.calls.items()):
        at, took = np.array(calls).T
        thirds = (at < 20 * minutes, at > 40 * minutes)
        cells = [f"{value:,.0f}" for value in (*np.percentile(took, (50, 95, 99)), took.max())]
        cells += [f"{np.percentile(took[third], 95):,.0f}" if third.any() else "" for third in thirds]
        print(f"| {kind} | {len(took):,} | {' | '.join(cells)} |")
    print("\n| process | MB, second sixth | last sixth | most | grew |\n|---|---:|---:|---:|---|")
    grown = []
    for name, samples in diary.memory.items():
        at, size = np.array(samples).T
        begin, end = (
            float(np.median(size[(at >= low * minutes) & (at < low * minutes + 10 * minutes)])) for low in (10, 50)
        )
        grew = end > max(begin * GROWTH[0], begin + GROWTH[1])
        grown += [name] * (grew and name in BOUND)
        print(f"| {name} | {begin:,.0f} | {end:,.0f} | {size.max():,.0f} | {'yes' if grew else 'no'} |")
    print("\n| invariant | broken |\n|---|---:|")
    for name, found in broken.items():
        print(f"| {name} | {len(found)} |", *found[:3])
    print(f"\nErrors: {len(diary.errors)}. Memory grew: {', '.join(grown) or 'nowhere'}.")
    if options.json:
        document = {
            "options": {name: str(value) for name, value in vars(options).items()},
            "calls": diary.calls, "memory": diary.memory, "errors": diary.errors, "broken": broken,
        }  # fmt: skip
        options.json.write_text(json.dumps(document))
    return int(bool(diary.errors or grown or any(broken.values())))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--var", type=Path, required=True, help="folder for all files")
    parser.add_argument("--prepare", action="store_true", help="make the pool, and end")
    parser.add_argument("--solutions", type=int, default=1_000_000)
    parser.add_argument("--budget", type=int, default=50_000, help="solutions of the open generation")
    parser.add_argument("--people", type=int, default=200)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--think", type=float, default=20, help="mean seconds between a claim and its submission")
    parser.add_argument("--port", type=int, default=8190)
    parser.add_argument("--json", type=Path, help="file for the results")
    options = parser.parse_args()
    var, secrets = options.var.absolute(), options.var / "crowd-secrets.json"
    if secrets.exists() == options.prepare or (var / "clients").exists():
        parser.error(f"{var} was used before: choose a new folder" if secrets.exists() else "run --prepare first")
    os.environ.pop("DATABASE_URL", None)
    os.environ.pop("REDIS_URL", None)
    os.environ.update(VAR_DIR=str(var), DJANGO_SETTINGS_MODULE="config.settings.local")
    with platform(var, options.port) as running:
        import django

        django.setup()
        if options.prepare:
            prepare(options, var)
            return 0
        from annotation.models import Project
        from research.soak.books import read_ledgers
        from research.soak.invariants import Books, check

        folder = var / "clients"
        folder.mkdir()
        project = Project.objects.get(slug=SLUG)
        books = Books(project, [])
        check(books)
        crowd = Crowd(options, running, project, json.loads(secrets.read_text()), Diary(), random.Random(0))
        asyncio.run(crowd.run(folder))
        books.entries, books.closed = read_ledgers(folder), True
        return report(options, crowd.diary, check(books))


if __name__ == "__main__":
    sys.exit(main())
