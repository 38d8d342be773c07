"""`evaluate`: a model's metrics on labelled traces, as a table and as JSON."""

import argparse
from pathlib import Path
from typing import Any

import msgspec

from prm.commands.common import MODEL_HELP, existing_traces, load_scorer, say


def add(commands: Any) -> None:
    parser = commands.add_parser("evaluate", help="measure a model on labelled traces")
    parser.add_argument("--model", required=True, help=MODEL_HELP)
    parser.add_argument("--data", type=Path, required=True, help="JSONL of labelled traces")
    parser.add_argument("--json", type=Path, required=True, help="where the report goes")
    parser.add_argument("--threshold", type=float, help="first-error threshold; default the model's own")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    from prm.cards import report_table
    from prm.evaluation import evaluate

    scorer = load_scorer(options.model)
    traces = list(existing_traces(options.data))
    threshold = scorer.threshold if options.threshold is None else options.threshold
    report = evaluate(traces, list(scorer.score(traces)), threshold=threshold)
    options.json.write_bytes(msgspec.json.format(msgspec.json.encode(report), indent=2))
    say(report_table(report))
