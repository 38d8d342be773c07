"""Stores solutions that a program posts, with a result for each.

A batch can be sent again: a solution is identified by its steps, and by the id that the program assigned.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Annotated, BinaryIO, Literal

from django.contrib.auth.models import User
from django.db import OperationalError, connection, transaction
from psycopg.errors import LockNotAvailable

from annotation.core import audit
from annotation.core.bounds import about
from annotation.core.errors import DomainError
from annotation.core.jobs import SCORE_TASK, enqueue
from annotation.core.membership.access import require_role
from annotation.files.answer_grading import grade_records
from annotation.files.posted_lines import read_posted
from annotation.files.preparing import prepare_record, splitting_of
from annotation.files.store import begin_storing, store_each
from annotation.models import Membership, Problem, Project, Solution
from prm.formats.identity import content_hash, text_hash
from prm.formats.record import Record, Rejection
from prm.messages import Message

MOST_POSTED = 1000
LONGEST_WAIT = 5  # seconds for other requests that add to the project
SECONDS_TO_GRADE = 2.0  # of algebra, while the caller waits; the rest stay unknown


@dataclass(frozen=True)
class Answer:
    """The result for one posted solution. `solution` is its id here, None if it was rejected."""

    line: Annotated[int, about("The number of the line, from 1.")]
    id: Annotated[str, about("The id that was sent.")]
    state: Literal["accepted", "duplicate", "rejected"]
    solution: Annotated[int | None, about("The id of the solution here; null if it was rejected.")] = None
    field: Annotated[str, about("The place that was rejected; empty if it was accepted.")] = ""
    reason: Annotated[str, about("The reason in words; empty for none.")] = ""


class Busy(DomainError):
    """Other requests are adding to the project; `wait` is in seconds."""

    status = 429

    def __init__(self) -> None:
        self.wait = LONGEST_WAIT
        super().__init__(Message("intake_busy", wait=self.wait), {"retry_after": self.wait})


def post_solutions(
    *,
    by: User,
    project: Project,
    content: BinaryIO,
    decomposition: str = "blank_lines",
    thinking: str = "separate",
) -> list[Answer]:
    """Store the solutions of JSON Lines (see `posted_lines`); returns an answer for each.

    Raises Forbidden, DomainError (`too_many`, `unknown_decomposition`), Busy; nothing is then stored.
    """
    require_role(by, project, Membership.Role.MANAGER)
    splitting = splitting_of(decomposition, thinking)
    read = list(islice(read_posted(content), MOST_POSTED + 1))
    if len(read) > MOST_POSTED:
        raise DomainError(Message("batch_too_large", most_posted=f"{MOST_POSTED:,}"), code="too_many")
    names = {line: "" if isinstance(item, Rejection) else item.external_id for line, item in read}
    items = {line: prepare_record(line, item, splitting) for line, item in read}
    records = [item for item in items.values() if isinstance(item, Record)]
    _add_references(project, records)
    grade_records(records, seconds=SECONDS_TO_GRADE)  # before the project is locked
    return _store(by, project, names, items)


@transaction.atomic
def _store(by: User, project: Project, names: dict[int, str], items: dict[int, Record | Rejection]) -> list[Answer]:
    """Store a batch, by line, with an audit row; `names` are the posted ids."""
    _wait(project)
    known = _Known(project, names.values())
    checked = {line: known.checked(line, item) for line, item in items.items()}
    records = [item for item in checked.values() if isinstance(item, Record)]
    stored = iter(store_each(project=project, records=records))
    answers = []
    for line, item in checked.items():
        if isinstance(item, Rejection):
            field = "id" if item.field == "external_id" else item.field
            answers.append(Answer(line, names[line], "rejected", field=field, reason=item.reason))
        else:
            counts, solution = next(stored)
            answers.append(Answer(line, names[line], "accepted" if counts.accepted else "duplicate", solution))
    counted: dict[str, int] = Counter(answer.state for answer in answers)
    if counted["accepted"]:
        enqueue(SCORE_TASK)
    runs = sorted({record.provenance.run for record in records if record.provenance and record.provenance.run})
    audit.record(by=by, action="solutions.post", target=project, after={**counted, "runs": runs})
    return answers


def _wait(project: Project) -> None:
    """Wait for other requests that add to the project, at most LONGEST_WAIT: this one holds a web server thread."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('lock_timeout', %s, true)", [f"{LONGEST_WAIT}s"])
    try:
        begin_storing(project)
    except OperationalError as error:
        if isinstance(error.__cause__, LockNotAvailable):
            raise Busy from error
        raise


def _add_references(project: Project, records: list[Record]) -> None:
    """Add the stored reference answers of known problems to the records, which need not repeat them."""
    bare = [record for record in records if record.reference_answer is None]
    hashes = {id(record): text_hash(record.problem) for record in bare}
    problems = Problem.objects.filter(project=project, text_hash__in=hashes.values())
    references = dict(problems.values_list("text_hash", "reference_answer"))
    for record in bare:
        record.reference_answer = references.get(hashes[id(record)])


class _Known:
    """The solutions in the project, or earlier in the batch, that have the ids of a batch."""

    def __init__(self, project: Project, names: Iterable[str]) -> None:
        ids = set(names) - {""}
        solutions = Solution.objects.filter(project=project, external_id__in=ids)
        rows = solutions.values_list("external_id", "problem__text_hash", "content_hash")
        self._contents: dict[str, set[tuple[str, str]]] = defaultdict(set)
        for name, *content in rows:
            self._contents[name].add((content[0], content[1]))

    def checked(self, line: int, item: Record | Rejection) -> Record | Rejection:
        """The record, or a rejection if its id belongs to another solution."""
        if isinstance(item, Rejection) or not item.external_id:
            return item
        content = (text_hash(item.problem), content_hash(item))
        contents = self._contents[item.external_id]
        if contents and content not in contents:
            return Rejection(
                line=line,
                field="id",
                reason=Message("solution_id_taken", id=item.external_id),
            )
        contents.add(content)
        return item
