"""`export`: writes a model as a Hugging Face folder that loads without this library."""

import argparse
from pathlib import Path
from typing import Any

from prm.commands.common import say


def add(commands: Any) -> None:
    parser = commands.add_parser("export", help="write a model as a Hugging Face folder with a head file")
    parser.add_argument("--model", type=Path, required=True, help="folder of a trained model")
    parser.add_argument("--out", type=Path, required=True, help="a new or empty folder")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    from prm.portable.exporting import export_folder

    described = export_folder(options.model, options.out)
    say(f"{len(described.checksums)} files in {options.out}; README.md there says how to score with them")
