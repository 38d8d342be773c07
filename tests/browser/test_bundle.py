"""The scripts that a browser fetches before labelling."""

import gzip
import json
from typing import Any

from launch.frontend import BUILT

BUDGET = 150_000  # bytes, gzipped; KaTeX apart
KATEX = "src/reading/typeset.ts"


def reached(manifest: dict[str, Any], entry: str, *, lazily: bool) -> set[str]:
    """The chunks that an entry loads at once; with `lazily`, also those that it may fetch later."""
    found: set[str] = set()
    waiting = [entry]
    while waiting:
        chunk = waiting.pop()
        if chunk not in found:
            found.add(chunk)
            waiting += manifest[chunk].get("imports", [])
            waiting += manifest[chunk].get("dynamicImports", []) if lazily else []
    return found


def test_the_workbench_is_small_and_katex_comes_apart(front_end: None) -> None:
    manifest = json.loads((BUILT / "manifest.json").read_text())
    everything = reached(manifest, "src/main.tsx", lazily=True)
    assert KATEX in everything
    assert KATEX not in reached(manifest, "src/main.tsx", lazily=False)
    scripts = [BUILT / manifest[chunk]["file"] for chunk in everything - {KATEX}]
    assert sum(len(gzip.compress(script.read_bytes())) for script in scripts) < BUDGET
