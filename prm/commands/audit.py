"""`audit`: what a model's scores lean on besides the steps, as a page, as JSON and as lines for its card."""

import argparse
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import msgspec

from prm.commands.common import MODEL_HELP, existing_traces, load_scorer, say
from prm.config import TrainConfig
from prm.errors import DataError
from prm.labels import first_error
from prm.scores import TraceScore
from prm.traces import Trace, read_traces, write_traces

if TYPE_CHECKING:
    from prm.audits.subject import Scoring, Training
    from prm.scoring import Scorer

MOST = 400  # solutions


def add(commands: Any) -> None:
    parser = commands.add_parser("audit", help="ask what a model's scores lean on besides the steps")
    parser.add_argument("--model", required=True, help=MODEL_HELP)
    parser.add_argument("--data", type=Path, required=True, help="JSONL of labelled traces")
    parser.add_argument("--out", type=Path, required=True, help="folder for report.html, report.json and AUDIT.md")
    parser.add_argument(
        "--train", type=Path, help="JSONL of training traces: trains again, without a domain or generator"
    )
    parser.add_argument("--only", nargs="+", metavar="AUDIT", help="some of the audits")
    parser.add_argument("--threshold", type=float, help="first-error threshold; default the model's own")
    parser.add_argument(
        "--limit", type=int, default=MOST, help=f"solutions drawn from the data, {MOST} by default; 0 for all"
    )
    parser.add_argument("--bootstrap", type=int, default=500, help="resamples of problems behind an interval")
    parser.add_argument("--seed", type=int, default=0)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    from prm.audits import AUDITS, Subject, run_audits
    from prm.audits.page import report_page
    from prm.audits.summary import SUMMARY_FILE, audit_summary

    unknown = sorted(set(options.only or ()) - set(AUDITS))
    if unknown:
        raise DataError(f"no audit is named {', '.join(unknown)}: one of {', '.join(AUDITS)}")
    if options.train and not options.train.is_file():
        raise DataError(f"{options.train}: no such file")
    traces = _sample(existing_traces(options.data), options.limit, Random(options.seed))
    if not any(first_error(trace) is not None for trace in traces):
        raise DataError(f"{options.data}: no solution's first error is known, so there is nothing to audit against")
    clock = _Clock()
    scorer = load_scorer(options.model)
    clock.say(f"scoring {len(traces)} solutions")

    def score(some: Sequence[Trace]) -> list[TraceScore]:
        return list(scorer.score(some))

    subject = Subject(
        traces=traces,
        scores=score(traces),
        score=score,
        threshold=scorer.threshold if options.threshold is None else options.threshold,
        temperature=scorer.manifest.temperature if scorer.manifest else None,
        training=_training(scorer, options.train) if options.train else None,
        bootstrap=options.bootstrap,
        seed=options.seed,
        say=clock.say,
    )
    report = run_audits(subject, model=Path(options.model).name, data=options.data.name, names=options.only or tuple(AUDITS))
    clock.say("drawing")
    summary = audit_summary(report)
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "report.json").write_bytes(msgspec.json.format(msgspec.json.encode(report), indent=2))
    (options.out / "report.html").write_text(report_page(report))
    (options.out / SUMMARY_FILE).write_text(summary)
    if scorer.manifest and not options.only:
        (Path(options.model) / SUMMARY_FILE).write_text(summary)
    clock.say(f"written to {options.out}")
    say(summary)


class _Clock:
    """Progress on stderr, each line with the seconds since the start."""

    def __init__(self) -> None:
        self.started = time.monotonic()

    def say(self, line: str) -> None:
        sys.stderr.write(f"{time.monotonic() - self.started:6.1f} s  {line}\n")
        sys.stderr.flush()


def _sample(traces: Iterable[Trace], limit: int, rng: Random) -> list[Trace]:
    """At most `limit` traces, each as likely as any other, in the file's order; 0 for all. Nothing else is held."""
    kept: list[tuple[int, Trace]] = []
    for place, trace in enumerate(traces):
        if not limit or len(kept) < limit:
            kept.append((place, trace))
        elif (slot := rng.randrange(place + 1)) < limit:
            kept[slot] = (place, trace)
    return [trace for _, trace in sorted(kept, key=lambda one: one[0])]


def _training(scorer: "Scorer", data: Path) -> "Training":
    """How to train such a model again: heads on its frozen backbone."""
    from prm.audits import Training
    from prm.scoring import Scorer
    from prm.training import train

    trained = scorer.manifest.config if scorer.manifest else TrainConfig(base=scorer.backbone.name)
    config = msgspec.structs.replace(trained, lane="heads")

    def learn(traces: Sequence[Trace]) -> "Scoring":
        with TemporaryDirectory() as folder:
            write_traces(Path(folder) / "data.jsonl", traces)
            train(
                data=Path(folder) / "data.jsonl",
                out=Path(folder) / "model",
                config=config,
                report=lambda progress: None,
            )
            fresh = Scorer.load(Path(folder) / "model")
        return lambda some: list(fresh.score(some))

    return Training(lambda: read_traces(data), learn)
