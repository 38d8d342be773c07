"""Outcomes of solutions that come without one: their answers are compared with the reference."""

from collections.abc import Sequence

from annotation.files.answers import Answered, grade_answers
from prm.formats.record import Record

SECONDS = 60.0  # for the records of one chunk; what is left then stays unknown, until the answers are checked again


def grade_records(records: Sequence[Record], *, seconds: float = SECONDS) -> None:
    """Set the outcome of the records that have a reference answer and no outcome, where it can be told.

    After `seconds` only what needs no algebra is.
    """
    bare = [record for record in records if record.final_answer_correct is None and record.reference_answer]
    answers = [Answered(record.final_answer, _last_step(record), record.reference_answer or "") for record in bare]
    for record, correct in zip(bare, grade_answers(answers, seconds_in_all=seconds), strict=True):
        if correct is not None:
            record.final_answer_correct, record.outcome_source = correct, "grader"


def _last_step(record: Record) -> str:
    return next((at[0].text for at in reversed(record.positions) if at), "")
