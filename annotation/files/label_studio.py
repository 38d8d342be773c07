"""Reads Label Studio's tasks as solutions with labels, from an export or from a running server."""

import json
import re
import urllib.error
import urllib.request
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from typing import Any, BinaryIO, cast

import msgspec

from annotation.core.errors import DomainError
from annotation.files.project_moves import Moved, Naming, as_solution, store_rest
from prm.formats.label_studio import Person, Submission, Task, answers_of
from prm.formats.reading import read_records
from prm.formats.record import Record, RecordAnnotation, Rejection
from prm.formats.step_names import StepNames, label_of

TOOL = "label-studio"
PAGE, SECONDS = 100, 60
MOST_MS = 2**53
_MAIL = re.compile(r"[^\s@,]+@[^\s@,]+")

Read = tuple[int, Task | Rejection]


def read_export(stream: BinaryIO) -> Iterator[Read]:
    """Yield the tasks of a JSON export; an invalid one is a rejection."""
    for number, item in read_records(stream, _task):
        yield number, cast(Task | Rejection, item)


def _task(value: Any) -> Any:
    return msgspec.convert(value, Task)


@dataclass(frozen=True)
class Server:
    """A project on a running server; `token` is a legacy token or a personal access token."""

    url: str
    token: str
    project: int

    def __post_init__(self) -> None:
        if not self.token.isascii() or not self.token.isprintable() or " " in self.token:
            raise DomainError(
                "The token is invalid. The file must contain the token and nothing else.", code="label_studio_refused"
            )

    def config(self) -> str:
        """The labelling config. Raises DomainError (`label_studio_refused`)."""
        return str(self._get(f"/api/projects/{self.project}/")["label_config"])

    def emails(self) -> dict[int, str]:
        """The e-mail addresses of the organisation's people, by id; empty if the token may not see them."""
        try:
            return {person["id"]: person["email"] for person in self._get("/api/users/")}
        except DomainError:
            return {}

    def tasks(self) -> Iterator[Read]:
        """Yield all tasks, read page by page. Raises DomainError (`label_studio_refused`)."""
        number = 0
        for page in count(1):
            path = f"/api/tasks?project={self.project}&page_size={PAGE}&page={page}&fields=all"
            answer = self._get(path)
            for value in answer["tasks"]:
                number += 1
                try:
                    yield number, msgspec.convert(value, Task)
                except msgspec.ValidationError as error:
                    yield number, Rejection(line=number, reason=str(error))
            if number >= answer["total"] or not answer["tasks"]:
                return

    def _get(self, path: str) -> Any:
        request = urllib.request.Request(self.url.rstrip("/") + path, headers={"Authorization": self._key()})
        return _answer(request)

    def _key(self) -> str:
        """The Authorization header. A personal access token is a JWT that is exchanged for one of a few minutes."""
        if self.token.count(".") != 2:
            return f"Token {self.token}"
        request = urllib.request.Request(
            self.url.rstrip("/") + "/api/token/refresh",
            data=json.dumps({"refresh": self.token}).encode(),
            headers={"Content-Type": "application/json"},
        )
        return f"Bearer {_answer(request)['access']}"


def _answer(request: urllib.request.Request) -> Any:
    if not request.full_url.startswith(("http://", "https://")):
        raise DomainError(f"'{request.full_url}' is not a server address.", code="label_studio_refused")
    try:
        with urllib.request.urlopen(request, timeout=SECONDS) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        reason = f"answers {error.code} {error.reason}" + (": is the token right?" if error.code == 401 else "")
    except (OSError, ValueError) as error:
        reason = str(error)
    raise DomainError(f"Label Studio at {request.full_url}: {reason}.", code="label_studio_refused")


def moved_tasks(
    tasks: Iterable[Read], *, names: StepNames, naming: Naming, emails: Mapping[int, str], decomposition: str
) -> Iterator[Moved]:
    """Yield each task with its labels, and what does not move; `emails` has people's e-mail addresses by id."""
    for number, task in tasks:
        if isinstance(task, Rejection):
            where = f"{task.field}: " if task.field else ""
            yield Moved(f"record {number}", None, [where + task.reason])
            continue
        name = f"task {task.id if task.id is not None else number}"
        moved = as_solution(name, names, task.data, decomposition)
        if moved.record is not None:
            store_rest(moved.record, names, task.data, tool="label_studio", task=task.id)
            _label(moved, moved.record, task, names, naming, emails)
        yield moved


def _label(
    moved: Moved, record: Record, task: Task, names: StepNames, naming: Naming, emails: Mapping[int, str]
) -> None:
    steps = len(record.positions)
    for annotation in task.annotations:
        person, email = _annotator(annotation, emails)
        pseudonym, is_member = naming(person, email)
        if annotation.was_cancelled:
            moved.left.append(f"annotation {annotation.id}: {pseudonym} skipped the task")
            continue
        ratings = answers_of(annotation)
        label = label_of(names, ratings, steps, source_kind="human")
        moved.left += [f"annotation {annotation.id}: {loss}" for loss in ratings.left]
        if label is None:
            moved.left.append(f"annotation {annotation.id}: rates no step")
            continue
        label.annotator, label.source_name = (pseudonym, "") if is_member else (None, pseudonym)
        label.adjudicates = annotation.ground_truth
        seconds = annotation.lead_time
        label.total_ms = min(int(seconds * 1000), MOST_MS) if seconds and seconds > 0 else None
        label.submitted_at = _moment(annotation.updated_at)
        label.native = label.native | {"label_studio": {"annotation": annotation.id}}
        record.annotations.append(label)
    moved.left += [f"draft {draft.id}: was never submitted" for draft in task.drafts]
    record.annotations += list(_predicted(moved, task, names, steps))


def _predicted(moved: Moved, task: Task, names: StepNames, steps: int) -> Iterator[RecordAnnotation]:
    """Yield a model's labels. An export has predictions only inside the annotations that began with one."""
    predictions = [msgspec.convert(made.prediction, Submission) for made in task.annotations if made.prediction]
    predictions += [prediction for prediction in task.predictions if isinstance(prediction, Submission)]
    whole = {prediction.id: prediction for prediction in predictions if prediction.result}
    for prediction in whole.values():
        ratings = answers_of(prediction)
        label = label_of(names, ratings, steps, source_kind="model_judge")
        moved.left += [f"prediction {prediction.id}: {loss}" for loss in ratings.left]
        if label is not None:
            label.source_name = prediction.model_version or "a model of Label Studio"
            label.submitted_at = _moment(prediction.updated_at)
            label.native = label.native | {"label_studio": {"prediction": prediction.id}}
            yield label
    absent = [pk for pk in task.predictions if isinstance(pk, int) and pk not in whole]
    moved.left += [f"prediction {pk}: the export names it, but does not contain it" for pk in absent]


def _annotator(annotation: Submission, emails: Mapping[int, str]) -> tuple[str, str]:
    """The annotator's id (else their e-mail), and their e-mail if it is known."""
    author = annotation.completed_by
    if isinstance(author, str):
        author = Person(email=author)
    person = author if isinstance(author, Person) else Person(author)
    address = _MAIL.search(annotation.created_username)
    email = person.email or emails.get(person.id or 0, "") or (address[0] if address else "")
    return (str(person.id) if person.id is not None else email or "nobody"), email


def _moment(value: str | None) -> datetime | None:
    try:
        return datetime.fromisoformat(value) if value else None
    except ValueError:
        return None
