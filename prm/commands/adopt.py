"""`adopt`: converts a model from elsewhere to a model folder of this library."""

import argparse
from pathlib import Path
from typing import Any

from prm.commands.common import at_least, say


def add(commands: Any) -> None:
    parser = commands.add_parser("adopt", help="convert a model from elsewhere to a model folder")
    parser.add_argument("--source", type=Path, required=True, help="a folder with safetensors weights")
    parser.add_argument("--out", type=Path, required=True, help="the model folder to write")
    parser.add_argument(
        "--separator", default="\n", help="a token classifier's end-of-step token (default: a line end)"
    )
    parser.add_argument(
        "--good", type=at_least(0), default=1, help="a token classifier's class of correct steps (default 1)"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    from prm.portable.importing import adopt

    manifest = adopt(options.source, options.out, separator=options.separator, good=options.good)
    say(f"{options.out}: {manifest.outside.kind if manifest.outside else 'a model of this library'}")
