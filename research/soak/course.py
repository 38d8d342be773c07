"""The course of a soak test: runs the annotators, kills processes as planned, and checks after each generation."""

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

CHECK_SECONDS = 1.0
PATIENCE = 90  # seconds for the last deliveries


@dataclass
class Course:
    """The events so far: seconds of each generation, killed processes, broken invariants, and failures."""

    project: Project
    started: float = field(default_factory=time.monotonic)
    generations: list[float] = field(default_factory=list)
    struck: list[str] = field(default_factory=list)
    client_deaths: int = 0
    broken: dict[str, list[str]] = field(default_factory=dict)
    checks: int = 0
    submissions: int = 0
    failed_runs: list[str] = field(default_factory=list)
    hung: str = ""
    ended: float | None = None

    @property
    def seconds(self) -> float:
        """Seconds from the start to the end of the last client."""
        return (self.ended or time.monotonic()) - self.started


class Crew:
    """The annotators' programs. A dead one is started again, as a person reopens the laptop."""

    def __init__(self, files: list[Path], folder: Path) -> None:
        self._files, self._folder = files, folder
        self._running: dict[Path, subprocess.Popen[bytes]] = {}
        self.deaths = 0

    def restart_dead(self) -> None:
        for file in self._files:
            process = self._running.get(file)
            if process is not None and process.poll() is not None:
                self.deaths += 1
            if process is None or process.poll() is not None:
                self._running[file] = self._start(file)

    def kill_one(self, chance: random.Random) -> None:
        chance.choice(list(self._running.values())).kill()

    def finish(self) -> bool:
        """Let all programs deliver their submissions and end; returns whether all of them did in time."""
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
    """Run until the requested number of generations is labelled and trained on, or the time limit."""
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
        crew.restart_dead()
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
            # What a short generation left of the plan happens in the next one.
            blows = [Blow(number + 1, b.after, b.part, b.child) if b.generation == number else b for b in blows]
            _check(books, folder, course)
            say(course, f"generation {number} labelled and learned from in {course.generations[-1]:.0f} s")
        time.sleep(CHECK_SECONDS)
    if not crew.finish():
        course.hung = course.hung or f"a client could not deliver within {PATIENCE} seconds"
    course.ended = time.monotonic()
    course.client_deaths = crew.deaths
    books.closed = True
    _check(books, folder, course)
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
    """The number of finished rounds; -1 during an outage of the database."""
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


def _check(books: Books, folder: Path, course: Course) -> None:
    """Check every invariant. The ledgers are read first, so that the database must have all of their entries."""
    books.entries = read_ledgers(folder)
    while True:
        try:
            results = check(books)
            break
        except Error:
            connections.close_all()
            time.sleep(CHECK_SECONDS)
    course.checks += 1
    for name, broken in results.items():
        known = course.broken.setdefault(name, [])
        known += [one for one in broken if one not in known]
        for one in broken[:5]:
            say(course, f"BROKEN: {name}: {one}")
