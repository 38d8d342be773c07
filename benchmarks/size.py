"""Counts the product's lines and files of Python, TypeScript, HTML and CSS by top-level folder.

python -m benchmarks.size               of the last commit
python -m benchmarks.size --at REV      of a commit

Tests, migrations and generated files do not count; blank lines do.
"""

import argparse
import subprocess
from collections import Counter
from pathlib import PurePosixPath

PRODUCT = ("annotation", "config", "labelling_ui", "launch", "prm", "stepmark", "manage.py")
KINDS = {
    ".py": "Python",
    ".ts": "TypeScript",
    ".tsx": "TypeScript",
    ".js": "TypeScript",
    ".html": "HTML",
    ".css": "CSS",
}
NOT_PRODUCT = {"tests", "migrations", "node_modules", "dist"}
GENERATED = {"labelling_ui/frontend/src/api/schema.d.ts", "labelling_ui/frontend/src/vocabulary.ts"}


def is_product(path: str) -> bool:
    """Whether a path of the repository is product source that people write."""
    parts = PurePosixPath(path).parts
    return parts[0] in PRODUCT and not NOT_PRODUCT & set(parts) and path not in GENERATED and kind_of(path) != ""


def kind_of(path: str) -> str:
    """The language of a file by its suffix; "" if it does not count."""
    return KINDS.get(PurePosixPath(path).suffix, "")


def measure(revision: str) -> tuple[Counter[tuple[str, str]], Counter[tuple[str, str]]]:
    """Lines and files by folder and language, at a commit."""
    lines, files = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for path in _git("ls-tree", "-r", "--name-only", revision).decode().splitlines():
        if is_product(path):
            place = (PurePosixPath(path).parts[0], kind_of(path))
            lines[place] += _git("show", f"{revision}:{path}").count(b"\n")
            files[place] += 1
    return lines, files


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--at", default="HEAD", metavar="REV", help="the commit to measure (default: HEAD)")
    lines, files = measure(parser.parse_args().at)
    for folder, kind in sorted(lines):
        print(f"{folder:14} {kind:11} {lines[folder, kind]:7,} lines {files[folder, kind]:5,} files")
    print(f"{'all':26} {lines.total():7,} lines {files.total():5,} files")


def _git(*arguments: str) -> bytes:
    return subprocess.run(["git", *arguments], check=True, capture_output=True).stdout


if __name__ == "__main__":
    main()
