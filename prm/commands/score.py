"""`score`: scores of every step, from JSONL of traces to JSONL of scores."""

import argparse
from pathlib import Path
from typing import Any

from prm.commands.common import MODEL_HELP, existing_traces, load_scorer, say


def add(commands: Any) -> None:
    parser = commands.add_parser("score", help="score every step of traces")
    parser.add_argument("--model", required=True, help=MODEL_HELP)
    parser.add_argument("--data", type=Path, required=True, help="JSONL of traces")
    parser.add_argument("--out", type=Path, required=True, help="JSONL of scores")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    from prm.scores import write_scores

    scorer = load_scorer(options.model)
    count = write_scores(options.out, scorer.score(existing_traces(options.data)))
    say(f"{count} solutions scored")
