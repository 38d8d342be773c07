"""python -m tests.screenshots [--only WORD] [--looks LOOK ...] [--out FOLDER]    pictures of states, by their names"""

import argparse
import os
import sys
from pathlib import Path

import pytest

from tests.screenshots.sheet import FOLDER


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.screenshots", description=__doc__)
    parser.add_argument("--only", default="", help="a part of the names of the states that are wanted")
    parser.add_argument("--looks", nargs="*", default=[], help="as in 1280-light, 400-dark; else all that a state has")
    parser.add_argument("--out", type=Path, default=FOLDER, help=f"where the pictures go (default: {FOLDER})")
    chosen = parser.parse_args()
    os.environ["STEPMARK_SCREENSHOTS"] = str(chosen.out.resolve())
    os.environ["STEPMARK_LOOKS"] = " ".join(chosen.looks)
    taken = pytest.main(["-q", str(Path(__file__).with_name("take.py")), "-k", chosen.only])
    print(f"Look at {chosen.out / 'index.html'}")
    return int(taken)


if __name__ == "__main__":
    sys.exit(main())
