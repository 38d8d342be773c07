"""Projects of other labelling tools: what came over, what did not, and why, task by task."""

import hashlib
import hmac
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Protocol

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction

from annotation.core import audit
from annotation.core.membership.access import require_role
from annotation.files.answer_grading import grade_records
from annotation.files.preparing import prepared
from annotation.files.record_faults import fault_of
from annotation.files.store import store_each
from annotation.models import Membership, Project
from prm.formats.record import Record, Rejection
from prm.formats.step_names import StepNames, solution_of
from prm.splitting import Splitting

AT_ONCE = 200


@dataclass
class Moved:
    """One task on its way: `record` is None where nothing of it can come; `left` says what stays behind and why."""

    name: str
    record: Record | None
    left: list[str] = field(default_factory=list)


@dataclass
class Line:
    """What became of one task."""

    name: str
    state: str
    solution: int | None = None
    annotations: int = 0
    left: list[str] = field(default_factory=list)


@dataclass
class Summary:
    """Counts of tasks, of the annotations that are new here, and of what stayed behind."""

    accepted: int = 0
    duplicate: int = 0
    rejected: int = 0
    annotations: int = 0
    left: int = 0


class Naming(Protocol):
    """The pseudonym of a person of the other tool, and whether it is a member's."""

    def __call__(self, person: str, email: str = "") -> tuple[str, bool]: ...


def as_solution(name: str, names: StepNames, data: Mapping[str, Any], decomposition: str) -> Moved:
    """The task's data as a solution with its steps, or why it is none."""
    try:
        item = prepared(1, solution_of(names, data), Splitting(decomposition))
    except ValueError as error:
        return Moved(name, None, [str(error)])
    return Moved(name, None, [f"{item.field}: {item.reason}"]) if isinstance(item, Rejection) else Moved(name, item)


def people_of(project: Project, *, tool: str, members: bool) -> Naming:
    """Names people: as the member of the same e-mail where `members` is asked for, else by a pseudonym.

    A pseudonym is the same in every run on this installation, and cannot be traced without its secret key.
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


def move(
    *,
    by: User | None,
    project: Project,
    tool: str,
    tasks: Iterable[Moved],
    on_line: Callable[[Line], None] = lambda line: None,
) -> Summary:
    """Take the tasks in, some at a time, each time with an audit row; a second run adds nothing.

    `by` is None for the operator of the machine. Raises Forbidden.
    """
    if by is not None:
        require_role(by, project, Membership.Role.MANAGER)
    summary, waiting = Summary(), iter(tasks)
    while chunk := list(islice(waiting, AT_ONCE)):
        for line in _store(by, project, tool, chunk):
            setattr(summary, line.state, getattr(summary, line.state) + 1)
            summary.annotations += line.annotations
            summary.left += len(line.left)
            on_line(line)
    return summary


@transaction.atomic
def _store(by: User | None, project: Project, tool: str, chunk: list[Moved]) -> list[Line]:
    taken: list[tuple[Line, Record]] = []
    lines = []
    for moved in chunk:
        line = Line(moved.name, "rejected", left=list(moved.left))
        lines.append(line)
        if moved.record and (fault := fault_of(moved.record)):
            line.left.append(f"{fault[0]}: {fault[1]}")
        elif moved.record:
            taken.append((line, moved.record))
    grade_records([record for _, record in taken])
    stored = store_each(project=project, records=[record for _, record in taken])
    for (line, _), (counts, solution) in zip(taken, stored, strict=True):
        line.state = "accepted" if counts.accepted else "duplicate"
        line.solution, line.annotations = solution, counts.annotations
    states = [line.state for line in lines]
    counted = {state: states.count(state) for state in ("accepted", "duplicate", "rejected")}
    annotations = sum(line.annotations for line in lines)
    after = counted | {"annotations": annotations, "tool": tool}
    audit.record(by=by, action="project.move", target=project, project=project, after=after)
    return lines
