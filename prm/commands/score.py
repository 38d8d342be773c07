"""`score`: scores of every step, from JSONL of traces to JSONL of scores."""

import argparse
from pathlib import Path
from typing import Any

from prm.commands.common import MODEL_HELP, existing_traces, load_scorer, say
from prm.scores import AGGREGATES, aggregated, write_scores


def add(commands: Any) -> None:
    parser = commands.add_parser("score", help="score every step of traces")
    parser.add_argument("--model", required=True, help=MODEL_HELP)
    parser.add_argument("--data", type=Path, required=True, help="JSONL of traces")
    parser.add_argument("--out", type=Path, required=True, help="JSONL of scores")
    parser.add_argument(
        "--aggregate", choices=AGGREGATES, default="product", help="solutions and blocks from their steps"
    )
    parser.add_argument("--blocks", type=int, metavar="STEPS", help="also score every block of this many steps")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    scores = load_scorer(options.model).score(existing_traces(options.data))
    asked = (aggregated(score, by=options.aggregate, blocks=options.blocks) for score in scores)
    count = write_scores(options.out, asked)
    say(f"{count} solutions scored")
