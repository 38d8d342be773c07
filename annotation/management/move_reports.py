"""Options and reports shared by the commands that move other tools' projects here."""

from argparse import ArgumentParser
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from django.core.management.base import CommandError

from annotation.files.project_moves import Summary, TaskReport
from prm.formats.step_names import MEANINGS, StepNames
from prm.splitting import RULES

TEXTS = {
    "problem": "data field of the problem",
    "steps": "data field of the list of steps, or of a text that is split into steps",
    "step_text": "key of the text in a step, where steps are objects",
    "rating": "control that rates a step, with {} for the step's number: rating_{}",
    "comment": "control of the comments on a step, with {} likewise",
    "answer": "data field of the reference answer",
    "generator": "data field of the policy model",
    "id": "data field of an id",
}


def add_arguments(parser: ArgumentParser) -> None:
    """Add the options that both commands have."""
    parser.add_argument("--project", required=True, help="address (slug) of the project")
    parser.add_argument("--members", action="store_true", help="match annotators to members by e-mail address")
    parser.add_argument("--dry-run", action="store_true", help="report the names in use and import nothing")
    parser.add_argument(
        "--decomposition", default="blank_lines", choices=list(RULES), help="how to split steps in one text"
    )
    names = parser.add_argument_group("names", "detected from the project; correct them with these options")
    for name, text in TEXTS.items():
        names.add_argument(f"--{name.replace('_', '-')}", help=text)
    names.add_argument("--dimension", action="append", default=[], metavar="CONTROL_{}", help="another rating")
    names.add_argument("--first", type=int, help="number of the first step in the controls' names: 0 or 1")
    names.add_argument(
        "--word", action="append", default=[], metavar="WORD=MEANING", help="MEANING: good, neutral, bad or unsure"
    )


def correct_names(names: StepNames, options: Mapping[str, Any]) -> StepNames:
    """The proposed names with the user's corrections. Raises CommandError."""
    for name in (*TEXTS, "first"):
        if options[name] is not None:
            setattr(names, name, options[name])
    for pattern in options["dimension"]:
        names.dimensions = [*names.dimensions, pattern]
    for option in options["word"]:
        word, _, meaning = option.rpartition("=")
        if not word or meaning not in set(MEANINGS.values()):
            raise CommandError(f"--word {option}: use WORD=MEANING, one of good, neutral, bad or unsure.")
        names.words = names.words | {word.strip().lower(): meaning}
    return names


def describe_names(names: StepNames) -> str:
    """The names in use, one per line."""
    values = msgspec.to_builtins(names)
    words = ", ".join(f"{word} = {meaning}" for word, meaning in values.pop("words").items())
    rows = [f"  {name.replace('_', '-')}: {value}" for name, value in values.items() if value not in ("", [])]
    return "\n".join(["Names in use:", *rows, f"  words: {words or '(none)'}"])


def report_task(task: TaskReport, write: Callable[[str], Any]) -> None:
    """Write one task's result and the parts that did not move."""
    where = f", solution {task.solution}" if task.solution else ""
    write(f"{task.name}: {task.state}{where}, {task.annotations} annotations")
    for loss in task.left:
        write(f"  not moved: {loss}")


def describe_total(summary: Summary) -> str:
    return (
        f"{summary.accepted} tasks accepted with {summary.annotations} annotations, {summary.duplicate} duplicates, "
        f"{summary.rejected} rejected; {summary.left} things not moved."
    )
