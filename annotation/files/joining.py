"""Joins labels that a file has without their solutions to the solutions in the project."""

import re
from collections import defaultdict
from collections.abc import Sequence
from typing import cast

from django.db.models import CharField, Func

from annotation.files.identity import StoredRecord
from annotation.files.record_faults import fault_of
from annotation.files.store import PROBLEM_FIELDS, SOLUTION_FIELDS
from annotation.models import Project, Solution, Step
from prm.formats.identity import KEY_DIGITS
from prm.formats.label_lines import LooseLabel
from prm.formats.reading import Unreadable
from prm.formats.record import Completion, Record, Rejection
from prm.messages import Message
from prm.vocabulary import StepKind

LARGEST_NUMBER = 2**63 - 1
_KEY = re.compile(rf"[0-9a-f]{{{KEY_DIGITS}}}")


class _SolutionKey(Func):
    """As `prm.formats.identity.key_of` of a solution."""

    template = f"left(encode(sha256(convert_to(%(expressions)s, 'UTF8')), 'hex'), {KEY_DIGITS})"
    arg_joiner = " || "
    output_field = CharField()

    def __init__(self) -> None:
        super().__init__("problem__text_hash", "content_hash")


def join_labels(project: Project | None, records: Sequence[tuple[int, Record]]) -> list[Record | Rejection]:
    """The records of a file, by line, with each loose label joined to its solution, or a rejection with the reason.

    Without a project there are no solutions.
    """
    loose = [record for _, record in records if isinstance(record, LooseLabel)]
    if not loose:
        return [record for _, record in records]
    solutions = _find_solutions(project, {label.solution for label in loose})
    steps = _find_steps([solution for named in solutions.values() if len(named) == 1 for solution in named])
    return [
        _joined(line, record, solutions[record.solution], steps) if isinstance(record, LooseLabel) else record
        for line, record in records
    ]


def _find_solutions(project: Project | None, ids: set[str]) -> dict[str, list[Solution]]:
    """The solutions with each id: those imported under it, else the one with this key or number."""
    in_project = Solution.objects.filter(project=project).select_related("problem")
    named: dict[str, list[Solution]] = defaultdict(list)
    for solution in in_project.filter(external_id__in=ids).order_by("pk"):
        named[solution.external_id].append(solution)
    if keys := [id for id in ids - named.keys() if _KEY.fullmatch(id)]:
        for solution in in_project.annotate(key=_SolutionKey()).filter(key__in=keys):
            named[solution.key].append(solution)
    numbers = {int(id): id for id in ids - named.keys() if id.isascii() and id.isdecimal() and len(id) < 20}
    for solution in in_project.filter(pk__in=[number for number in numbers if number <= LARGEST_NUMBER]):
        named[numbers[solution.pk]].append(solution)
    return named


def _find_steps(solutions: list[Solution]) -> dict[int, list[Completion]]:
    """The first completion at each position of the solutions."""
    steps: dict[int, list[Completion]] = defaultdict(list)
    rows = Step.objects.filter(solution__in=solutions, alternative=0).order_by("solution", "position")
    for solution, text, kind in rows.values_list("solution", "text", "kind"):
        steps[solution].append(Completion(text, cast(StepKind, kind)))
    return steps


def _joined(
    line: int, label: LooseLabel, solutions: list[Solution], steps: dict[int, list[Completion]]
) -> Record | Rejection:
    if len(solutions) != 1:
        reason = Message("solution_id_ambiguous", n=len(solutions)) if solutions else Message("solution_id_unknown")
        return Rejection(line=line, field="solution", reason=reason, excerpt=label.solution[:200])
    [solution] = solutions
    problem, completions = solution.problem, steps[solution.pk]
    try:
        annotation = label.joined([step.kind for step in completions])
    except Unreadable as error:
        return Rejection(line=line, field=error.field, reason=error.reason, excerpt=label.solution[:200])
    record = StoredRecord(
        problem=problem.text,
        positions=[[step] for step in completions],
        source_group=problem.source_group,
        domain=problem.domain,
        annotations=[annotation],
        text_hash=problem.text_hash,
        content_hash=solution.content_hash,
        **{name: getattr(problem, name) for name in PROBLEM_FIELDS},
        **{name: getattr(solution, name) for name in SOLUTION_FIELDS},
    )
    if fault := fault_of(record):
        return Rejection(line=line, field=fault[0], reason=fault[1], excerpt=label.solution[:200])
    return record
