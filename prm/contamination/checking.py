"""Compares data with a benchmark: how many problems and solutions overlap, in which splits, and which."""

from collections import Counter
from collections.abc import Iterable
from typing import Literal, NamedTuple

from msgspec import Struct

from prm.contamination.benchmark import LONG_RUN, MOST, SHORT_RUN, BenchmarkText, Match, TextIndex
from prm.contamination.near_duplicates import DuplicateGroup, NearDuplicates
from prm.contamination.ngrams import text_fingerprint, word_hashes
from prm.formats.identity import solution_key
from prm.formats.record import Record, sampled_texts
from prm.traces import Trace

MOST_HITS = 100  # in a report
EXCERPT = 120  # characters


class Item(NamedTuple):
    """A solution of the data."""

    id: str
    problem: str
    solution: str
    split: str


class Overlap(Struct):
    """Distinct texts that were compared with a benchmark, and how many overlap.

    `equal` ones differ at most in case, spaces and punctuation; `any_run` share a run of 13 words; `most_runs` share at
    least 70 % of their runs of 8 words. `found` problems do at least one of these. Of solutions, a shared run
    of 13 words does not count: stock phrases are that long (14 of 800 solutions of MATH share one with GSM8K).
    """

    texts: int = 0
    equal: int = 0
    any_run: int = 0
    most_runs: int = 0
    found: int = 0
    splits: dict[str, int] = {}

    def count(self, match: Match, split: str, *, found: bool) -> None:
        self.texts += 1
        self.equal += match.equal
        self.any_run += match.any_run
        self.most_runs += match.share >= MOST
        self.found += found
        if found:
            self.splits[split] = self.splits.get(split, 0) + 1


class Hit(Struct):
    """A text that overlaps with the benchmark's text of this id; `share` is that of its runs of 8 words."""

    of: Literal["problem", "solution"]
    id: str
    benchmark_id: str
    split: str
    equal: bool
    share: float
    excerpt: str


class ContaminationReport(Struct):
    """The overlap of data with a benchmark, and the near-duplicates among its problems.

    `benchmark` is "" if only near-duplicates were looked for. `duplicate_groups` counts the groups of near-duplicates,
    `duplicates` the problems in them, and `across_splits` the groups whose problems are in several splits. `hits` and
    `groups` have the first MOST_HITS.
    """

    benchmark: str
    sha256: str
    benchmark_problems: int
    benchmark_solutions: int
    long_run: int
    short_run: int
    most: float
    problems: Overlap
    solutions: Overlap
    hits: list[Hit]
    distinct_problems: int
    duplicate_groups: int
    duplicates: int
    across_splits: int
    groups: list[DuplicateGroup]


def item_of_trace(trace: Trace) -> Item:
    return Item(trace.id, trace.problem, "\n".join(step.text for step in trace.steps), trace.split)


def item_of_record(record: Record) -> Item:
    """The problem and the sampled steps of a record, under its file's id or the key of its content."""
    return Item(
        record.external_id or solution_key(record),
        record.problem,
        record.solution_text or "\n".join(sampled_texts(record)),
        record.split,
    )


def check_contamination(items: Iterable[Item], benchmark: BenchmarkText | None) -> ContaminationReport:
    """Compare the data with a benchmark and its problems with each other.

    Every distinct problem and every solution counts once. Memory grows with the benchmark, and by about 1 KB for each
    distinct problem.
    """
    problems, solutions, hits = Overlap(splits={}), Overlap(splits={}), list[Hit]()
    duplicates, seen = NearDuplicates(), set[int]()

    def compare(of: Literal["problem", "solution"], item: Item, text: str, index: TextIndex, counts: Overlap) -> None:
        match = index.match(word_hashes(text))
        found = match.most or (of == "problem" and match.any_run)
        counts.count(match, item.split, found=found)
        if found and match.owner is not None and len(hits) < MOST_HITS:
            share, excerpt = round(match.share, 3), text[:EXCERPT]
            hits.append(Hit(of, item.id, index.ids[match.owner], item.split, match.equal, share, excerpt))

    for item in items:
        fingerprint = text_fingerprint(word_hashes(item.problem))
        if fingerprint not in seen:
            seen.add(fingerprint)
            duplicates.add(item.id, item.problem, item.split)
            if benchmark:
                compare("problem", item, item.problem, benchmark.problems, problems)
        if benchmark:
            compare("solution", item, item.solution, benchmark.solutions, solutions)
    groups = duplicates.groups()
    sizes = Counter({place: len(group.ids) for place, group in enumerate(groups)})
    return ContaminationReport(
        benchmark=benchmark.name if benchmark else "",
        sha256=benchmark.sha256 if benchmark else "",
        benchmark_problems=len(benchmark.problems) if benchmark else 0,
        benchmark_solutions=len(benchmark.solutions) if benchmark else 0,
        long_run=LONG_RUN,
        short_run=SHORT_RUN,
        most=MOST,
        problems=problems,
        solutions=solutions,
        hits=hits,
        distinct_problems=len(seen),
        duplicate_groups=len(groups),
        duplicates=sizes.total(),
        across_splits=sum(len(group.splits) > 1 for group in groups),
        groups=groups[:MOST_HITS],
    )
