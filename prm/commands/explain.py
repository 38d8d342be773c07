"""`explain`: explains the score of each step by the nearest labelled training steps."""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prm.commands.common import at_least, check_output, input_file, load_scorer, say
from prm.errors import DataError
from prm.files import write_records
from prm.formats.trace_files import read_traces
from prm.messages import Message
from prm.traces import Trace

if TYPE_CHECKING:
    from prm.probes.neighbours import Neighbours
    from prm.scoring import Scorer


def add(commands: Any) -> None:
    parser = commands.add_parser("explain", help="explain the scores of steps")
    parser.add_argument("--model", type=Path, required=True, help="model folder")
    parser.add_argument("--data", type=input_file, required=True, help="solutions in any format")
    parser.add_argument("--trace", help="id of the trace to explain (default: all)")
    parser.add_argument(
        "--training",
        type=input_file,
        help="the data that the model was trained on; its index is stored beside the model for later runs",
    )
    parser.add_argument("--neighbours", type=at_least(1), default=3, help="labelled steps shown for each step")
    parser.add_argument("--json", type=Path, help="write the explanations to this JSONL file, one trace per line")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    from prm.probes.neighbours import agreement, explain
    from prm.probes.words import explanation_text

    check_output(options.json, options.data, options.training)
    scorer = load_scorer(str(options.model))
    neighbours = _neighbours(scorer, options.model, options.training)
    explanations = explain(scorer, neighbours, _chosen(options.data, options.trace), k=options.neighbours)
    shares: list[float] = []
    scores: list[float] = []

    def explained() -> Iterator[object]:
        for explanation in explanations:
            shares.extend(step.near_good for step in explanation.steps)
            scores.extend(step.score for step in explanation.steps)
            if not options.json:
                say(explanation_text(explanation, scorer.threshold))
            yield explanation

    if options.json:
        write_records(options.json, explained())
    else:
        for _ in explained():
            pass
    agreed = agreement(shares, scores)
    known = "" if agreed is None else f"; the neighbours' labels correlate with the scores at {agreed:.3f}"
    say(f"{Message('n_steps', n=len(scores))} explained by {len(neighbours.places)} labelled ones{known}")


def _neighbours(scorer: "Scorer", model: Path, training: Path | None) -> "Neighbours":
    from prm.probes.neighbours import FILE, Neighbours

    path = model / FILE
    if training is not None:
        neighbours = Neighbours.build(scorer, training)
        neighbours.save(path)
        return neighbours
    if not path.is_file():
        raise DataError(Message("training_file_missing", path=path))
    return Neighbours.load(path, scorer)


def _chosen(data: Path, trace_id: str | None) -> Iterator[Trace]:
    known = False
    for trace in read_traces(data):
        if trace_id is None or trace.id == trace_id:
            known = True
            yield trace
    if not known and trace_id is not None:
        raise DataError(Message("no_such_trace", path=data, id=trace_id))
