"""`export` and `adopt`: models to and from folders that other tools use."""

import argparse
from pathlib import Path
from typing import Any

from prm.commands.common import at_least, say


def add(commands: Any) -> None:
    parser = commands.add_parser("export", help="write a model as a Hugging Face folder with a head file")
    parser.add_argument("--model", type=Path, required=True, help="folder of a trained model")
    parser.add_argument("--out", type=Path, required=True, help="a new or empty folder")
    parser.set_defaults(run=run_export)

    parser = commands.add_parser("adopt", help="convert a model from elsewhere to a model folder")
    parser.add_argument("--source", type=Path, required=True, help="a folder with safetensors weights")
    parser.add_argument("--out", type=Path, required=True, help="the model folder to write")
    parser.add_argument(
        "--separator", default="\n", help="a token classifier's end-of-step token (a line end by default)"
    )
    parser.add_argument("--good", type=at_least(0), default=1, help="a token classifier's class of correct steps")
    parser.set_defaults(run=run_adopt)


def run_export(options: argparse.Namespace) -> None:
    from prm.portable.exporting import export_folder

    described = export_folder(options.model, options.out)
    say(f"{len(described.checksums)} files in {options.out}; README.md there explains how to score with them")


def run_adopt(options: argparse.Namespace) -> None:
    from prm.portable.importing import adopt

    manifest = adopt(options.source, options.out, separator=options.separator, good=options.good)
    say(f"{options.out}: {manifest.outside.kind if manifest.outside else 'a model of this library'}")
