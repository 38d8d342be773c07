"""Reads Potato's tasks as solutions with the labels of all annotators."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from annotation.files.project_moves import Moved, Naming, as_solution, store_rest
from prm.formats import potato
from prm.formats.potato import Annotator, Project
from prm.formats.record import Record
from prm.formats.step_names import StepNames, label_of

TOOL = "potato"


def moved_tasks(
    project: Project,
    data: Iterable[tuple[str, dict[str, Any] | str]],
    *,
    annotators: Iterable[Annotator],
    names: StepNames,
    naming: Naming,
    decomposition: str,
) -> Iterator[Moved]:
    """Yield each task with its labels and what does not move; at the end, labels of tasks that the data lacks."""
    by_task: dict[str, list[Annotator]] = defaultdict(list)
    for annotator in annotators:
        for task in annotator.labels:
            by_task[task].append(annotator)
    for where, value in data:
        if isinstance(value, str):
            yield Moved(where, None, [value])
            continue
        task = str(value.get(project.id_key, ""))
        moved = as_solution(f"task {task or where}", names, value, decomposition)
        people = by_task.pop(task, [])
        if moved.record is not None:
            store_rest(moved.record, names, value, tool=TOOL, task=task)
            for annotator in people:
                _label(moved, moved.record, project, annotator, task, names, naming)
        elif people:
            moved.left.append(f"the labels of {len(people)}")
        yield moved
    for task, people in by_task.items():
        yield Moved(f"task {task}", None, [f"is labelled by {len(people)}, but is in none of the data files"])


def _label(
    moved: Moved, record: Record, project: Project, annotator: Annotator, task: str, names: StepNames, naming: Naming
) -> None:
    ratings = potato.answers_of(project, annotator.labels[task], len(record.positions))
    is_person = annotator.kind == "human"
    label = label_of(names, ratings, len(record.positions), source_kind="human" if is_person else "model_judge")
    pseudonym, is_member = naming(annotator.name, annotator.name if "@" in annotator.name else "")
    if not is_person:
        pseudonym, is_member = annotator.name, False
    moved.left += [f"{pseudonym}: {loss}" for loss in ratings.left]
    if label is None:
        moved.left.append(f"{pseudonym}: rates no step")
        return
    label.annotator, label.source_name = (pseudonym, "") if is_member else (None, pseudonym)
    record.annotations.append(label)
