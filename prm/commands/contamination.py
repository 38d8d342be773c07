"""`contamination`: compares data with a benchmark by shared runs of words, and its problems with each other."""

import argparse
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prm.commands.common import check_output, input_file, say
from prm.errors import DataError
from prm.files import write_json
from prm.formats.trace_files import read_traces
from prm.messages import Message, write_share

if TYPE_CHECKING:
    from prm.contamination import ContaminationReport, Item, Overlap

SHOWN = 10


def add(commands: Any) -> None:
    parser = commands.add_parser("contamination", help="test whether data overlaps with a benchmark or repeats itself")
    parser.add_argument("--data", type=input_file, nargs="+", required=True, help="solutions in any format")
    parser.add_argument(
        "--against", type=input_file, help="a benchmark file (default: only near-duplicates inside the data)"
    )
    parser.add_argument(
        "--backbone",
        help="also compare problems by the mean hidden state of this model, such as `tiny`; needs --against",
    )
    parser.add_argument("--json", type=Path, help="write the report to this file")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    from prm.contamination import BenchmarkText, check_contamination, item_of_trace

    if options.backbone and not options.against:
        raise DataError(Message("backbone_needs_benchmark"))
    check_output(options.json, *options.data, options.against)
    benchmark = BenchmarkText.read(options.against) if options.against else None

    def items() -> Iterator["Item"]:
        return map(item_of_trace, chain.from_iterable(map(read_traces, options.data)))

    report = check_contamination(items(), benchmark)
    if options.json:
        write_json(options.json, report)
    if benchmark:
        _say_overlap(report)
    say(
        f"{report.distinct_problems} distinct problems: {report.duplicates} near-duplicates in "
        f"{report.duplicate_groups} groups, {report.across_splits} of them across splits"
    )
    for group in report.groups[:SHOWN]:
        say(f"  {', '.join(group.ids)} ({', '.join(group.splits)})")
    if options.backbone:
        _say_similar(options, items())


def _say_overlap(report: "ContaminationReport") -> None:
    problems = Message("n_problems", n=report.benchmark_problems)
    solutions = Message("n_solutions", n=report.benchmark_solutions)
    say(f"against {report.benchmark} ({problems}, {solutions}):")
    for name, counts in (("problems", report.problems), ("solutions", report.solutions)):
        say(f"  {name}: {_counted(counts, report)}")
    for hit in report.hits[:SHOWN]:
        say(f"  {hit.of} {hit.id} ({hit.split}) overlaps with {hit.benchmark_id}, {write_share(hit.share)} of its runs")


def _counted(counts: "Overlap", report: "ContaminationReport") -> str:
    return (
        f"{counts.found} of {counts.texts} overlap; {counts.equal} equal, {counts.most_runs} with "
        f"{write_share(report.most)} of the runs of {report.short_run} words, {counts.any_run} with a run of "
        f"{report.long_run}"
    )


def _say_similar(options: argparse.Namespace, items: Iterator["Item"]) -> None:
    from prm.contamination.embeddings import SIMILAR, similar_problems

    benchmark = ((trace.id, trace.problem) for trace in read_traces(options.against))
    pairs = similar_problems(((item.id, item.problem) for item in items), benchmark, backbone=options.backbone)
    say(f"{len(pairs)} problems have a mean hidden state with a cosine of at least {SIMILAR} to one of the benchmark")
    for pair in pairs[:SHOWN]:
        say(f"  {pair.id} and {pair.benchmark_id}: {pair.cosine:.3f}")
