"""Plain JSON Lines (or a JSON array): `{"problem": ..., "steps": [...] | "solution": "...", "answer": ...}`.

A step is a string, `{"text": ..., "kind": ..., "critiques": [...]}`, or an array of these: the candidates at a
position, of which people choose one (a scheme's `choose_path`). `solution` is a text that the import splits into steps.
Optional keys are `id`, `domain`, `source_group`, `generator`, `reference_solution`, `final_answer`,
`final_answer_correct`, `outcome_source` (the source of the last one), `provenance` and `multiplicity` (the number of
equal samples). A line may have only the problem. Other keys are stored with the
solution. The format has no labels.

A file of plain text is read as such lines too (`text_rows`).
"""

from collections.abc import Iterator
from itertools import islice
from typing import Annotated, Any, BinaryIO

import msgspec

from prm.formats import text_rows
from prm.formats.raw import BOM, CHUNK, MAX_RECORD_BYTES, Raw, pieces_of, raw_records
from prm.formats.reading import Numbered, Unreadable, convert_record, original_records, other_fields, parsed_records
from prm.formats.record import MOST_EQUAL, Completion, Provenance, Record
from prm.formats.registry import file_format
from prm.formats.writing import always
from prm.messages import Message
from prm.vocabulary import NeutralPolicy, OutcomeSource, StepKind

Word = str | int | float | None


class PlainStep(msgspec.Struct, omit_defaults=True):
    """A step that is not reasoning, or that has critiques."""

    text: str
    kind: StepKind = "reasoning"
    critiques: list[str] = []


class Line(msgspec.Struct, omit_defaults=True):
    """The fields of the format."""

    problem: str
    steps: list[str | PlainStep | list[str | PlainStep]] | None = None
    solution: str | None = None
    answer: Word = None
    id: Word = None
    domain: str = ""
    source_group: str = ""
    generator: str = ""
    reference_solution: str | None = None
    final_answer: Word = None
    final_answer_correct: bool | None = None
    outcome_source: OutcomeSource | None = None
    provenance: Provenance | None = None
    multiplicity: Annotated[int, msgspec.Meta(ge=1, le=MOST_EQUAL)] = 1


def _parse(value: Any) -> Record:
    line = convert_record(value, Line)
    return record_of(line, other_fields(value, Line))


def read(stream: BinaryIO, *, skip: int = 0) -> Iterator[Numbered]:
    """Stream (line, record or rejection) from after the first `skip` of them, of JSON or of plain text."""
    head = _head(stream)
    raws = _text_records(stream, head, skip) if text_rows.is_text(head) else raw_records(stream, head, skip)
    return parsed_records(raws, _parse)


def originals(stream: BinaryIO) -> Iterator[bytes | None]:
    """As `original_records`; a record of plain text is a JSON string of it."""
    head = _head(stream)
    if not text_rows.is_text(head):
        yield from original_records(stream, head=head)
        return
    for _, text in text_rows.entries(pieces_of(stream, head), longest=MAX_RECORD_BYTES):
        yield None if text is None else msgspec.json.encode(text.decode(errors="replace"))


def _head(stream: BinaryIO) -> bytes:
    """The first bytes, with the first character that is neither white space nor a byte order mark."""
    head = b""
    while len(head.lstrip()) <= len(BOM) and (piece := stream.read(CHUNK)):
        head += piece
    return head


def _text_records(stream: BinaryIO, head: bytes, skip: int) -> Iterator[Raw]:
    entries = text_rows.entries(pieces_of(stream, head), longest=MAX_RECORD_BYTES)
    return (text_rows.raw_row(line, text) for line, text in islice(entries, skip, None))


plain = file_format("plain", label=Message("format_plain"))(_parse)
plain.read = read


def record_of(line: Line, extra: dict[str, Any]) -> Record:
    """The line as a record. Raises Unreadable if it has steps and a solution."""
    if line.steps is not None and line.solution is not None:
        raise Unreadable("steps", Message("both_steps_and_solution"))
    return Record(
        problem=line.problem,
        positions=[
            [Completion(at)]
            if isinstance(at, str)
            else [_completion(step) for step in (at if isinstance(at, list) else [at])]
            for at in line.steps or []
        ],
        solution_text=line.solution,
        source_group=line.source_group,
        domain=line.domain,
        reference_answer=_text(line.answer),
        reference_solution=line.reference_solution,
        external_id=_text(line.id) or "",
        generator=line.generator,
        final_answer=_text(line.final_answer),
        final_answer_correct=line.final_answer_correct,
        outcome_source=line.outcome_source,
        provenance=line.provenance,
        multiplicity=line.multiplicity,
        extra=extra,
    )


@plain.writes(not_held=("labels",), by_structure=always)
def _lines(record: Record, neutral: NeutralPolicy) -> list[dict[str, Any]]:
    """The solution, with several alternatives at a position as an array."""
    written = [[_native_step(completion) for completion in at] for at in record.positions if at]
    line = Line(
        problem=record.problem,
        steps=None
        if record.solution_text is not None or not record.positions
        else [at[0] if len(at) == 1 else at for at in written],
        solution=record.solution_text,
        answer=record.reference_answer,
        id=record.external_id or None,
        domain=record.domain,
        source_group=record.source_group,
        generator=record.generator,
        reference_solution=record.reference_solution,
        final_answer=record.final_answer,
        final_answer_correct=record.final_answer_correct,
        outcome_source=record.outcome_source,
        provenance=record.provenance,
        multiplicity=record.multiplicity,
    )
    return [{**other_fields(record.extra, Line), **msgspec.to_builtins(line)}]


def _text(word: Word) -> str | None:
    return None if word is None else str(word)


def _completion(step: str | PlainStep) -> Completion:
    return Completion(step) if isinstance(step, str) else Completion(step.text, step.kind, critiques=step.critiques)


def _native_step(completion: Completion) -> str | PlainStep:
    bare = completion.kind == "reasoning" and not completion.critiques
    return completion.text if bare else PlainStep(completion.text, completion.kind, completion.critiques)
