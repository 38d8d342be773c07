"""Moves projects from other labelling tools, and reports for each task what did not move and why."""

import hashlib
import hmac
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Protocol

from django.conf import settings
from django.db import transaction

from annotation.core import audit
from annotation.files.answer_grading import grade_records
from annotation.files.preparing import prepare_record
from annotation.files.record_faults import fault_of
from annotation.files.store import store_each
from annotation.models import Membership, Project
from prm.formats.record import Record, Rejection
from prm.formats.step_names import StepNames, solution_of
from prm.splitting import Splitting

AT_ONCE = 200


@dataclass
class Moved:
    """A task to move: `record` is None if nothing can move; `left` lists what does not move and why."""

    name: str
    record: Record | None
    left: list[str] = field(default_factory=list)


@dataclass
class TaskReport:
    """The result for one task."""

    name: str
    state: str
    solution: int | None = None
    annotations: int = 0
    left: list[str] = field(default_factory=list)


@dataclass
class Summary:
    """Numbers of tasks by result, of new annotations, and of parts that did not move."""

    accepted: int = 0
    duplicate: int = 0
    rejected: int = 0
    annotations: int = 0
    left: int = 0


class Naming(Protocol):
    """Returns the pseudonym of a person in the other tool, and whether it is a member's."""

    def __call__(self, person: str, email: str = "") -> tuple[str, bool]: ...


def as_solution(name: str, names: StepNames, data: Mapping[str, Any], decomposition: str) -> Moved:
    """The task's data as a solution with steps, or the reason why it is not one."""
    try:
        item = prepare_record(1, solution_of(names, data), Splitting(decomposition))
    except ValueError as error:
        return Moved(name, None, [str(error)])
    return Moved(name, None, [f"{item.field}: {item.reason}"]) if isinstance(item, Rejection) else Moved(name, item)


def store_rest(record: Record, names: StepNames, data: Mapping[str, Any], *, tool: str, task: Any) -> None:
    """Store the task's id in the other tool and its further data with the solution."""
    used = {names.problem, names.steps, names.answer, names.generator, names.id}
    rest = {name: value for name, value in data.items() if name not in used}
    record.extra = {tool: {"task": task} | ({"data": rest} if rest else {})}


def people_of(project: Project, *, tool: str, members: bool) -> Naming:
    """A function that names people: with `members` as the member with the same e-mail, else by a pseudonym.

    A pseudonym is the same in every run on this installation, and cannot be reversed without its secret key.
    """
    known: dict[str, str] = {}
    if members:
        rows = Membership.objects.filter(project=project, active=True).exclude(user__email="")
        known = {email.lower(): str(name) for email, name in rows.values_list("user__email", "pseudonym")}

    def naming(person: str, email: str = "") -> tuple[str, bool]:
        if member := known.get((email or person).lower()):
            return member, True
        digest = hmac.new(settings.SECRET_KEY.encode(), f"{tool}:{person}".encode(), hashlib.sha256)
        return f"{tool}-{digest.hexdigest()[:12]}", False

    return naming


def move(*, project: Project, tool: str, tasks: Iterable[Moved], on_report: Callable[[TaskReport], None]) -> Summary:
    """Store the tasks in chunks with an audit row each; a second run adds nothing."""
    summary, waiting = Summary(), iter(tasks)
    while chunk := list(islice(waiting, AT_ONCE)):
        for report in _store(project, tool, chunk):
            setattr(summary, report.state, getattr(summary, report.state) + 1)
            summary.annotations += report.annotations
            summary.left += len(report.left)
            on_report(report)
    return summary


@transaction.atomic
def _store(project: Project, tool: str, chunk: list[Moved]) -> list[TaskReport]:
    readable: list[tuple[TaskReport, Record]] = []
    reports = []
    for moved in chunk:
        report = TaskReport(moved.name, "rejected", left=list(moved.left))
        reports.append(report)
        if moved.record and (fault := fault_of(moved.record)):
            report.left.append(f"{fault[0]}: {fault[1]}")
        elif moved.record:
            readable.append((report, moved.record))
    grade_records([record for _, record in readable])
    stored = store_each(project=project, records=[record for _, record in readable])
    for (report, _), (counts, solution) in zip(readable, stored, strict=True):
        report.state = "accepted" if counts.accepted else "duplicate"
        report.solution, report.annotations = solution, counts.annotations
    states = [report.state for report in reports]
    counted = {state: states.count(state) for state in ("accepted", "duplicate", "rejected")}
    annotations = sum(report.annotations for report in reports)
    after = counted | {"annotations": annotations, "tool": tool}
    audit.record(by=None, action="project.move", target=project, after=after)
    return reports
