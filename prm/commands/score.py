"""`score`: scores every step in a file of traces and writes JSONL of scores."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prm.commands.common import (
    MODEL_HELP,
    SOLUTIONS_HELP,
    Progress,
    add_mapping,
    at_least,
    check_output,
    data_file,
    load_scorer,
    mapping_of,
    say,
)
from prm.formats.trace_files import read_traces
from prm.processes import cleaning_up
from prm.scores import AGGREGATES, Throughput, aggregated, write_scores

if TYPE_CHECKING:
    from prm.scoring import Scorer


def add(commands: Any) -> None:
    parser = commands.add_parser("score", help="score every step of the traces in a file")
    parser.add_argument("--model", required=True, help=MODEL_HELP)
    parser.add_argument("--data", type=data_file, required=True, help=SOLUTIONS_HELP)
    add_mapping(parser)
    parser.add_argument("--out", type=Path, required=True, help="write the scores to this JSONL file")
    parser.add_argument("--aggregate", choices=AGGREGATES, default="product", help="how step scores are aggregated")
    parser.add_argument("--blocks", type=at_least(1), metavar="STEPS", help="also score every block of this many steps")
    parser.add_argument(
        "--long",
        choices=("null", "window"),
        default="null",
        help="steps beyond the context: no score, or in windows",
    )
    parser.add_argument(
        "--share-prefix",
        choices=("auto", "always", "never"),
        default="auto",
        help="whether to encode a problem once for all its solutions",
    )
    parser.add_argument("--vllm", metavar="URL", help="a vLLM server that runs the model's backbone")
    parser.add_argument("--vllm-model", metavar="NAME", help="the backbone's name on that server, if it serves several")
    parser.set_defaults(run=run)


@cleaning_up()
def run(options: argparse.Namespace) -> None:
    check_output(options.out, options.data, options.mapping)
    scorer = _scorer(options)
    progress = Progress()
    scores = scorer.score(read_traces(options.data, mapping_of(options)), on_progress=progress)
    write_scores(options.out, (aggregated(score, by=options.aggregate, blocks=options.blocks) for score in scores))
    say(str(progress.latest or Throughput()))


def _scorer(options: argparse.Namespace) -> "Scorer":
    if options.vllm is None:
        return load_scorer(options.model, long=options.long, share_prefix=options.share_prefix)
    from prm.scoring.vllm import load_over_vllm

    return load_over_vllm(Path(options.model), options.vllm, served=options.vllm_model, long=options.long)
