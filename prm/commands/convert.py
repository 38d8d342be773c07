"""`convert`: rewrites labelled solutions in another format, and reports what that format leaves out."""

import argparse
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from itertools import repeat
from pathlib import Path
from typing import Any

from prm.commands.common import SOLUTIONS_HELP, add_mapping, check_output, data_file, mapping_of, say
from prm.errors import DataError
from prm.exporters import EXPORTERS
from prm.files import replacing
from prm.formats.path import ratings_beside
from prm.formats.record import Record, RecordAnnotation
from prm.formats.trace_files import open_traces
from prm.formats.writing import About, Exporter, Loss
from prm.messages import Message
from prm.processes import cleaning_up
from prm.traces import write_traces
from prm.vocabulary import NEUTRAL_POLICIES, SPLITS, NeutralPolicy

TRACES = "traces"
# Of the details in `Exporter.not_held`, those that files of other tools have.
NOT_HELD = {
    "labels": "labels left out: the format has none",
    "merged": "labels merged with another of their solution",
    "alternatives": "ratings of alternatives left out",
    "own_steps": "steps that annotators wrote, not marked as theirs",
    "error_types": "error types left out",
    "dimensions": "answers besides the rating left out",
}


def add(commands: Any) -> None:
    parser = commands.add_parser("convert", help="rewrite labelled solutions in another format")
    parser.add_argument("--data", type=data_file, required=True, help=SOLUTIONS_HELP)
    add_mapping(parser)
    parser.add_argument("--out", type=Path, required=True, help="the file to write")
    parser.add_argument("--to", choices=(TRACES, *EXPORTERS), default=TRACES, help="the format to write")
    parser.add_argument(
        "--neutral", choices=NEUTRAL_POLICIES, default="positive", help="neutral ratings in formats of two classes"
    )
    parser.add_argument(
        "--splits", choices=SPLITS, nargs="+", default=["pool"], help="the splits in a file that cannot name them"
    )
    parser.set_defaults(run=run)


@cleaning_up()
def run(options: argparse.Namespace) -> None:
    check_output(options.out, options.data, options.mapping)
    file = open_traces(options.data, mapping_of(options))
    if options.to == TRACES:
        count = write_traces(options.out, (trace for _, trace in file.read()))
        say(f"{Message('n_solutions', n=count)} in {options.out}")
        return
    conversion = Conversion(EXPORTERS.get(options.to), options.neutral, options.splits)
    with replacing(options.out) as out:
        for part in conversion.write(file.records()):
            out.write(part)
        if not conversion.solutions:
            reasons = ", ".join(f"{count} {loss}" for loss, count in conversion.losses.items())
            raise DataError(
                Message("nothing_to_convert", path=options.data, format=options.to, reasons=reasons or "none")
            )
    say(f"{Message('n_solutions', n=conversion.solutions)} in {options.out}")
    for loss, count in conversion.losses.items():
        say(f"{count} {loss}")
    if len(conversion.kinds) > 1:
        say(f"labels of several kinds, which the format does not name: {', '.join(sorted(conversion.kinds))}")


class Conversion:
    """Writes records in a format, and counts what it leaves out."""

    def __init__(self, exporter: Exporter, neutral: NeutralPolicy, splits: Collection[str]) -> None:
        self.exporter, self.neutral, self.splits = exporter, neutral, splits
        self.solutions = 0
        self.losses = Counter[str]()
        self.kinds: set[str] = set()  # of labels, if the format does not name them

    def write(self, records: Iterable[Record]) -> Iterator[bytes]:
        """The bytes of the file."""
        about = About(self.exporter.name, self.exporter.version, lambda: f"# {self.exporter.title}\n")
        return self.exporter.encode((row for record in records for row in self._rows(record)), about)

    def _rows(self, record: Record) -> list[Any]:
        split = record.split or "pool"
        if self.exporter.nameless and split not in self.splits:
            self.losses[f"left out: in the split {split}, which --splits does not name"] += 1
            return []
        parts = list(self.exporter.lines(record, self.neutral))
        rows = [part for part in parts if not isinstance(part, Loss)]
        reasons = [part.reason.replace("_", " ") for part in parts if isinstance(part, Loss)]
        if not rows:
            self.losses[f"left out: {(*reasons, 'not expressible')[0]}"] += 1
            return []
        self.solutions += 1
        self.losses.update(f"shortened: {reason}" for reason in reasons)
        for label in record.annotations:
            self.losses.update(NOT_HELD[detail] for detail in _details(label) if detail in self.exporter.not_held)
        if "merged" in self.exporter.not_held and len(record.annotations) > 1:
            self.losses[NOT_HELD["merged"]] += len(record.annotations) - 1
        if self.exporter.nameless and self.exporter.has_labels:
            self.kinds.update(label.source_kind for label in record.annotations)
        return rows


def _details(label: RecordAnnotation) -> Iterator[str]:
    """Each detail of a label that some formats cannot express, by its name in NOT_HELD."""
    yield "labels"
    yield from repeat("alternatives", ratings_beside(label))
    for place in label.path:
        if place.own_text is not None:
            yield "own_steps"
        for rating in place.ratings:
            if rating.error_type:
                yield "error_types"
            yield from repeat("dimensions", len(rating.dimensions))
