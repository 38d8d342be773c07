"""The course of a soak: people at work, blows as planned, a look at the books after each generation."""

import argparse
import random
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from django.contrib.auth.models import User
from django.db import Error, close_old_connections, connections

from annotation.models import Project, TrainingRun
from launch.options import BASE_DIR
from launch.tether import tethered
from research.soak.books import read_ledgers
from research.soak.chaos import Blow, plan
from research.soak.invariants import Books, check
from research.soak.platform import Platform
from research.soak.project import create, hire

LOOK_SECONDS = 1.0
PATIENCE = 90  # seconds for the last deliveries


@dataclass
class Course:
    """What happened: seconds of each generation, blows that were struck, and what broke at which look."""

    project: Project
    started: float = field(default_factory=time.monotonic)
    generations: list[float] = field(default_factory=list)
    struck: list[str] = field(default_factory=list)
    client_deaths: int = 0
    broken: dict[str, list[str]] = field(default_factory=dict)
    looks: int = 0
    submissions: int = 0
    failed_runs: list[str] = field(default_factory=list)
    hung: str = ""
    ended: float | None = None

    @property
    def seconds(self) -> float:
        """Since the start, until the last client had gone."""
        return (self.ended or time.monotonic()) - self.started


class Crew:
    """The annotators' programs; a dead one is started again, as a person opens the laptop again."""

    def __init__(self, files: list[Path], folder: Path) -> None:
        self._files, self._folder = files, folder
        self._running: dict[Path, subprocess.Popen[bytes]] = {}
        self.deaths = 0

    def look_after(self) -> None:
        for file in self._files:
            process = self._running.get(file)
            if process is not None and process.poll() is not None:
                self.deaths += 1
            if process is None or process.poll() is not None:
                self._running[file] = self._start(file)

    def kill_one(self, chance: random.Random) -> None:
        chance.choice(list(self._running.values())).kill()

    def finish(self) -> bool:
        """Let everybody deliver what they have and go; whether all of them did so by themselves."""
        (self._folder / "stop").touch()
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline and any(p.poll() != 0 for p in self._running.values()):
            for file, process in self._running.items():
                if process.poll() not in (None, 0):  # it died before it could deliver
                    self.deaths += 1
                    self._running[file] = self._start(file)
            time.sleep(0.2)
        done = all(process.poll() == 0 for process in self._running.values())
        for process in self._running.values():
            process.kill()
            process.wait()
        return done

    def _start(self, file: Path) -> subprocess.Popen[bytes]:
        with (self._folder / f"{file.stem}.log").open("ab") as log:
            command = tethered([sys.executable, "-m", "research.soak.people", str(file)])
            return subprocess.Popen(command, cwd=BASE_DIR, stdin=subprocess.DEVNULL, stdout=log, stderr=log)


def run(options: argparse.Namespace, running: Platform, var: Path) -> Course:
    """Until as many generations are labelled and learned from as were asked for, or the limit is over."""
    folder = var / "clients"
    folder.mkdir()
    project, manager = create(
        solutions=options.solutions, budget=options.budget, control=options.control, seed=options.seed
    )
    files = _hire(options, running, project, manager, folder)
    course, books = Course(project), Books(project, [])
    blows = plan(generations=options.generations, seed=options.seed, kills=options.kills, span=options.span)
    chance = random.Random(options.seed)
    crew = Crew(files, folder)
    say(course, f"{project.solutions.count()} solutions, {len(files)} tabs, {len(blows)} blows planned")
    opened = time.monotonic()
    while len(course.generations) < options.generations:
        crew.look_after()
        if course.seconds > options.limit * 60:
            course.hung = f"generation {len(course.generations)} did not end within {options.limit:.0f} minutes"
            break
        number = len(course.generations)
        for blow in [b for b in blows if b.generation == number and time.monotonic() - opened >= b.after]:
            blows.remove(blow)
            _strike(running, blow, course)
            crew.kill_one(chance)
        if _learned(project, course) > number:
            course.generations.append(time.monotonic() - opened)
            opened = time.monotonic()
            # Blows that a quick generation left over fall in the next one.
            blows = [Blow(number + 1, b.after, b.part, b.child) if b.generation == number else b for b in blows]
            _look(books, folder, course)
            say(course, f"generation {number} labelled and learned from in {course.generations[-1]:.0f} s")
        time.sleep(LOOK_SECONDS)
    if not crew.finish():
        course.hung = course.hung or f"a client could not deliver within {PATIENCE} seconds"
    course.ended = time.monotonic()
    course.client_deaths = crew.deaths
    books.closed = True
    _look(books, folder, course)
    course.submissions = len(books.entries)
    return course


def say(course: Course, what: str) -> None:
    print(f"{course.seconds:7.1f} s  {what}", flush=True)


def _hire(options: argparse.Namespace, running: Platform, project: Project, manager: User, folder: Path) -> list[Path]:
    return hire(
        project,
        manager,
        address=running.address,
        folder=folder,
        solutions=options.solutions,
        seed=options.seed,
        hurry=options.hurry,
    )


def _strike(running: Platform, blow: Blow, course: Course) -> None:
    if running.kill(blow.part, child=blow.child):
        course.struck.append(blow.name)
        say(course, f"killed {blow.name}")


def _learned(project: Project, course: Course) -> int:
    """Rounds that succeeded; -1 while the database is away."""
    try:
        close_old_connections()
        course.failed_runs = [
            f"run {number}: {error}"
            for number, error in project.training_runs.filter(state=TrainingRun.State.FAILED).values_list(
                "number", "error"
            )
        ]
        return project.training_runs.filter(state=TrainingRun.State.DONE).count()
    except Error:
        connections.close_all()
        return -1


def _look(books: Books, folder: Path, course: Course) -> None:
    """Check every invariant; the ledgers are read first, so that all they tell must be there."""
    books.entries = read_ledgers(folder)
    while True:
        try:
            found = check(books)
            break
        except Error:
            connections.close_all()
            time.sleep(LOOK_SECONDS)
    course.looks += 1
    for name, broken in found.items():
        told = course.broken.setdefault(name, [])
        told += [one for one in broken if one not in told]
        for one in broken[:5]:
            say(course, f"BROKEN: {name}: {one}")
