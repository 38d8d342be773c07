"""Potato: a project's folder with its config, its data and each annotator's labels.

Labels are in `user_state.json` (Potato 2) or `annotated_instances.jsonl` (Potato 1), in one folder per annotator. A
scheme of the type `process_reward` has all steps of a task in one JSON text. Any other scheme with a number in its name
rates one step.
"""

import csv
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import yaml

from prm.formats.raw import EXCERPT
from prm.formats.step_names import MEANINGS, Answers, StepNames, pattern_of, propose_controls, propose_fields
from prm.messages import Message

LARGEST_CONFIG = 2**20
REWARD_WORDS = {"1": "good", "0": "neutral", "-1": "bad"}
_TRUE = (True, "true", "True", 1)


@dataclass
class Project:
    """The parts of a config that are read; `schemes` are by name."""

    data_files: list[Path]
    output: Path
    id_key: str
    text_key: str
    schemes: dict[str, dict[str, Any]]


@dataclass
class Annotator:
    """A person, or a program if `kind` is not "human", with labels (scheme, name, value) by task."""

    name: str
    kind: str = "human"
    labels: dict[str, list[tuple[str, str, Any]]] = field(default_factory=dict)


def read_config(path: Path) -> Project:
    """The project of a config file. Raises ValueError for another file, and OSError."""
    if path.stat().st_size > LARGEST_CONFIG:
        raise ValueError(f"{path.name} is too large for a config")
    try:
        value = yaml.safe_load(path.read_text())
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ValueError(f"{path.name} cannot be read: {str(error)[:EXCERPT]}") from None
    if not isinstance(value, dict) or not isinstance(value.get("item_properties"), dict):
        raise ValueError(f"{path.name} is not a Potato config: it has no item_properties")
    base = path.parent / str(value.get("task_dir", "."))
    schemes = [one for one in value.get("annotation_schemes") or [] if isinstance(one, dict) and one.get("name")]
    return Project(
        data_files=[base / str(name) for name in value.get("data_files") or [] if isinstance(name, str)],
        output=base / str(value.get("output_annotation_dir", "annotation_output")),
        id_key=str(value["item_properties"].get("id_key", "id")),
        text_key=str(value["item_properties"].get("text_key", "text")),
        schemes={str(one["name"]): one for one in schemes},
    )


def read_data(files: Iterable[Path]) -> Iterator[tuple[str, dict[str, Any] | str]]:
    """Yield each task's place with its data or what is wrong: JSON Lines, an array, CSV or TSV. Raises OSError."""
    for file in files:
        with file.open(newline="", encoding="utf-8", errors="replace") as lines:
            if file.suffix in (".csv", ".tsv"):
                rows = csv.DictReader(lines, delimiter="\t" if file.suffix == ".tsv" else ",")
                yield from ((f"{file.name}, row {number}", dict(row)) for number, row in enumerate(rows, start=1))
            elif lines.read(1) == "[":
                lines.seek(0)
                yield from (
                    (f"{file.name}, record {n}", _task(one)) for n, one in enumerate(_records(lines.read()), start=1)
                )
            else:
                lines.seek(0)
                yield from (
                    (f"{file.name}, line {n}", _task(_decoded(one)))
                    for n, one in enumerate(lines, start=1)
                    if one.strip()
                )


def _decoded(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        return f"not valid JSON: {error}"


def _records(text: str) -> list[Any]:
    value = _decoded(text)
    return value if isinstance(value, list) else [value]


def _task(value: Any) -> dict[str, Any] | str:
    return value if isinstance(value, dict | str) else "is not an object"


def read_annotators(folder: Path) -> Iterator[Annotator]:
    """Each annotator's labels, from the subfolders of the output folder. Raises ValueError naming an unreadable one."""
    for place in sorted(folder.iterdir()) if folder.is_dir() else []:
        state, old = place / "user_state.json", place / "annotated_instances.jsonl"
        try:
            if state.is_file():
                yield _of_state(msgspec.json.decode(state.read_bytes()), place.name)
            elif old.is_file():
                yield _of_lines(old, place.name)
        except (msgspec.DecodeError, ValueError, TypeError, AttributeError, KeyError) as error:
            raise ValueError(f"{place.name}: its labels cannot be read: {error}") from None


def _of_state(state: dict[str, Any], folder: str) -> Annotator:
    kind = (state.get("origin") or {}).get("kind") or "human"
    annotator = Annotator(str(state.get("user_id") or folder), kind)
    for task, pairs in (state.get("instance_id_to_label_to_value") or {}).items():
        named = _of_schemes(pairs) if isinstance(pairs, dict) else [(k["schema"], k["name"], v) for k, v in pairs]
        annotator.labels[str(task)] = named
    return annotator


def _of_lines(file: Path, folder: str) -> Annotator:
    annotator = Annotator(folder)
    with file.open("rb") as lines:
        for line in lines:
            if line.strip():
                value = msgspec.json.decode(line)
                annotator.labels[str(value["id"])] = _of_schemes(value.get("label_annotations") or {})
    return annotator


def _of_schemes(labels: Mapping[str, Mapping[str, Any]]) -> list[tuple[str, str, Any]]:
    return [(scheme, name, value) for scheme, named in labels.items() for name, value in named.items()]


def propose(project: Project, data: Mapping[str, Any]) -> StepNames:
    """The names in the config and in the first task's data."""
    names = propose_fields(data)
    names.id = project.id_key
    names.problem = project.text_key if isinstance(data.get(project.text_key), str) else names.problem
    controls: dict[str, list[Any]] = defaultdict(list)
    free = []
    for name, scheme in project.schemes.items():
        pattern = (pattern_of(name) or (name, 0))[0]
        if scheme.get("annotation_type") in ("text", "textbox"):
            free.append(pattern)
            continue
        labels = [one.get("name") if isinstance(one, dict) else one for one in scheme.get("labels") or []]
        rows = [f"{name}: {row}" for row in scheme.get("options") or []]  # multirate: a row a step
        for row in rows or [name]:
            controls[(pattern_of(row) or (row, 0))[0]].extend(labels)
    propose_controls(names, controls, free)
    numbers = [found[1] for name in project.schemes if (found := pattern_of(name))]
    names.first = min(numbers, default=0)
    if rewards := next((one for one in project.schemes.values() if _is_reward(one)), None):
        names.steps = str(rewards.get("steps_key", "steps"))
        steps = data.get(names.steps)
        key = str(rewards.get("step_text_key", "action"))
        if isinstance(steps, list) and steps and isinstance(steps[0], dict) and key in steps[0]:
            names.step_text = key
        names.rating, names.first = f"{rewards['name']}_{{}}", 0
        names.words = {word: MEANINGS[word] for word in REWARD_WORDS}
    return names


def answers_of(project: Project, labels: Iterable[tuple[str, str, Any]], count: int) -> Answers:
    """The values by control; a `process_reward` scheme has one control per step."""
    answers = Answers()
    for scheme, name, value in labels:
        of = project.schemes.get(scheme, {})
        if _is_reward(of):
            _read_rewards(of, value, count, answers)
        elif of.get("annotation_type") in ("text", "textbox"):
            if value:
                answers.texts.add(scheme)
                answers.values.setdefault(scheme, []).append(value)
        elif of.get("annotation_type") == "multirate":
            answers.values.setdefault(f"{scheme}: {name}", []).append(value)
        else:
            answers.values.setdefault(scheme, []).append(name if value in _TRUE else value)
    return answers


def _is_reward(scheme: Mapping[str, Any]) -> bool:
    return scheme.get("annotation_type") == "process_reward"


def _read_rewards(scheme: Mapping[str, Any], value: Any, count: int, answers: Answers) -> None:
    """Add the rewards of the steps; an unmarked step is 0 or null.

    In `first_error` mode Potato itself marks the steps after the first error, so they are left out.
    """
    try:
        blob = json.loads(value) if isinstance(value, str) else value
        steps = [(int(step["index"]), step["reward"], step) for step in blob["steps"]]
    except (ValueError, TypeError, KeyError):
        answers.left.append(f"{scheme['name']}: its steps cannot be read")
        return
    if len(steps) != count:
        has = Message("n_steps", n=len(steps))
        answers.left.append(f"{scheme['name']}: it has {has} where the task has {count}; say how it is split")
        return
    by_step = blob.get("mode", scheme.get("mode")) == "per_step"
    neutral = by_step and scheme.get("allow_neutral")
    for index, reward, step in steps:
        if step.get("source") == "ai" and not step.get("verified"):
            answers.left.append(f"step {index}: a model's proposal that nobody verified")
        elif reward in (1, -1) or (reward == 0 and neutral):
            answers.values[f"{scheme['name']}_{index}"] = [str(int(reward))]
        if reward == -1 and not by_step:
            return
