"""`evaluate`: measures a model, or scores computed elsewhere, on labelled data; prints tables and writes JSON."""

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prm.commands.common import (
    MODEL_HELP,
    add_mapping,
    at_least,
    check_output,
    data_file,
    input_file,
    load_scorer,
    mapping_of,
    probability,
    say,
    score_all,
)
from prm.errors import DataError
from prm.files import write_json
from prm.messages import Message
from prm.processes import cleaning_up
from prm.scores import TraceScore
from prm.threshold import UNFITTED, Threshold
from prm.traces import Trace

if TYPE_CHECKING:
    from prm.formats.benchmark import Benchmark


FITTED_ON_NOTHING = "nothing: the default is 0.5"


def add(commands: Any) -> None:
    parser = commands.add_parser("evaluate", help="measure a model on labelled data")
    scored = parser.add_mutually_exclusive_group(required=True)
    scored.add_argument("--model", help=MODEL_HELP)
    scored.add_argument("--scores", type=input_file, help="scores of the data: from `score`, or in a published pool")
    parser.add_argument(
        "--data",
        type=data_file,
        nargs="+",
        required=True,
        help="labelled solutions in any format, or hub:OWNER/NAME",
    )
    add_mapping(parser)
    parser.add_argument("--json", type=Path, help="also write the results to this file")
    threshold = parser.add_mutually_exclusive_group()
    threshold.add_argument(
        "--threshold",
        type=probability,
        help="a step scored below this counts as an error (default: the model's threshold)",
    )
    threshold.add_argument("--threshold-from", type=input_file, help="fit the threshold on this other labelled file")
    parser.add_argument("--bootstrap", type=at_least(0), default=1000, help="bootstrap resamples for each interval")
    parser.add_argument("--seed", type=at_least(0), default=0, help="seed of the bootstrap")
    parser.set_defaults(run=run)


@cleaning_up()
def run(options: argparse.Namespace) -> None:
    from prm.cards import evaluation_tables
    from prm.evaluation.evaluation import check_labels, measure, threshold_from
    from prm.formats.benchmark import read_benchmark

    check_output(options.json, *options.data, options.mapping, options.scores, options.threshold_from)
    benchmark = read_benchmark(options.data, mapping_of(options))
    check_labels(benchmark)
    fitting = read_benchmark([options.threshold_from]) if options.threshold_from else None
    evaluations = []
    for scored in _models(options, benchmark):
        if fitting is not None:
            threshold, fitted_on = threshold_from(fitting, scored.scores_of(fitting.traces), scored.benchmark)
        elif options.threshold is not None:
            threshold, fitted_on = Threshold(options.threshold), "nothing: it was set with --threshold"
        else:
            threshold, fitted_on = scored.threshold, scored.fitted_on
        evaluations.append(
            measure(
                scored.benchmark,
                scored.scores_of(scored.benchmark.traces),
                model=scored.name,
                model_sha256=scored.sha256,
                threshold=threshold,
                fitted_on=fitted_on,
                temperature=scored.temperature,
                bootstrap=options.bootstrap,
                seed=options.seed,
            )
        )
        say(evaluation_tables(evaluations[-1]))
    if options.json:
        write_json(options.json, evaluations)


@dataclass(frozen=True)
class _Scored:
    """A source of scores: a model, or one name in a file of scores. `temperature` is None if unknown.

    `benchmark` is the data to measure it on.
    """

    name: str
    benchmark: "Benchmark"
    sha256: str | None
    threshold: Threshold
    fitted_on: str
    temperature: float | None
    scores_of: Callable[[Sequence[Trace]], list[TraceScore]]


def _models(options: argparse.Namespace, benchmark: "Benchmark") -> Iterator[_Scored]:
    from prm.formats.benchmark import read_published

    if options.model:
        yield _of_model(options.model, benchmark)
        return
    for name, scores in read_published(options.scores).items():
        by_id = {score.id: score for score in scores}
        yield _Scored(name, benchmark, None, UNFITTED, FITTED_ON_NOTHING, None, partial(_scores_for, by_id))


def _of_model(name: str, benchmark: "Benchmark") -> _Scored:
    """The model, and the data that it has not seen."""
    from prm.cards import FITTED_ON
    from prm.manifest import WEIGHTS_FILE

    scorer = load_scorer(name)
    manifest = scorer.manifest
    fitted_on = FITTED_ON[manifest.fitted_on] if manifest else FITTED_ON_NOTHING
    return _Scored(
        name=name,
        benchmark=benchmark.unseen_by(name, manifest),
        sha256=manifest.checksums[WEIGHTS_FILE] if manifest else None,
        threshold=scorer.threshold,
        fitted_on=fitted_on,
        temperature=manifest.temperature if manifest else None,
        scores_of=partial(score_all, scorer),
    )


def _scores_for(by_id: dict[str, TraceScore], traces: Sequence[Trace]) -> list[TraceScore]:
    missing = [trace.id for trace in traces if trace.id not in by_id]
    if missing:
        raise DataError(Message("solutions_without_score", n=len(missing), missing=missing[0]))
    return [by_id[trace.id] for trace in traces]
