"""Label Studio: its JSON export, the tasks of its API, and its labelling config.

A task has `data`, `annotations`, `predictions` and `drafts`. A result in an annotation names its control
(`from_name`), its object (`to_name`) and its `value`. JSON_MIN does not say who gave a label, so it is rejected.
"""

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from xml.etree.ElementTree import Element, ParseError

import msgspec
from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import fromstring

from prm.formats.step_names import Answers, StepNames, pattern_of, propose_controls, propose_fields

VALUES = {"choices": "choices", "rating": "rating", "number": "number", "textarea": "text", "taxonomy": "taxonomy"}
SINGLE = {"paragraphlabels": "paragraphlabels"}  # a region over one utterance, whose label is the rating
_FIELD = re.compile(r"\$([\w.-]+)(?:\[[^\]]*\])?(?:\.(\w+))?")


class Result(msgspec.Struct):
    """The value that an annotator gave with one control."""

    type: str
    from_name: str = ""
    to_name: str = ""
    value: dict[str, Any] = {}


class Person(msgspec.Struct):
    id: int | None = None
    email: str = ""


class Submission(msgspec.Struct):
    """The fields of an annotation, draft or prediction that are read. `completed_by` is an id or a person."""

    id: int | str | None = None
    result: list[Result] = []
    completed_by: int | str | Person | None = None
    created_username: str = ""
    was_cancelled: bool = False
    ground_truth: bool = False
    lead_time: float | None = None
    updated_at: str | None = None
    model_version: str | None = None
    prediction: dict[str, Any] | None = None


class Task(msgspec.Struct):
    """One task with its labels; an export has only the ids of predictions."""

    data: dict[str, Any]
    annotations: list[Submission]
    id: int | str | None = None
    predictions: list[Submission | int] = []
    drafts: list[Submission] = []


@dataclass
class Config:
    """A labelling config: the fields of the steps and the problem, and the controls with their values."""

    names: StepNames
    controls: dict[str, list[str]]
    free: list[str]


def read_config(xml: str) -> Config:
    """The parsed labelling config. Raises ValueError for other XML, and for entities and DTDs."""
    try:
        root = fromstring(xml, forbid_dtd=True)
    except (ParseError, DefusedXmlException) as error:
        raise ValueError(f"the labelling config cannot be read: {error}") from None
    config = Config(StepNames(), {}, [])
    for repeater in root.iter("Repeater"):
        flag = repeater.get("indexFlag", "{{idx}}")
        for element in repeater.iter():
            _read_control(config, element, flag)
        if found := _FIELD.match(repeater.get("on", "")):
            config.names.steps = found[1]
            texts = (_FIELD.match(element.get("value", "")) for element in repeater.iter("Text"))
            config.names.step_text = next((text[2] for text in texts if text and text[2]), "")
    repeated = {id(element) for repeater in root.iter("Repeater") for element in repeater.iter()}
    for element in root.iter():
        if id(element) not in repeated:
            _read_control(config, element, "")
            field = _FIELD.match(element.get("value", "")) if element.tag in ("Text", "HyperText", "Markdown") else None
            if field and not config.names.problem and not field[2]:
                config.names.problem = field[1]
    return config


def _read_control(config: Config, element: Element, flag: str) -> None:
    name = element.get("name", "")
    if not name or not element.get("toName"):
        return
    pattern = name.replace(flag, "{}") if flag and flag in name else (pattern_of(name) or (name, 0))[0]
    if element.tag == "TextArea":
        config.free.append(pattern)
    elif element.tag in ("Choices", "ParagraphLabels", "Labels"):
        words = [
            choice.get("alias") or choice.get("value") or "" for choice in element if choice.tag in ("Choice", "Label")
        ]
        config.controls.setdefault(pattern, []).extend(words)
    elif element.tag in ("Rating", "Number"):
        config.controls.setdefault(pattern, [])


def propose(tasks: Iterable[Task], config: Config | None) -> StepNames:
    """The names in the config if there is one, else in the data and results of the first tasks."""
    tasks = list(tasks)
    fields = propose_fields(tasks[0].data) if tasks else StepNames()
    controls: dict[str, list[Any]] = defaultdict(
        list, {k: list(v) for k, v in config.controls.items()} if config else {}
    )
    free = list(config.free) if config else []
    numbers = set()
    for answers in (answers_of(one) for task in tasks for one in task.annotations):
        for name, values in answers.values.items():
            pattern, number = pattern_of(name) or (name, -1)
            if number >= 0:
                numbers.add(number)
            if config is None:
                free.append(pattern) if name in answers.texts else controls[pattern].extend(values)
    if config:
        for name in ("problem", "steps", "step_text"):
            setattr(fields, name, getattr(config.names, name) or getattr(fields, name))
    propose_controls(fields, controls, free)
    repeated = config is not None and bool(config.names.steps)
    fields.first = 0 if repeated or 0 in numbers or not numbers else 1
    return fields


def answers_of(submission: Submission) -> Answers:
    """The values by control. A region over one utterance counts as a control with the utterance's number."""
    answers = Answers()
    for result in submission.result:
        key = VALUES.get(result.type) or SINGLE.get(result.type)
        value = result.value.get(key) if key else None
        if value is None:
            answers.left.append(f"{result.from_name or 'a region'}: results of type '{result.type}' are not read")
            continue
        name = result.from_name
        if result.type in SINGLE:
            start, end = result.value.get("start"), result.value.get("end")
            if start != end or not str(start).isdigit():
                answers.left.append(f"{name}: a region over several steps")
                continue
            name = f"{name}_{start}"
        if result.type == "textarea":
            answers.texts.add(name)
        answers.values.setdefault(name, []).extend(value if isinstance(value, list) else [value])
    return answers
