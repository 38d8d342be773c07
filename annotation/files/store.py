"""Stores a chunk of records: matches existing rows, and writes new ones with COPY."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from itertools import islice
from operator import attrgetter
from typing import Any, NamedTuple, cast

from django.db import connection
from django.utils import timezone

from annotation.core.statements import fetch_named
from annotation.files import record_labels
from annotation.files.copying import NewRows
from annotation.files.identity import Identified, assign_split, identify
from annotation.models import Critique, ImportJob, Problem, Project, Solution, SolutionWords, Step
from prm.formats.record import MOST_EQUAL, Completion, Record, alternative_of
from prm.vocabulary import StepKind

FIELDS = {
    Problem: (
        "id", "project", "text", "text_hash", "source_group", "split", "domain", "reference_answer",
        "reference_solution", "extra", "created_at",
    ),
    Solution: (
        "id", "project", "problem", "split", "content_hash", "external_id", "generator", "final_answer",
        "final_answer_correct", "outcome_source", "provenance", "extra", "multiplicity", "import_job", "created_at",
    ),
    SolutionWords: ("solution", "words"),
    Step: ("id", "solution", "position", "alternative", "text", "kind", "added"),
    Critique: ("step", "ordinal", "text"),
    **record_labels.FIELDS,
}  # fmt: skip
# Their parameters have the same types in every import, so that PostgreSQL plans them once. A plan for the small tables
# of the first chunks would read the whole project for each later chunk. Therefore each row is looked up by itself, no
# index helps with the condition on the project, and `begin_storing` turns off sequential scans.
PROBLEMS = """
SELECT stored.* FROM unnest(string_to_array(%(hashes)s, ' ')) AS hash, LATERAL (
    SELECT id, split, text AS problem, text_hash, reference_answer, reference_solution FROM annotation_problem
    WHERE text_hash = hash AND project_id IS NOT DISTINCT FROM %(project)s LIMIT 1
) AS stored
"""
SOLUTIONS = """
SELECT stored.* FROM unnest(%(problems)s::bigint[], %(hashes)s::text[]) AS wanted (problem, hash), LATERAL (
    SELECT id, problem_id, content_hash, multiplicity, import_job_id, external_id, generator, final_answer,
        final_answer_correct, extra
    FROM annotation_solution WHERE problem_id = wanted.problem AND content_hash = wanted.hash LIMIT 1
) AS stored
"""
PROBLEM_FIELDS = ("reference_answer", "reference_solution")
SOLUTION_FIELDS = ("external_id", "generator", "final_answer", "final_answer_correct", "extra")
LOCK = 0x5374_6570  # the class of the advisory locks of this module; their key is the project


@dataclass(frozen=True)
class Counts:
    """Counts of records: `accepted` added a solution or a label, `duplicates` added nothing.

    Of the labels, `unnamed` differ from another label without an annotator and are added to it; `revised` replace an
    earlier label by the same annotator. `repeated` are duplicates that count as further samples of their solution.
    """

    accepted: int = 0
    duplicates: int = 0
    annotations: int = 0
    unnamed: int = 0
    revised: int = 0
    repeated: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        return Counts.total([self, other])

    @classmethod
    def total(cls, several: Iterable["Counts"]) -> "Counts":
        return cls(*map(sum, zip(*map(_COUNTED, [cls(), *several]), strict=True)))


_COUNTED = attrgetter(*(one.name for one in fields(Counts)))
NEW, DUPLICATE, REPEATED = Counts(accepted=1), Counts(duplicates=1), Counts(duplicates=1, repeated=1)


class _Problem(NamedTuple):
    """A stored problem; `stored` is its row or its record, which have the same fields."""

    id: int
    split: str
    stored: Any


@dataclass(slots=True)
class _Solution:
    """A stored solution, with its completions by position and their ids; `stored` is its row or its record.

    `is_new` if this import added it, so that an equal record is a further sample. `added` are the ids of the
    completions of one that was just added: most get no label that needs them by position.
    """

    id: int
    stored: Any
    multiplicity: int
    is_new: bool
    added: Sequence[int] = ()
    completions: dict[int, list[Completion]] = field(default_factory=partial(defaultdict, list))
    keys: dict[int, list[int]] = field(default_factory=partial(defaultdict, list))

    def find_added(self) -> None:
        """Sort the completions and ids of a solution that was just added by position, once."""
        if self.added and not self.keys:
            unused = iter(self.added)
            for position, at in enumerate(self.stored.positions):
                self.completions[position] = [*at]
                self.keys[position] = list(islice(unused, len(at)))


def begin_storing(project: Project) -> None:
    """Wait until no other transaction adds to the project, and keep others waiting until this one ends.

    Until then, no plan reads a whole table.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_advisory_xact_lock(%s, %s), set_config('enable_seqscan', 'off', true)", [LOCK, project.pk]
        )


def store_chunk(*, project: Project, records: Sequence[Record], are_samples: bool = False) -> Counts:
    """Store valid records in the current transaction, after other imports into the project; returns the counts.

    Records without labels that equal another one of the same import are further samples of the solution. With
    `are_samples`, so are those that equal a solution from before: a policy has just sampled them.
    """
    identified = [identify(record) for record in records]
    return store_identified(project=project, records=identified, are_samples=are_samples)


def store_identified(
    *, project: Project, records: Sequence[Identified], job: ImportJob | None = None, are_samples: bool = False
) -> Counts:
    """As `store_chunk`, of records that are identified already."""
    begin_storing(project)
    return Counts.total(counts for counts, _ in _Chunk(project, records, job, are_samples).store())


def store_each(*, project: Project, records: Sequence[Record]) -> list[tuple[Counts, int | None]]:
    """As `store_chunk`, but returns the counts of each record and the id of its solution, None without a solution."""
    begin_storing(project)
    return _Chunk(project, [identify(record) for record in records]).store()


class _Chunk:
    def __init__(
        self, project: Project, records: Sequence[Identified], job: ImportJob | None = None, are_samples: bool = False
    ) -> None:
        self._project, self._records, self._are_samples = project.pk, records, are_samples
        self._job = job.pk if job else None
        self._now = timezone.now()
        self._rows = NewRows(FIELDS)
        self._labels = record_labels.Labels(project, [one.record for one in records], self._rows)
        self._problems = self._find_problems()
        self._solutions = self._find_solutions()
        self._new_problems: list[tuple[_Problem, Identified]] = []
        self._new_solutions: list[tuple[_Solution, _Problem, Identified]] = []
        self._recounted: dict[int, _Solution] = {}

    def store(self) -> list[tuple[Counts, int | None]]:
        self._reserve_keys()
        stored = [self._add(one) for one in self._records]
        self._rows.write(
            {
                Problem: self._problem_rows(),
                Solution: self._solution_rows(),
                SolutionWords: ((solution.id, one.words) for solution, _, one in self._new_solutions),
                Step: self._step_rows(),
            }
        )
        recounted = [Solution(pk=pk, multiplicity=one.multiplicity) for pk, one in self._recounted.items()]
        Solution.objects.bulk_update(recounted, ["multiplicity"], batch_size=1000)
        return stored

    def _find_problems(self) -> dict[str, _Problem]:
        hashes = " ".join({one.text_hash for one in self._records})
        rows = fetch_named(PROBLEMS, {"project": self._project, "hashes": hashes})
        return {row.text_hash: _Problem(row.id, row.split, row) for row in rows}

    def _find_solutions(self) -> dict[tuple[int, str], _Solution]:
        wanted = {
            (self._problems[one.text_hash].id, one.content_hash)
            for one in self._records
            if one.text_hash in self._problems
        }
        if not wanted:
            return {}
        problems, hashes = zip(*wanted, strict=True)
        solutions = {
            (row.problem_id, row.content_hash): _Solution(
                row.id,
                row._replace(extra=json.loads(row.extra)),
                row.multiplicity,
                self._job is not None and row.import_job_id == self._job,
            )
            for row in fetch_named(SOLUTIONS, {"problems": list(problems), "hashes": list(hashes)})
        }
        self._find_steps(solutions)
        return solutions

    def _find_steps(self, solutions: dict[tuple[int, str], _Solution]) -> None:
        """Read the steps of the stored solutions that get a label."""
        labelled = {one.content_hash for one in self._records if self._labels.has_fresh(one.record)}
        by_id = {solution.id: solution for (_, content), solution in solutions.items() if content in labelled}
        steps = Step.objects.filter(solution__in=by_id).order_by("solution", "position", "alternative")
        for key, solution, position, text, kind in steps.values_list("id", "solution", "position", "text", "kind"):
            by_id[solution].completions[position].append(Completion(text, kind=cast(StepKind, kind)))
            by_id[solution].keys[position].append(key)
        self._labels.find_revisions(list(by_id))

    def _reserve_keys(self) -> None:
        """Fetch the keys of the new problems, solutions and steps at once."""
        problems = {one.text_hash for one in self._records} - self._problems.keys()
        solutions = {
            (one.text_hash, one.content_hash): sum(map(len, one.record.positions))
            for one in self._records
            if one.text_hash in problems or (self._problems[one.text_hash].id, one.content_hash) not in self._solutions
        }
        steps = [count for count in solutions.values() if count]
        self._rows.reserve({Problem: len(problems), Solution: len(steps), Step: sum(steps)})

    def _add(self, one: Identified) -> tuple[Counts, int | None]:
        """Add the rows of a record; returns its counts and the id of its solution."""
        record = one.record
        problem = self._problems.get(one.text_hash)
        is_known = problem is not None
        if problem is None:
            problem = self._problems[one.text_hash] = self._add_problem(one)
        if not record.positions:
            return DUPLICATE if is_known else NEW, None
        solution = self._solutions.get((problem.id, one.content_hash))
        fresh = self._labels.fresh(record, solution.id if solution else None)
        if solution is None:
            solution = self._solutions[problem.id, one.content_hash] = self._add_solution(one, problem)
        elif self._is_sample(record, solution):
            self._count(solution, solution.multiplicity + record.multiplicity)
            return REPEATED, solution.id
        else:
            self._count(solution, max(solution.multiplicity, record.multiplicity))
            if not fresh:
                return DUPLICATE, solution.id
        if not fresh:
            return NEW, solution.id
        steps = self._match_steps(record, solution)
        differing = {
            name: value
            for stored, names in ((problem.stored, ("problem", *PROBLEM_FIELDS)), (solution.stored, SOLUTION_FIELDS))
            for name in names
            if (value := getattr(record, name)) != getattr(stored, name)
        }
        added = [self._labels.add(label, solution=solution.id, steps=steps, differing=differing) for label in fresh]
        counts = Counts(
            accepted=1, annotations=len(fresh), unnamed=added.count("unnamed"), revised=added.count("revised")
        )
        return counts, solution.id

    def _is_sample(self, record: Record, solution: _Solution) -> bool:
        """Whether a record that equals a stored solution is a further sample. A labelled one may be for its label."""
        if record.annotations or not (solution.is_new or self._are_samples):
            return False
        return not record.external_id or record.external_id != solution.stored.external_id

    def _count(self, solution: _Solution, multiplicity: int) -> None:
        multiplicity = min(multiplicity, MOST_EQUAL)
        if multiplicity != solution.multiplicity:
            solution.multiplicity = multiplicity
            self._recounted[solution.id] = solution

    def _add_problem(self, one: Identified) -> _Problem:
        problem = _Problem(self._rows.key(Problem), assign_split(one.source_group), one.record)
        self._new_problems.append((problem, one))
        return problem

    def _problem_rows(self) -> Iterator[tuple[Any, ...]]:
        for problem, one in self._new_problems:
            record = one.record
            yield (
                problem.id,
                self._project,
                record.problem,
                one.text_hash,
                one.source_group,
                problem.split,
                record.domain,
                record.reference_answer,
                record.reference_solution,
                record.problem_extra,
                self._now,
            )

    def _add_solution(self, one: Identified, problem: _Problem) -> _Solution:
        """Add a new solution and its steps."""
        record, key = one.record, self._rows.key(Solution)
        steps = self._rows.keys(Step, sum(map(len, record.positions)))
        solution = _Solution(key, record, record.multiplicity, is_new=True, added=steps)
        self._new_solutions.append((solution, problem, one))
        return solution

    def _solution_rows(self) -> Iterator[tuple[Any, ...]]:
        for solution, problem, one in self._new_solutions:
            record = one.record
            yield (
                solution.id,
                self._project,
                problem.id,
                problem.split,
                one.content_hash,
                record.external_id,
                record.generator or (record.provenance.policy if record.provenance else ""),
                record.final_answer,
                record.final_answer_correct,
                record.outcome_source or ("" if record.final_answer_correct is None else "given"),
                record.provenance or {},
                record.extra,
                record.multiplicity,
                self._job,
                self._now,
            )

    def _step_rows(self) -> Iterator[tuple[Any, ...]]:
        """Yield the steps of the new solutions, and add their critiques."""
        for solution, _, one in self._new_solutions:
            keys = iter(solution.added)
            for position, at in enumerate(one.record.positions):
                for alternative, step in enumerate(at):
                    key = next(keys)
                    yield key, solution.id, position, alternative, step.text, step.kind, step.added
                    for ordinal, critique in enumerate(step.critiques):
                        self._rows.add(Critique, key, ordinal, critique)

    def _match_steps(self, record: Record, solution: _Solution) -> record_labels.Keys:
        """The ids of the record's completions in its solution, which gets those that it lacks."""
        solution.find_added()
        matched = []
        for position, at in enumerate(record.positions):
            keys, used = solution.keys[position], set[int]()
            here = []
            for completion in at:
                alternative = alternative_of(solution.completions[position], completion, used=used)
                used.add(alternative)
                if alternative == len(keys):
                    keys.append(self._rows.key(Step))
                    text, kind = completion.text, completion.kind
                    self._rows.add(Step, keys[-1], solution.id, position, alternative, text, kind, True)
                    for ordinal, critique in enumerate(completion.critiques):
                        self._rows.add(Critique, keys[-1], ordinal, critique)
                here.append(keys[alternative])
            matched.append(here)
        return matched
