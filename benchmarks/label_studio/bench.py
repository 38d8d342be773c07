"""One run of the benchmark: the servers, the two sides, the pools of solutions, and the results."""

import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import msgspec
import psycopg

from benchmarks.label_studio import clients, ours, theirs
from benchmarks.label_studio.processes import Memory
from benchmarks.label_studio.solutions import solution
from benchmarks.label_studio.work import Side
from launch.embedded import servers, socket_folder
from launch.ownership import sole_owner

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "var" / "benchmarks" / "label-studio"
PEOPLE = 16
AT_ONCE = 100_000  # solutions of one import

Figures = dict[str, Any]


class Bench:
    """A run of the benchmark. `measured` has figures by `row/size/side`; they are not measured again."""

    def __init__(self, *, seconds: float, port: int, venv: Path, kept: Path | None) -> None:
        self.seconds, self._port, self._venv, self._kept = seconds, port, venv, kept
        self.measured: dict[str, Figures] = msgspec.json.decode(kept.read_bytes()) if kept and kept.exists() else {}
        self._running = ExitStack()
        self._sides: dict[str, Side] = {}
        self._pools: dict[tuple[str, int, bool], str] = {}

    def __enter__(self) -> "Bench":
        self._running.enter_context(sole_owner(FOLDER))
        self._addresses = self._running.enter_context(servers(FOLDER, external={}))
        return self

    def __exit__(self, *reason: Any) -> None:
        self._running.close()

    @property
    def ours(self) -> ours.Stepmark:
        """Our platform, started at the first use, with its own database."""
        if ours.NAME not in self._sides:
            database = self._addresses["DATABASE_URL"]
            self._execute(database, "DROP DATABASE IF EXISTS stepmark_benchmark WITH (FORCE)")
            self._execute(database, "CREATE DATABASE stepmark_benchmark")
            addresses = self._addresses | {"DATABASE_URL": other_database(database, "stepmark_benchmark")}
            self._sides[ours.NAME] = self._running.enter_context(
                ours.stepmark(var=FOLDER / "stepmark", port=self._port, addresses=addresses, people=PEOPLE)
            )
        side = self._sides[ours.NAME]
        assert isinstance(side, ours.Stepmark)
        return side

    @property
    def theirs(self) -> theirs.LabelStudio:
        """Label Studio, started at the first use, with its own database."""
        if theirs.NAME not in self._sides:
            sockets = socket_folder(FOLDER)
            self._sides[theirs.NAME] = self._running.enter_context(
                theirs.label_studio(
                    venv=self._venv, var=FOLDER / "label-studio", port=self._port + 1,
                    server=self._addresses["DATABASE_URL"], sockets=sockets / "postgres",
                    redis=sockets / "redis" / "redis.sock", people=PEOPLE,
                )
            )  # fmt: skip
        side = self._sides[theirs.NAME]
        assert isinstance(side, theirs.LabelStudio)
        return side

    @property
    def database(self) -> str:
        """The address of a database that belongs to neither side."""
        return self._addresses["DATABASE_URL"]

    def note(self, row: str, size: int, side: str, work: Callable[[], Mapping[str, Any]]) -> None:
        """Measure a cell of the table and store the figures, unless they exist."""
        name = f"{row}/{size}/{side}"
        if name in self.measured:
            return
        print(f"{time.strftime('%H:%M:%S')} {name}", end=" ", flush=True)
        self.measured[name] = dict(work())
        print(
            {key: round(value, 1) if isinstance(value, float) else value for key, value in self.measured[name].items()}
        )
        if self._kept:
            self._kept.parent.mkdir(parents=True, exist_ok=True)
            self._kept.write_bytes(msgspec.json.format(msgspec.json.encode(self.measured)))

    def pool(self, side: Side, size: int, *, labelled: bool = False) -> str:
        """A project with this number of solutions; the first call imports them and measures the import."""
        place = (side.name, size, labelled)
        if place not in self._pools:
            self._pools[place] = self._imported(side, size, labelled)
        return self._pools[place]

    def settle(self) -> None:
        """Vacuum and analyse the database, for both sides, before a measurement."""
        with psycopg.connect(self.database, autocommit=True) as connection:
            names = [name for (name,) in connection.execute("SELECT datname FROM pg_database WHERE NOT datistemplate")]
            connection.execute("CHECKPOINT")
        for name in names:
            self._execute(other_database(self.database, name), "VACUUM ANALYZE")

    def loop(self, side: Side, size: int, people: int, *, together: bool = False) -> Figures:
        """Run annotators in a closed loop on the pool of this size; `together`, their submissions claim."""
        project, warm_up = self.pool(side, size), self.seconds / 5
        found = clients.work(side, project, people=people, warm_up=warm_up, seconds=self.seconds, together=together)
        return msgspec.to_builtins(found) | {"rate": found.rate}

    def _imported(self, side: Side, size: int, labelled: bool) -> str:
        project = side.make_project(f"{size} {'labelled' if labelled else 'plain'}")
        seconds = 0.0
        with Memory(side.processes) as memory:
            for first in range(0, size, AT_ONCE):
                content = side.content(range(first, min(size, first + AT_ONCE)), labelled=labelled)
                begun = time.perf_counter()
                side.take_in(project, content)
                seconds += time.perf_counter() - begun
        steps = sum(len(solution(number).steps) for number in range(size))
        row = "import-labelled" if labelled else "import"
        self.note(row, size, side.name, lambda: {"rate": steps / seconds, "seconds": seconds, "mb": memory.peak_mb})
        if not labelled:
            side.open_queue(project, size)
        self.settle()
        return project

    def _execute(self, database: str, statement: str) -> None:
        with psycopg.connect(database, autocommit=True) as connection:
            connection.execute(statement.encode())


def other_database(address: str, name: str) -> str:
    return urlunsplit(urlsplit(address)._replace(path=f"/{name}"))
