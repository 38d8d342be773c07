"""`audit`: tests what a model's scores depend on besides the steps; writes a page, JSON and a summary for the card."""

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import msgspec

from prm.commands.common import MODEL_HELP, at_least, check_output, input_file, load_scorer, probability, say
from prm.config import TrainConfig
from prm.errors import DataError
from prm.files import write_atomic, write_json
from prm.labels import first_error
from prm.manifest import WEIGHTS_FILE
from prm.messages import Message
from prm.scores import TraceScore
from prm.threshold import Threshold
from prm.traces import Trace, write_traces

if TYPE_CHECKING:
    from prm.audits import AuditReport, Subject, Training
    from prm.audits.subject import Scoring
    from prm.scoring import Scorer

MOST = 400  # solutions
PAGE_FILE = "report.html"


def add(commands: Any) -> None:
    parser = commands.add_parser("audit", help="test what a model's scores depend on besides the steps")
    parser.add_argument("--model", required=True, help=MODEL_HELP)
    parser.add_argument("--data", type=input_file, nargs="+", required=True, help="labelled solutions in any format")
    parser.add_argument(
        "--out",
        type=Path,
        required=True,
        help="folder for report.html, report.json and AUDIT.md; `card` finds them inside the model's folder",
    )
    parser.add_argument(
        "--training",
        type=input_file,
        help="the training data in any format, to retrain without one domain or generator",
    )
    parser.add_argument("--only", nargs="+", metavar="AUDIT", help="run only these audits")
    parser.add_argument("--threshold", type=probability, help="first-error threshold (default: the model's own)")
    parser.add_argument(
        "--limit",
        type=at_least(0),
        default=MOST,
        help="number of solutions drawn from the data; 0 for all",
    )
    parser.add_argument("--bootstrap", type=at_least(1), default=500, help="bootstrap resamples for each interval")
    parser.add_argument("--seed", type=at_least(0), default=0, help="seed of every random choice")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    from prm.audits import AUDITS, run_audits
    from prm.formats.benchmark import read_benchmark

    for name in options.only or ():
        AUDITS.check(name)
    check_output(options.out / PAGE_FILE, *options.data, options.training)
    benchmark = read_benchmark(options.data)
    scorer = load_scorer(options.model)
    unseen = benchmark.unseen_by(options.model, scorer.manifest)
    data = ", ".join(path.name for path in options.data)
    if unseen is not benchmark:
        data += ", problems that training left out"
    traces = _sample(unseen.traces, options.limit, Random(options.seed))
    if not any(first_error(trace) is not None for trace in traces):
        raise DataError(Message("nothing_to_audit_against", data=data))
    clock = _Clock()
    with retraining(scorer, options.training) if options.training else nullcontext() as training:
        report = run_audits(
            _subject(options, scorer, traces, training, clock.say),
            model=Path(options.model).name,
            model_sha256=scorer.manifest.checksums[WEIGHTS_FILE] if scorer.manifest else None,
            data=data,
            names=options.only or (),
        )
    clock.say("drawing")
    _write(options.out, report)
    clock.say(f"written to {options.out}")


def _subject(
    options: argparse.Namespace,
    scorer: "Scorer",
    traces: Sequence[Trace],
    training: "Training | None",
    say: Callable[[str], None],
) -> "Subject":
    from prm.audits import Subject
    from prm.scoring import Scorer

    far_sighted = Scorer(scorer.reader, scorer.judges, manifest=scorer.manifest, long="window")

    def score(some: Sequence[Trace]) -> list[TraceScore]:
        return list(scorer.score(some))

    say(f"scoring {Message('n_solutions', n=len(traces))}")
    return Subject(
        traces=traces,
        scores=score(traces),
        score=score,
        score_long=lambda some: list(far_sighted.score(some)),
        threshold=scorer.threshold if options.threshold is None else Threshold(options.threshold),
        temperature=scorer.manifest.temperature if scorer.manifest else None,
        training=training,
        bootstrap=options.bootstrap,
        seed=options.seed,
        say=say,
    )


def _write(out: Path, report: "AuditReport") -> None:
    from prm.audits.page import report_page
    from prm.audits.report import audit_summary
    from prm.cards.folder import AUDIT_FILE, AUDIT_REPORT_FILE

    page, summary = report_page(report), audit_summary(report)
    write_json(out / AUDIT_REPORT_FILE, report)
    write_atomic(out / PAGE_FILE, page.encode())
    write_atomic(out / AUDIT_FILE, summary.encode())
    say(summary)


class _Clock:
    """Progress on stderr, each line with the seconds since the start."""

    def __init__(self) -> None:
        self.started = time.monotonic()

    def say(self, line: str) -> None:
        sys.stderr.write(f"{time.monotonic() - self.started:6.1f} s  {line}\n")
        sys.stderr.flush()


def _sample(traces: Sequence[Trace], limit: int, rng: Random) -> list[Trace]:
    """At most `limit` of the traces at random, in their order; 0 for all."""
    if not limit or len(traces) <= limit:
        return list(traces)
    return [traces[place] for place in sorted(rng.sample(range(len(traces)), limit))]


@contextmanager
def retraining(scorer: "Scorer", data: Path) -> "Iterator[Training]":
    """Train models with the same settings: heads on its frozen backbone, which reads each solution once."""
    from prm.audits import Training
    from prm.scoring import Scorer
    from prm.training import train
    from prm.training.caches import Cache
    from prm.training.dataset import read_to_fit

    trained = scorer.manifest.config if scorer.manifest else TrainConfig(base=scorer.backbone.name)
    config = msgspec.structs.replace(trained, lane="heads", shard=False, quantization="none")
    known = list(read_to_fit(data))
    with TemporaryDirectory() as shared:
        cache = Cache(Path(shared))

        def learn(traces: Sequence[Trace]) -> "Scoring":
            with TemporaryDirectory() as folder:
                write_traces(Path(folder) / "data.jsonl", traces)
                train(
                    data=Path(folder) / "data.jsonl",
                    out=Path(folder) / "model",
                    config=config,
                    report=lambda progress: None,
                    cache=cache,
                )
                fresh = Scorer.load(Path(folder) / "model")
            return lambda some: list(fresh.score(some))

        yield Training(lambda: known, learn)
