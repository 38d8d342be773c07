"""Measures the list of solutions: its first and a late page, sorts, searches, and the file of all rows.

    python -m benchmarks.lists [--solutions 100000]

Imports generated solutions of 8 steps, whose words are as frequent as in a language, into an embedded PostgreSQL. Times
are of the list without its template, the best of three.
"""

import argparse
import os
import random
import tempfile
import time
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

if TYPE_CHECKING:
    from prm.formats.record import Record

WORDS = 20_000
STEPS = 8
LATE_PAGE = 1_500


def word(rank: int) -> str:
    """The word with this rank by frequency: letters only."""
    letters = ""
    while rank:
        rank, place = divmod(rank, 20)
        letters += "bcdfghjklmnpqrstvwxz"[place] + "aeiou"[place % 5]
    return letters


def records(solutions: int) -> Iterator["Record"]:
    from prm.formats.record import Completion, Record

    chance = random.Random(0)
    frequency = list(accumulate(1 / rank for rank in range(1, WORDS + 1)))
    vocabulary = [word(rank) for rank in range(1, WORDS + 1)]
    sentences = [" ".join(chance.choices(vocabulary, cum_weights=frequency, k=20)) for _ in range(WORDS)]
    for number in range(solutions):
        steps = [Completion(f"{chance.choice(sentences)} $x_{{{place}}} = {number}$") for place in range(STEPS)]
        yield Record(
            problem=rf"{chance.choice(sentences)} $\frac{{{number}}}{{7}}$",
            positions=[[step] for step in steps],
            source_group=str(number),
        )


def measure(solutions: int) -> None:
    from django.core.management import call_command
    from django.db import connection
    from django.test import RequestFactory

    from annotation.files.record_import import import_records
    from annotation.loop.pool.scored_solutions import solutions_with_scores
    from annotation.models import Project
    from labelling_ui.pages.listing import Listing
    from labelling_ui.pages.solutions import COLUMNS, SolutionFilters

    call_command("migrate", verbosity=0)
    project = Project.objects.create(name="Lists", slug="lists")
    import_records(project=project, records=records(solutions), by=None)
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")

    def show(query: str) -> Any:
        request = RequestFactory().get(f"/?{query}")
        filters = SolutionFilters(request.GET, project)
        return Listing(request, solutions_with_scores(project, None), COLUMNS, sort="-solution", filters=filters)

    queries = {
        "first page": "",
        f"page {LATE_PAGE:,}": f"page={LATE_PAGE}",
        "sorted by labels": "sort=-labels",
        "sorted by score": "sort=-score",
        "a word in nearly all": f"search={word(1)}",
        "a word in some": f"search={word(300)}",
        "a rare word": f"search={word(15_000)}",
        "two words": f"search={word(300)}+{word(500)}",
        "a formula": "search=" + quote(r"\frac{4711}"),
    }
    print(f"| {solutions:,} solutions | rows | ms |\n|---|---:|---:|")
    for name, query in queries.items():
        times = []
        for _ in range(3):
            started = time.perf_counter()
            listing = show(query)
            list(listing)
            times.append(time.perf_counter() - started)
        print(f"| {name} | {listing.shown_count()} | {1000 * min(times):,.0f} |", flush=True)
    started = time.perf_counter()
    size = sum(len(line) for line in show("").csv())
    print(f"| file of all rows | {size / 1e6:,.0f} MB | {1000 * (time.perf_counter() - started):,.0f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--solutions", type=int, default=100_000)
    arguments = parser.parse_args()

    from launch.embedded import servers

    with tempfile.TemporaryDirectory() as folder, servers(Path(folder), external={}) as addresses:
        os.environ.update(addresses, VAR_DIR=folder, DJANGO_SETTINGS_MODULE="config.settings.test")
        import django

        django.setup()
        measure(arguments.solutions)
        from django.db import connection

        connection.close()


if __name__ == "__main__":
    main()
