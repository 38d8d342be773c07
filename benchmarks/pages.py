"""Measures every page of a manager, and every list with each of its sorts and filters, in a large project.

    python -m benchmarks.pages [--solutions 1000000] [--folder var/benchmarks/pages] [--only quality/] [--json FILE]

The first run makes the project (`benchmarks.large_project`) in an embedded PostgreSQL in the folder, which takes some
minutes; later runs use it again. A request is a signed-in one to Django's handler with all middleware; its time is
that to the first byte. *First* is the first request after the start of the servers, the other figures are the best of
three. *Figures* is the time in which stored figures were computed, for pages that had none. Figures above the aim are
marked, and the exit status is then 1.
"""

import argparse
import json
import os
import re
import sys
import time
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, quote, urlencode

from benchmarks.large_project import SLUG, make, word

if TYPE_CHECKING:
    from django.test import Client

AIM = 200  # ms
LATE_PAGE = 1_500
PENDING = "Computing the figures of this page"  # shown until the stored figures exist
NO_PAGES = 403, 405  # an address that asks for the password again, and that of a form
FORM = re.compile(r'<form class="filters".*?</form>', re.DOTALL)
SORT = re.compile(r'<th[^>]*><a href="(\?[^"]*sort=[^"]*)"')
SELECT = re.compile(r'<select name="([^"]+)".*?</select>', re.DOTALL)
OPTION = re.compile(r'<option value="([^"]+)"')
BOX = re.compile(r'<input type="checkbox" name="([^"]+)"')
SEARCHES = {
    "a word in nearly all": word(1),
    "a word in some": word(300),
    "a rare word": word(15_000),
    "two words": f"{word(300)} {word(500)}",
    "a formula": r"\frac{4711}",
}


class Visitor:
    """A signed-in manager, who looks at pages."""

    def __init__(self, client: "Client") -> None:
        self.client = client
        self.computed: dict[str, float] = {}  # milliseconds of the requests that computed stored figures

    def look(self, address: str) -> tuple[float, int, Any]:
        """Milliseconds to the first byte, status and response."""
        started = time.perf_counter()
        response = self.client.get(address)
        if response.streaming:
            next(iter(response.streaming_content), b"")
        return 1000 * (time.perf_counter() - started), response.status_code, response

    def best(self, address: str) -> tuple[float, Any]:
        """The best of three looks, and the response. Stored figures that do not exist yet are computed before."""
        response = self.look(address)[2]
        if not response.streaming and PENDING in response.content.decode():
            self.computed[address] = self.look(f"{address}{'&' if '?' in address else '?'}again=1")[0]
        looks = [self.look(address) for _ in range(3)]
        return min(took for took, _status, _response in looks), looks[-1][2]


def variants(address: str, html: str) -> Iterator[tuple[str, str]]:
    """The sorts, filters and a late page that a list offers: what each shows, and its address."""
    base = address.partition("?")[0]
    for query in dict.fromkeys(unescape(found) for found in SORT.findall(html)):
        asked = dict(parse_qsl(query[1:]))
        for sort in {asked["sort"].lstrip("-"), f"-{asked['sort'].lstrip('-')}"}:
            yield f"sort {sort}", f"{base}?{urlencode(asked | {'sort': sort})}"
    for form in FORM.findall(html):
        for select in SELECT.finditer(form):
            for value in list(dict.fromkeys(OPTION.findall(select.group())))[:4]:
                yield f"{select.group(1)} {value}", f"{base}?{select.group(1)}={quote(unescape(value))}"
        for box in BOX.findall(form):
            yield box, f"{base}?{box}=on"
    if 'rel="next"' in html:
        yield "page 2", f"{base}?page=2"


def measure(addresses: list[str]) -> tuple[dict[str, float], list[str]]:
    """Print the table; returns the milliseconds of each page or the slowest of its lists, and what is over the aim."""
    from django.contrib.auth.models import User
    from django.test import Client

    client = Client()
    client.force_login(User.objects.get(username="manager"))
    visitor, slowest_of, late = Visitor(client), {}, list[str]()
    print("| page | first ms | figures s | ms | slowest of its lists | ms | over |")
    print("|---|---:|---:|---:|---|---:|---:|")
    for address in addresses:
        first, status, response = visitor.look(address)
        if status in NO_PAGES or 300 <= status < 400:
            continue
        if status != 200:
            print(f"| {address} | answers {status} |", flush=True)
            late.append(address)
            continue
        took, response = visitor.best(address)
        found = []
        for name, variant in variants(address, response.content.decode()):
            found.append((visitor.best(variant)[0], name))
        over = [(took, "itself")] * (took > AIM) + sorted((one for one in found if one[0] > AIM), reverse=True)
        slowest, name = max(found, default=(0.0, ""))
        slowest_of[address] = max(took, slowest)
        late += [f"{address} {of}: {ms:,.0f} ms" for ms, of in over]
        marks = f"**{len(over)} of {len(found) + 1}**" if over else ""
        figures = f"{visitor.computed[address] / 1000:,.1f}" if address in visitor.computed else ""
        cells = [address, f"{first:,.0f}", figures, f"{took:,.0f}", name, f"{slowest:,.0f}" if found else "", marks]
        print(f"| {' | '.join(cells)} |", flush=True)
    print("\nOver the aim:", *(late or ["none"]), sep="\n- ")
    return slowest_of, late


def measure_solutions() -> dict[str, float]:
    """Print and return the milliseconds of the list's searches, of a late page, and of the file of all rows."""
    from django.contrib.auth.models import User
    from django.test import Client

    client = Client()
    client.force_login(User.objects.get(username="manager"))
    visitor, base = Visitor(client), f"/p/{SLUG}/solutions/"
    queries = {"first page": "", f"page {LATE_PAGE:,}": f"page={LATE_PAGE}"}
    queries |= {name: f"search={quote(text)}" for name, text in SEARCHES.items()}
    print("\n| solutions | ms |\n|---|---:|")
    measured = {}
    for name, query in queries.items():
        measured[name], _response = visitor.best(f"{base}?{query}")
        print(f"| {name} | {measured[name]:,.0f} |", flush=True)
    started = time.perf_counter()
    size = sum(map(len, client.get(f"{base}?download=csv").streaming_content))
    measured["file"] = 1000 * (time.perf_counter() - started)
    print(f"| file of all rows, {size / 1e6:,.0f} MB | {measured['file']:,.0f} |")
    return measured


def prepared(folder: Path, solutions: int) -> list[str]:
    """The addresses of all pages; makes the project if the folder has none."""
    from django.core.management import call_command

    from annotation.models import Project
    from tests.every_page import addresses

    call_command("migrate", verbosity=0)
    if not Project.objects.filter(slug=SLUG).exists():
        started = time.perf_counter()
        make(solutions)
        print(f"Made {solutions:,} solutions in {time.perf_counter() - started:,.0f} s.", file=sys.stderr)
    known = folder / "addresses.json"
    if not known.exists():  # looking for them makes a snapshot and a consensus fit
        known.write_text(json.dumps(addresses(Project.objects.get(slug=SLUG))))
    return json.loads(known.read_text())  # type: ignore[no-any-return]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--solutions", type=int, default=1_000_000)
    parser.add_argument("--folder", type=Path, default=Path("var/benchmarks/pages"))
    parser.add_argument("--only", default="", help="part of the addresses to measure")
    parser.add_argument("--json", type=Path, help="file for the milliseconds of pages and of the list of solutions")
    arguments = parser.parse_args()

    from launch.embedded import servers

    folder = arguments.folder.absolute()
    folder.mkdir(parents=True, exist_ok=True)
    with servers(folder, external={}) as started:
        os.environ.update(started, VAR_DIR=str(folder), DJANGO_SETTINGS_MODULE="config.settings.test")
        import django

        django.setup()
        from django.db import connection

        addresses = prepared(folder, arguments.solutions)
        pages, late = measure([address for address in addresses if arguments.only in address])
        solutions = {} if arguments.only else measure_solutions()
        connection.close()
    if arguments.json:
        arguments.json.write_text(json.dumps({"pages": pages, "solutions": solutions, "late": late}, indent=1))
    return int(bool(late))


if __name__ == "__main__":
    sys.exit(main())
