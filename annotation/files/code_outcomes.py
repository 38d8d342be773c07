"""Sets the outcomes of code from external test results; nothing is executed here.

A solution is correct if at least one test ran and none failed, wrong if one failed. Results name solutions by the id
under which they were imported or posted.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Annotated, Any, BinaryIO, Literal

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet

from annotation.core import audit
from annotation.core.bounds import about
from annotation.core.errors import DomainError
from annotation.core.membership.access import require_role
from annotation.models import Membership, Project, Solution
from prm.formats.reading import Unreadable
from prm.formats.suite_results import Tally, read_cases, read_tallies
from prm.messages import Message

AT_ONCE = 500
MOST_SHOWN = 1000
MOST_SOLUTIONS = 1_000_000  # in one JUnit report, which must be read as a whole

Kind = Literal["junit", "jsonl"]


@dataclass
class Refused:
    """A rejected result: its line (0 in a report), the id of its solution, the reason."""

    line: Annotated[int, about("The number of the line, from 1; 0 in a report.")]
    id: Annotated[str, about("The id of the solution.")]
    reason: Annotated[str, about("The reason in words; empty for none.")]


@dataclass
class Applied:
    """The effects of a file of results, as numbers of solutions; the first MOST_SHOWN refused results are listed."""

    correct: Annotated[int, about("Number of solutions whose final answer is right.")] = 0
    wrong: Annotated[int, about("Number of solutions whose final answer is wrong.")] = 0
    changed: Annotated[int, about("Number of solutions whose outcome changed.")] = 0
    refused: Annotated[int, about("Number that was rejected.")] = 0
    shown: Annotated[list[Refused], about("The first rejected results.")] = field(default_factory=list)

    def refuse(self, line: int, id: str, reason: str) -> None:
        self.refused += 1
        if len(self.shown) < MOST_SHOWN:
            self.shown.append(Refused(line, id, reason))


def kind_of(filename: str) -> Kind:
    """The kind of results that a file name suggests."""
    return "junit" if filename.lower().endswith(".xml") else "jsonl"


def apply_results(*, by: User | None, project: Project, content: BinaryIO, kind: Kind) -> Applied:
    """Set the outcomes of the solutions that the results name, in chunks with an audit row each.

    `by` is None for the operator of the machine. Raises Forbidden, DomainError (`unreadable_results`).
    """
    if by is not None:
        require_role(by, project, Membership.Role.MANAGER)
    applied = Applied()
    try:
        tallies = _of_report(project, content) if kind == "junit" else _of_lines(content, applied)
        while chunk := list(islice(tallies, AT_ONCE)):
            _apply(by, project, chunk, applied)
    except Unreadable as error:
        raise DomainError(Message("unreadable_results", reason=error.reason)) from None
    return applied


def _of_lines(content: BinaryIO, applied: Applied) -> Iterator[tuple[int, Tally]]:
    for line, tally in read_tallies(content):
        if isinstance(tally, Unreadable):
            where = Message("field_reason", field=tally.field, reason=tally.reason) if tally.field else tally.reason
            applied.refuse(line, "", where)
        else:
            yield line, tally


def _of_report(project: Project, content: BinaryIO) -> Iterator[tuple[int, Tally]]:
    """The tests of a report, counted by the first of their names that is a solution's id."""
    tallies: dict[str, Tally] = {}
    is_known: dict[str, bool] = {}
    cases = read_cases(content)
    while chunk := list(islice(cases, AT_ONCE)):
        _look_up(project, {name for case in chunk for name in case.names}, is_known)
        for case in chunk:
            name = next((name for name in case.names if is_known[name]), case.names[0] if case.names else "")
            tally = tallies.setdefault(name, Tally(name))
            tally.passed += case.passed is True
            tally.failed += case.passed is False
        if len(tallies) > MOST_SOLUTIONS:
            raise Unreadable("", Message("report_too_large", n=MOST_SOLUTIONS))
    yield from ((0, tally) for tally in tallies.values())


def _look_up(project: Project, names: Iterable[str], is_known: dict[str, bool]) -> None:
    fresh = [name for name in names if name not in is_known]
    existing = set(_named(project, fresh).values_list("external_id", flat=True))
    is_known.update({name: name in existing for name in fresh})


def _named(project: Project, ids: Iterable[str]) -> QuerySet[Solution]:
    return Solution.objects.filter(project=project, external_id__in=ids).exclude(external_id="")


@transaction.atomic
def _apply(by: User | None, project: Project, chunk: list[tuple[int, Tally]], applied: Applied) -> None:
    named: dict[str, list[Solution]] = {}
    ids = [tally.id for _line, tally in chunk]
    for solution in _named(project, ids).select_for_update(no_key=True).order_by("pk"):
        named.setdefault(solution.external_id, []).append(solution)
    before: dict[str, dict[str, Any]] = {}
    after, changed = {}, {}
    for line, tally in chunk:
        solutions = named.get(tally.id, [])
        if fault := _fault(tally, len(solutions)):
            applied.refuse(line, tally.id, fault)
            continue
        [solution] = solutions
        correct = not tally.failed
        applied.correct += correct
        applied.wrong += not correct
        tests = {"passed": tally.passed, "failed": tally.failed}
        was = (solution.final_answer_correct, solution.outcome_source, solution.extra.get("tests"))
        if was == (correct, "tests", tests):
            continue
        before.setdefault(str(solution.pk), {"correct": was[0], "source": was[1]})  # a chunk may name it twice
        after[str(solution.pk)] = {"correct": correct, "source": "tests"} | tests
        solution.final_answer_correct, solution.outcome_source = correct, "tests"
        solution.extra = solution.extra | {"tests": tests}
        changed[solution.pk] = solution
    Solution.objects.bulk_update(changed.values(), ["final_answer_correct", "outcome_source", "extra"])
    applied.changed += len(after)
    if after:
        audit.record(by=by, action="outcomes.tests", target=project, before=before, after=after)


def _fault(tally: Tally, solutions: int) -> str:
    if not solutions:
        return Message("solution_id_unknown")
    if solutions > 1:
        return Message("solution_id_ambiguous", n=solutions)
    return "" if tally.passed or tally.failed else Message("no_test_ran")
