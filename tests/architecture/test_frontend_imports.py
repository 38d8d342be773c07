"""The workbench's TypeScript modules do not import one another in a circle, types included."""

import re
from pathlib import Path

from config.env import BASE_DIR

SOURCES = BASE_DIR / "labelling_ui" / "frontend" / "src"
IMPORTED = re.compile(r"""(?:from|import)\s+"(\.{1,2}/[^"]+)\"""")


def test_no_module_imports_itself_through_others():
    graph = {path: imports_of(path) for path in sorted(SOURCES.rglob("*.ts*"))}
    assert sum(map(len, graph.values())) > len(graph), "the imports are not read: this test holds nothing"
    assert [" > ".join(path.relative_to(SOURCES).as_posix() for path in circle) for circle in circles(graph)] == []


def test_a_circle_is_seen():
    a, b, c = Path("a"), Path("b"), Path("c")
    assert circles({a: [b], b: [c], c: [a]}) == [[a, b, c, a]]
    assert circles({a: [b, c], b: [c], c: []}) == []


def imports_of(path):
    beside = [(path.parent / name).resolve() for name in IMPORTED.findall(path.read_text())]
    candidates = [[Path(f"{place}{end}") for end in (".ts", ".tsx", "/index.ts")] for place in beside]
    return [place for options in candidates for place in options if place.is_file()]


def circles(graph):
    """One circle for each import that closes one, in depth-first order."""
    found, finished = [], set()

    def visit(path, trail):
        if path in trail:
            found.append([*trail[trail.index(path) :], path])
        elif path not in finished:
            for imported in graph.get(path, []):
                visit(imported, [*trail, path])
            finished.add(path)

    for path in graph:
        visit(path, [])
    return found
