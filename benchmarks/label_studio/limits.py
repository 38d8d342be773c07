"""Measures the limits of the database on this machine, without a platform."""

import multiprocessing
import resource
import time
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import psycopg

from benchmarks.label_studio.solutions import solution

NAME = "PostgreSQL"
PROCESSES = 8
CLAIM = """
UPDATE raw_item SET state = 'taken' WHERE id = (
    SELECT id FROM raw_item WHERE state = 'ready' ORDER BY rank LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING id
"""


def copy_steps(database: str, size: int) -> dict[str, Any]:
    """COPY the steps of this number of solutions into a table with a key and one index; returns steps a second."""
    rows = [(number, place, step) for number in range(size) for place, step in enumerate(solution(number).steps)]
    with psycopg.connect(database) as connection:
        connection.execute("DROP TABLE IF EXISTS raw_step")
        connection.execute(
            "CREATE TABLE raw_step (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, solution bigint, "
            "position int, text text, UNIQUE (solution, position))"
        )
        begun = time.perf_counter()
        with connection.cursor() as cursor, cursor.copy("COPY raw_step (solution, position, text) FROM STDIN") as copy:
            for row in rows:
                copy.write_row(row)
        connection.commit()
        return {"rate": len(rows) / (time.perf_counter() - begun)}


def read_to_file(database: str, size: int) -> dict[str, Any]:
    """Read the copied steps through a server-side cursor into a file, a solution a line; returns solutions a second."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with (
        psycopg.connect(database) as connection,
        connection.cursor(name="all") as cursor,
        Path("/dev/null").open("wb") as out,
    ):
        begun = time.perf_counter()
        cursor.itersize = 2000
        cursor.execute("SELECT solution, json_agg(text ORDER BY position)::text FROM raw_step GROUP BY solution")
        for row in cursor:
            out.write(msgspec.json.encode(row) + b"\n")
        seconds = time.perf_counter() - begun
    return {"rate": size / seconds, "mb": (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024}


def claim_loop(database: str, size: int, seconds: float) -> dict[str, Any]:
    """Claim rows of a plain table by a partial index in priority order, one transaction each, with 8 processes."""
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS raw_item")
        connection.execute("CREATE TABLE raw_item (id bigint PRIMARY KEY, rank int, state text DEFAULT 'ready')")
        items = max(size, 100_000)
        connection.execute("INSERT INTO raw_item SELECT n, n FROM generate_series(1, %s) n", [items])
        connection.execute("CREATE INDEX raw_item_ready ON raw_item (rank) WHERE state = 'ready'")
        connection.execute("VACUUM ANALYZE raw_item")
    with multiprocessing.get_context("spawn").Pool(PROCESSES) as pool:
        found = pool.starmap(_claim, [(database, seconds)] * PROCESSES)
    times = np.concatenate([np.asarray(each) for each in found])
    p50, p95 = 1000 * np.percentile(times, (50, 95))
    return {"rate": len(times) / seconds, "claim_p50": float(p50), "claim_p95": float(p95)}


def _claim(database: str, seconds: float) -> list[float]:
    times = []
    with psycopg.connect(database, autocommit=True) as connection:
        end = time.perf_counter() + seconds
        while (begun := time.perf_counter()) < end:
            if connection.execute(CLAIM, prepare=True).fetchone() is None:
                break
            times.append(time.perf_counter() - begun)
    return times
