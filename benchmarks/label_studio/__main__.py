"""Compares Stepmark with Label Studio on this machine, in one run; prints a Markdown table.

    python -m benchmarks.label_studio [--rows import,claims,export,order,deletion,limits] [--sizes 10000,100000]
        [--ours-only 1000000] [--export-sizes 10000,50000] [--seconds 8] [--json FILE]

The first run creates an environment for Label Studio and a database with its tables under var/benchmarks/label-studio.
With `--json` the results are stored, and a run with the same file measures what is missing there.
"""

import argparse
from pathlib import Path

from benchmarks.label_studio.bench import FOLDER, Bench
from benchmarks.label_studio.report import machine, table
from benchmarks.label_studio.rows import ROWS


def _sizes(text: str) -> list[int]:
    return [int(size) for size in text.split(",") if size]


def main() -> None:
    """Measure the requested rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", default=",".join(ROWS))
    parser.add_argument("--sizes", type=_sizes, default=[10_000, 100_000])
    parser.add_argument("--ours-only", type=_sizes, default=[1_000_000], help="further pools for claims, ours alone")
    parser.add_argument("--export-sizes", type=_sizes, default=[10_000, 50_000])
    parser.add_argument("--seconds", type=float, default=8.0, help="measured for each loop of claims")
    parser.add_argument("--port", type=int, default=8280, help="ours; Label Studio takes the next one")
    parser.add_argument("--environment", type=Path, default=FOLDER / "environment", help="Label Studio's own")
    parser.add_argument("--json", type=Path, help="where to keep all that is measured")
    options = parser.parse_args()
    chosen = options.rows.split(",")
    if unknown := set(chosen) - set(ROWS):
        parser.error(f"there is no row {', '.join(sorted(unknown))}; there are {', '.join(ROWS)}")
    with Bench(seconds=options.seconds, port=options.port, venv=options.environment, kept=options.json) as bench:
        for name in chosen:
            ROWS[name](bench, options.export_sizes if name == "export" else options.sizes, options.ours_only)
        print(f"\n{machine()}\n\n{table(bench.measured)}")


if __name__ == "__main__":
    main()
