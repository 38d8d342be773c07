"""Proposes a mapping for a table from the names of its columns and the values in its first rows.

A person corrects the proposal. The source of a label is guessed from its column's name. Otherwise it is a heuristic,
the kind of label that neither trains nor decides by itself.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from prm.formats import cells
from prm.formats.mapping import Column, LabelMapping, MadeBy, Mapping, Scale, SourceMapping, StepsMapping
from prm.formats.rows import Row, cell_of
from prm.vocabulary import SourceKind

# The last part of a column's name, in lower case with single underscores; the first match wins.
_NAMES: dict[str, tuple[str, ...]] = {
    "problem": ("problem", "question", "prompt", "input", "query", "instruction", "problem_text", "problem_statement",
                "modified_question", "task"),
    "reference_answer": ("reference_answer", "ground_truth_answer", "ground_truth", "gold_answer", "expected_answer",
                         "correct_answer", "target", "gold", "gt", "answer"),
    "reference_solution": ("reference_solution", "ground_truth_solution", "gold_solution"),
    "final_answer": ("final_answer", "predicted_answer", "model_answer", "extracted_answer", "prediction", "pred"),
    "final_answer_correct": ("final_answer_correct", "is_correct", "answer_correct", "correct", "correctness",
                             "outcome", "passed", "resolved"),
    "domain": ("domain", "subject", "subset", "category", "topic", "dataset"),
    "source_group": ("source_group", "problem_id", "question_id", "question_uuid", "group", "template"),
    "generator": ("generator", "model", "model_name", "sampled_model"),
    "external_id": ("external_id", "solution_id", "id", "uuid", "idx"),
    "extra": ("extra",),
}  # fmt: skip
_MADE_BY: dict[MadeBy, tuple[str, ...]] = {
    "policy": ("policy", "policy_model"),
    "temperature": ("temperature", "temp"),
    "seed": ("seed",),
    "scaffold": ("scaffold",),
    "visibility": ("visibility",),
    "run": ("run", "run_id"),
}
_STEPS = ("steps", "completions", "solution_steps", "reasoning_steps", "model_solution_steps", "modified_process",
          "process", "step_texts")  # fmt: skip
_TEXTS = ("solution", "response", "model_response", "model_output", "output", "completion", "generation", "rationale",
          "reasoning", "chain_of_thought", "cot", "model_solution", "trace")  # fmt: skip
_NUMBERED = re.compile(r"(.*?)[ _-]?(\d{1,4})")
_LABEL = re.compile(r"label|rating|first_error|mistake|(error|wrong)_(step|index|position)|step_values|annotation")
_INDEX = re.compile(r"first_error|(error|wrong|mistake)_(step|index|position)")
_PERHAPS_INDEX = re.compile(r"label|mistake")  # ProcessBench's `label`; a `final_label` rates the outcome
_NO_ERROR = ("-1", "n/a", "none", "null", "nan")
_ANNOTATOR = ("annotator", "annotator_id", "annotator_name", "labeler", "labeller", "labeler_id", "rater", "rater_id",
              "worker", "worker_id", "coder", "labelled_by", "labeled_by", "annotated_by")  # fmt: skip
_SOURCES: list[tuple[str, SourceKind]] = [
    (r"mc|monte|carlo|rollouts?|shepherd", "monte_carlo"),
    (r"judge|llm|gpt\w*|critic|verifier", "model_judge"),
    (r"consensus|majority|agreed", "consensus"),
    (r"human|annotator|expert|person|people", "human"),
]
_SEPARATORS = ("\n\n", "ки", "<extra_0>", "<step>", "\n", "||", "|", ";")


def propose(columns: Sequence[str], rows: Sequence[Row]) -> Mapping:
    """A mapping of the columns; parts without a likely column are empty."""
    table = _Table(columns, rows)
    steps = _steps(table)
    provenance = {field: column for field, names in _MADE_BY.items() if (column := table.take(names, _is_word))}
    words: dict[str, Any] = {field: table.take(names, _is_word) for field, names in _NAMES.items()}
    annotator = table.take(_ANNOTATOR, _is_word)
    labels = _labels(table, steps) if steps else []
    for label in labels if annotator else []:  # with a column of annotators, labels of unknown kind are people's
        if label.source.kind == "heuristic":
            label.source = SourceMapping(kind="human", name=Column(annotator))
        elif label.source.kind == "human":
            label.source.name = Column(annotator)
    return Mapping(
        steps=steps,
        labels=labels,
        provenance=provenance,
        **words,
    )


class _Table:
    """The columns that no part uses yet, with their plain names."""

    def __init__(self, columns: Sequence[str], rows: Sequence[Row]) -> None:
        self.rows = rows
        self.left = {column: _plain(column) for column in columns}

    def values(self, column: str) -> list[Any]:
        """The values of the column's filled cells."""
        return [value for row in self.rows if not cells.is_empty(value := cell_of(row, column))]

    def take(self, names: Iterable[str], fits: Callable[[list[Any]], bool]) -> str:
        """Use the first column with one of the names and fitting values; "" if there is none."""
        for name in names:
            for column, plain in self.left.items():
                if plain == name and fits(self.values(column)):
                    del self.left[column]
                    return column
        return ""

    def take_numbered(self, is_stem: Callable[[str], bool]) -> list[str]:
        """Use columns such as `step_1` and `step_2`, in order."""
        stems: dict[str, list[tuple[int, str]]] = {}
        for column, plain in self.left.items():
            if (match := _NUMBERED.fullmatch(plain)) and is_stem(match[1]):
                stems.setdefault(match[1], []).append((int(match[2]), column))
        longest: list[tuple[int, str]] = max(stems.values(), key=lambda columns: len(columns), default=[])
        columns = [column for _, column in sorted(longest)]
        for column in columns:
            del self.left[column]
        return columns


def _plain(column: str) -> str:
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", column.rpartition(".")[2].strip())
    return re.sub(r"[^a-z0-9]+", "_", spaced.casefold()).strip("_")


def _is_word(values: list[Any]) -> bool:
    return not any(isinstance(value, list) for value in values)


def _are_lists(values: list[Any]) -> bool:
    return bool(values) and all(map(cells.is_list, values))


def _are_texts(values: list[Any]) -> bool:
    return bool(values) and all(isinstance(value, str) for value in values)


def _are_worked(values: list[Any]) -> bool:
    """Whether most of the values are texts of several lines."""
    return _are_texts(values) and 2 * sum("\n" in value.strip() for value in values) > len(values)


def _steps(table: _Table) -> StepsMapping | None:
    if column := table.take(_STEPS, _are_lists):
        return StepsMapping([column])
    if columns := table.take_numbered(lambda stem: stem in ("step", "s", "steps", "reasoning_step", "solution_step")):
        return StepsMapping(columns, form="columns")
    if column := table.take(_STEPS, _are_texts):
        texts = table.values(column)
        separator = max(_SEPARATORS, key=lambda mark: sum(mark in text for text in texts))  # in most texts
        return StepsMapping([column], form="separated", separator=separator)
    if column := table.take(_TEXTS, _are_texts):
        return StepsMapping([column], form="text")
    if column := table.take(_TEXTS, _are_lists):
        return StepsMapping([column])
    if column := table.take(("answer",), _are_worked):  # GSM8K: the answer is the solution
        return StepsMapping([column], form="text")
    return None


def _labels(table: _Table, steps: StepsMapping) -> list[LabelMapping]:
    """One label per source: the ratings of steps if there are any, else the first error."""
    labels: dict[tuple[str, str], LabelMapping] = {}
    if columns := table.take_numbered(lambda stem: bool(_LABEL.search(stem))):
        label = LabelMapping(columns, form="ratings", scale=_scale(v for c in columns for v in table.values(c)))
        _add_label(labels, label, _source(_plain(columns[0])))
    candidates = [(column, name) for column, name in table.left.items() if _LABEL.search(name)]
    for column, name in candidates:
        if _are_lists(values := table.values(column)):
            label = LabelMapping(
                [column], form="ratings", scale=_scale(v for row in values for v in cells.items(row, ""))
            )
            _add_label(labels, label, _source(name))
    for column, name in candidates:
        if index := _index(table, column, steps):
            _add_label(labels, index, _source(name))
    return list(labels.values())


def _add_label(labels: dict[tuple[str, str], LabelMapping], label: LabelMapping, source: SourceMapping) -> None:
    label.source = source
    labels.setdefault((str(source.kind), str(source.name)), label)


def _scale(values: Iterable[Any]) -> Scale:
    words = {cells.text(value, "").strip().casefold() for value in values if not isinstance(value, list | dict)}
    if "-1" in words or words & {"neutral", "okay"}:
        return "sign"
    if any(re.fullmatch(r"0?\.\d+", word) for word in words):
        return "share"
    return "binary" if words & {"0", "false"} else "sign"


def _index(table: _Table, column: str, steps: StepsMapping) -> LabelMapping | None:
    """The label in a column of indices; None if a value is neither an index nor a word for no error.

    A column with the name of one may have other values, which the import rejects. It may also lack an index, in a file
    that begins with right solutions.
    """
    named = bool(_INDEX.search(table.left[column]))
    if not named and not _PERHAPS_INDEX.fullmatch(table.left[column]):
        return None
    indices = [_index_of(cell_of(row, column)) for row in table.rows]
    if not any(isinstance(value, int) and (value >= 0 or named) for value in indices):
        return None
    if not named and any(isinstance(value, str) and value and value not in _NO_ERROR for value in indices):
        return None
    none = sorted({str(value) for value in indices if value == -1 or value in _NO_ERROR})
    counts = [_count(row, steps) for row in table.rows]
    from_one = any(value == count > 0 for value, count in zip(indices, counts, strict=True))
    if from_one and 0 in indices:
        none.append("0")
    if not none and "" in indices:
        none = [""]
    return LabelMapping([column], base=1 if from_one else 0, none=none or ["-1", "N/A"])


def _index_of(cell: Any) -> int | str:
    """A whole number, or the word in its place."""
    if isinstance(cell, list | dict | bool):
        return "no index"
    word = cells.text(cell, "").strip().casefold()
    return int(float(word)) if re.fullmatch(r"-?\d{1,6}(\.0)?", word) else word


def _count(row: Row, steps: StepsMapping) -> int:
    """The number of steps in a row; 0 if only the import can tell."""
    first = cell_of(row, steps.columns[0])
    if steps.form == "columns":
        return sum(not cells.is_empty(cell_of(row, column)) for column in steps.columns)
    if steps.form == "list" and cells.is_list(first):
        return len(cells.items(first, ""))
    if steps.form == "separated" and isinstance(first, str):
        return sum(bool(step.strip()) for step in first.split(steps.separator))
    return 0


def _source(name: str) -> SourceMapping:
    for words, kind in _SOURCES:
        if match := re.search(rf"(?:^|_)({words})(?=_|$)", name):
            return SourceMapping(kind=kind, name="" if kind == "monte_carlo" else match[1])
    return SourceMapping(kind="heuristic", name=name)
