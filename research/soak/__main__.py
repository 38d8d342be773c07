"""Runs a soak test: simulated annotators label generations while processes are killed; then checks the invariants.

    python -m research.soak --json var/soak.json

Starts the platform as `make run` does, with its own folder and port. The annotators work over HTTP, the policy retrains
automatically, and a seeded plan kills workers, Redis, PostgreSQL and the annotators' programs. Prints a table of
invariants and one of champions; the exit status is 1 if an invariant does not hold.
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--generations", type=int, default=5)
    parser.add_argument("--budget", type=int, default=250, help="solutions per generation")
    parser.add_argument("--control", type=float, default=0.1, help="share of a generation drawn at random")
    parser.add_argument("--solutions", type=int, default=2400, help="in the project")
    parser.add_argument("--kills", type=int, default=3, help="workers killed per generation")
    parser.add_argument("--span", type=float, default=75, help="seconds after a generation opens in which they happen")
    parser.add_argument("--hurry", type=float, default=60, help="how many times faster than people the annotators read")
    parser.add_argument("--limit", type=float, default=40, help="minutes after which the soak has failed")
    parser.add_argument("--port", type=int, default=8180)
    parser.add_argument("--seed", type=int, default=20261121)
    parser.add_argument("--var", type=Path, help="folder for all files (default: a temporary one)")
    parser.add_argument("--json", type=Path, help="file for the results")
    options = parser.parse_args()
    var = options.var or Path(tempfile.mkdtemp(prefix="stepmark-soak-"))
    if (var / "postgres").exists():
        parser.error(f"{var} was used before: choose a new folder")
    os.environ.pop("DATABASE_URL", None)
    os.environ.pop("REDIS_URL", None)
    os.environ["VAR_DIR"] = str(var.absolute())
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.local")
    from research.soak.platform import platform

    with platform(var.absolute(), options.port) as running:
        import django

        django.setup()
        from research.soak.course import run
        from research.soak.report import finish

        course = run(options, running, var.absolute())
        return finish(options, course, var.absolute())


if __name__ == "__main__":
    sys.exit(main())
