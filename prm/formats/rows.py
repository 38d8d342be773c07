"""Converts a row of a table to a record by a mapping of its columns."""

from collections.abc import Callable
from functools import partial
from typing import Any, Literal, cast, get_args

import msgspec

from prm.formats import cells
from prm.formats.labels import index_label, rated_label
from prm.formats.mapping import Column, Drawn, LabelMapping, MadeBy, Mapping, SourceMapping, StepsMapping
from prm.formats.reading import Unreadable, validation_fault
from prm.formats.record import Completion, Inclusion, Provenance, Record, RecordAnnotation
from prm.messages import Message
from prm.vocabulary import (
    FINISH_REASONS,
    GIVEN_UP,
    LABEL_LANES,
    NO_ERROR,
    OUTCOME_SOURCES,
    SOURCE_KINDS,
    STEP_KINDS,
    FinishReason,
    LabelLane,
    OutcomeSource,
    SourceKind,
    StepKind,
)

Row = dict[str, Any]


def cell_of(row: Row, column: str) -> Any:
    """The value in a column, None if there is none; `a.b` is the key `b` of the object in the column `a`."""
    if column in row or "." not in column:
        return row.get(column)
    first, _, rest = column.partition(".")
    inner = row.get(first)
    return cell_of(inner, rest) if isinstance(inner, dict) else None


def record_of(row: Any, mapping: Mapping) -> Record:
    """The record of a row, only its problem if the mapping names no steps. Raises Unreadable naming the column."""
    if not isinstance(row, dict):
        raise Unreadable("", Message("not_an_object_with_values"))
    steps, solution_text, kinds = list[str](), None, list[StepKind]()
    if mapping.steps:
        steps, solution_text = _steps(row, mapping.steps, _rating_counts(row, mapping.labels))
        kinds = _kinds(row, mapping.steps, len(steps))
    mapped_labels = mapping.labels if mapping.steps else []
    labels = [_drawn(row, mapped, _label(row, mapped, kinds)) for mapped in mapped_labels]

    def text(column: str) -> str:
        return cells.text(cell_of(row, column), column) if column else ""

    return Record(
        problem=text(mapping.problem),
        positions=[[Completion(step, kind=kind)] for step, kind in zip(steps, kinds, strict=True)],
        solution_text=solution_text,
        source_group=text(mapping.source_group),
        domain=text(mapping.domain),
        reference_answer=text(mapping.reference_answer) or None,
        reference_solution=text(mapping.reference_solution) or None,
        external_id=text(mapping.external_id),
        generator=text(mapping.generator),
        final_answer=text(mapping.final_answer) or None,
        final_answer_correct=(
            cells.yes_or_no(cell_of(row, mapping.final_answer_correct), mapping.final_answer_correct)
            if mapping.final_answer_correct
            else None
        ),
        outcome_source=_outcome_source(text(mapping.outcome_source), mapping.outcome_source),
        provenance=_provenance(row, mapping.provenance),
        extra=_extra(row, mapping),
        annotations=[label for label in labels if label],
    )


def columns_of(mapping: Mapping) -> list[str]:
    """The columns that a mapping names."""
    named = [getattr(mapping, field) for field in WORDS]
    named += mapping.provenance.values()
    if mapping.steps:
        named += [*mapping.steps.columns, mapping.steps.kinds]
    for label in mapping.labels:
        source = label.source
        fields = (source.kind, source.name, source.policy, source.rollouts)
        named += [*label.columns, *label.drawn.values(), *(one.column for one in fields if isinstance(one, Column))]
    return [column for column in named if column]


WORDS = (
    "problem", "final_answer", "final_answer_correct", "reference_answer", "reference_solution", "domain",
    "source_group", "generator", "external_id", "outcome_source", "extra",
)  # fmt: skip


def _rating_counts(row: Row, labels: list[LabelMapping]) -> set[int]:
    """The lengths of the lists of ratings in a row."""
    listed = [label.columns[0] for label in labels if label.form == "ratings" and len(label.columns) == 1]
    return {len(cells.items(cell_of(row, column), column)) for column in listed}


def _steps(row: Row, steps: StepsMapping, rated: set[int]) -> tuple[list[str], str | None]:
    """The steps, or the text that the import splits. `rated` are the numbers of steps that lists of ratings have."""
    column = steps.columns[0]
    if steps.form == "columns":
        return _numbered(row, steps.columns), None
    if steps.form == "list":
        return [_step(step, f"{column}[{k}]") for k, step in enumerate(cells.items(cell_of(row, column), column))], None
    solution = cells.text(cell_of(row, column), column)
    if steps.form == "text":
        return [], solution
    return _separated(solution, steps.separator, rated), None


def _separated(solution: str, separator: str, rated: set[int]) -> list[str]:
    """The steps between separators.

    An empty step counts as a position, except at the end and between separators of white space; there it counts if a
    list of ratings counts it.
    """
    pieces = [piece.strip() for piece in solution.split(separator)]
    if len(pieces) in rated:
        return pieces
    if separator.isspace():
        return [piece for piece in pieces if piece]
    while pieces and not pieces[-1]:
        pieces.pop()
    return pieces


def _step(value: Any, place: str) -> str:
    """The text of a step in a list: an item, or its key `text`."""
    if isinstance(value, dict) and "text" not in value:
        raise Unreadable(place, Message("required_field_missing", name="text"))
    return cells.text(value["text"] if isinstance(value, dict) else value, place)


def _numbered(row: Row, columns: list[str]) -> list[str]:
    steps = [cells.text(cell_of(row, column), column) for column in columns]
    while steps and not steps[-1].strip():
        steps.pop()
    return steps


def _kinds(row: Row, steps: StepsMapping, count: int) -> list[StepKind]:
    kinds = cells.items(cell_of(row, steps.kinds), steps.kinds) if steps.kinds else []
    if kinds and len(kinds) != count:
        got = Message("n_kinds", n=len(kinds))
        raise Unreadable(steps.kinds, Message("kind_count_differs", given=got, steps=Message("n_steps", n=count)))
    for kind in kinds:
        if kind not in STEP_KINDS:
            raise Unreadable(steps.kinds, Message("kind_not_known", kind=kind, known=", ".join(STEP_KINDS)))
    return cast(list[StepKind], kinds) or ["reasoning"] * count


def _label(row: Row, label: LabelMapping, kinds: list[StepKind]) -> RecordAnnotation | None:
    """The row's label, None if the cells are empty."""
    if label.form == "first_error":
        return _index_label(row, label, len(kinds))
    column = label.columns[0]
    values = (
        [cell_of(row, name) for name in label.columns]
        if len(label.columns) > 1
        else cells.items(cell_of(row, column), column)
    )
    ratings = [cells.rating(value, label.scale, label.threshold, column) for value in values]
    if len(label.columns) > 1:
        ratings = ratings[: len(kinds)] + [r for r in ratings[len(kinds) :] if r is not None]
    if all(rating is None for rating in ratings):
        if cells.is_empty(cell_of(row, label.drawn.get("finish_reason", ""))):
            return None
        ratings = []  # the label says how labelling ended, and rates no step
    elif len(ratings) != len(kinds) and not (len(ratings) < len(kinds) and ratings[-1] == -1):
        labels = Message("n_labels", n=len(ratings))
        raise Unreadable(column, Message("label_count_differs", given=labels, steps=Message("n_steps", n=len(kinds))))
    kind_of_source, name, detail = source_of(row, label.source)
    annotation = rated_label(ratings, kind=kind_of_source, name=name, kinds=kinds[: len(ratings)])
    annotation.source_detail = detail
    if label.scale == "share":
        annotation.native = {"shares": [cells.number(value, column) for value in values]}
    if -1 in ratings and ratings.index(-1) == len(ratings) - 1:
        annotation.path[-1].chosen = None  # the label ends with the first error
    return annotation


def _lane(word: str, column: str) -> LabelLane | Literal[""]:
    if word and word not in LABEL_LANES:
        raise Unreadable(column, Message("word_not_known", word=word[:40], known=", ".join(LABEL_LANES)))
    return word


def _drawn(row: Row, mapping: LabelMapping, label: RecordAnnotation | None) -> RecordAnnotation | None:
    """The label with the cells of `mapping.drawn`."""
    if label is None or not mapping.drawn:
        return label
    column: dict[str, str] = {field: mapping.drawn.get(field, "") for field in get_args(Drawn)}
    value = {field: cell_of(row, name) for field, name in column.items()}
    label.annotator = cells.text(value["annotator"], column["annotator"]) or None
    revision = cells.whole_number(value["revision"], column["revision"])
    label.revision = revision if revision and revision > 0 else None
    label.lane = _lane("" if value["lane"] is None else cells.text(value["lane"], column["lane"]), column["lane"])
    label.generation = cells.whole_number(value["generation"], column["generation"])
    label.guidelines = cells.whole_number(value["guidelines"], column["guidelines"])
    _end(label, value["finish_reason"], column["finish_reason"])
    chance = cells.number(value["inclusion_probability"], column["inclusion_probability"])
    if chance is not None:
        if not 0 < chance <= 1:
            raise Unreadable(column["inclusion_probability"], Message("not_a_probability", value=chance))
        label.inclusion = Inclusion.of(chance)
    return label


def _end(label: RecordAnnotation, cell: Any, column: str) -> None:
    """Set how labelling ended, if the ratings do not show it."""
    word = "" if cells.is_empty(cell) else cells.text(cell, column)
    if word and word not in FINISH_REASONS:
        raise Unreadable(column, Message("word_not_known", word=word[:40], known=", ".join(FINISH_REASONS)))
    if not label.path:
        label.finish_reason, label.first_error = cast(FinishReason, word), None
    elif word in GIVEN_UP or (word == "found_error" and label.finish_reason == "give_up"):
        label.finish_reason = cast(FinishReason, word)
        label.first_error = None if label.first_error == NO_ERROR else label.first_error


def _index_label(row: Row, label: LabelMapping, count: int) -> RecordAnnotation | None:
    column = label.columns[0]
    cell = cell_of(row, column)
    word = "" if cells.is_empty(cell) else cells.text(cell, column).strip()
    if word.casefold() in (none.strip().casefold() for none in label.none):
        error = NO_ERROR
    elif not word:
        return None
    else:
        index = cells.whole_number(cell, column)
        if not count:
            raise Unreadable(column, Message("label_without_steps"))
        error = -1 if index is None else index - label.base
        if not 0 <= error < count:
            first, last = label.base, count - 1 + label.base
            raise Unreadable(column, Message("word_not_step", word=word, first=first, last=last))
    kind, name, detail = source_of(row, label.source)
    annotation = index_label(error, count, field=column, kind=kind, name=name)
    annotation.source_detail = detail
    return annotation


def source_of(row: Row, source: SourceMapping) -> tuple[SourceKind, str, dict[str, Any]]:
    """Kind, name and detail of a source. An unnamed one is named by policy and rollouts, so that these do not mix."""
    kind = _kind(row, source.kind)
    policy, rollouts = _text_of(row, source.policy), source.rollouts
    if isinstance(rollouts, Column):
        rollouts = cells.whole_number(cell_of(row, rollouts.column), rollouts.column)
    detail = {key: value for key, value in (("policy", policy), ("rollouts", rollouts)) if value not in ("", None)}
    name = _text_of(row, source.name)
    if not name and detail:
        name = ", ".join(part for part in (policy, f"{rollouts} rollouts" if rollouts else "") if part)
    return kind, name, detail


def _kind(row: Row, kind: SourceKind | Column) -> SourceKind:
    if not isinstance(kind, Column):
        return kind
    word = cells.text(cell_of(row, kind.column), kind.column).strip().casefold().replace(" ", "_").replace("-", "_")
    if word not in SOURCE_KINDS:
        raise Unreadable(kind.column, Message("word_not_known", word=word, known=", ".join(SOURCE_KINDS)))
    return word


def _text_of(row: Row, text: str | Column) -> str:
    return cells.text(cell_of(row, text.column), text.column) if isinstance(text, Column) else text


_MADE_BY: dict[str, Callable[[Any, str], Any]] = {
    "temperature": cells.number,
    "seed": partial(cells.whole_number, digits=100),
    "settings": cells.object_in,
}


def _provenance(row: Row, columns: dict[MadeBy, str]) -> Provenance | None:
    """The provenance in a row, None if the cells are empty."""
    values = {field: _MADE_BY.get(field, cells.text)(cell_of(row, name), name) for field, name in columns.items()}
    known = {field: value for field, value in values.items() if value not in (None, "", {})}
    try:
        return msgspec.convert(known, Provenance) if known else None
    except msgspec.ValidationError as error:
        field, reason = validation_fault(error, Provenance)
        raise Unreadable(columns[cast(MadeBy, field)], reason) from None


def _outcome_source(word: str, column: str) -> OutcomeSource | None:
    if word and word not in OUTCOME_SOURCES:
        raise Unreadable(column, Message("word_not_known", word=word[:40], known=", ".join(OUTCOME_SOURCES)))
    return cast(OutcomeSource, word) or None


def _extra(row: Row, mapping: Mapping) -> Row:
    named = {*columns_of(mapping), *mapping.left_out}
    rest = {column: value for column, value in row.items() if column not in named and not cells.is_empty(value)}
    return rest | cells.object_in(cell_of(row, mapping.extra), mapping.extra) if mapping.extra else rest
