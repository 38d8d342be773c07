"""Extracts final answers from text and grades them against references, in a subprocess that can be killed."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from prm.formats.record import Record
from prm.vocabulary import OutcomeSource

if TYPE_CHECKING:
    from prm.answers.process import Grader

GRADER: OutcomeSource = "grader"  # of its outcomes
SECONDS_EACH = 3.0
SECONDS_A_CHUNK = 60.0  # for the records of one chunk; the rest stay ungraded until the answers are checked again


@dataclass(frozen=True)
class Answered:
    """A solution's final answer and its reference.

    `stated` is the answer that came with the solution, or None to extract it from `last`, the text of the last step.
    """

    stated: str | None
    last: str
    reference: str


def grade_answers(answers: Sequence[Answered], *, seconds_in_all: float | None = None) -> list[bool | None]:
    """Whether each answer equals its reference: True, False, or None if the grader could not decide in time.

    After `seconds_in_all` only plain numbers and equal texts are graded.
    """
    return _grader().judge_many(
        [(answer.stated, answer.last, answer.reference) for answer in answers], seconds_in_all=seconds_in_all
    )


def grade_records(records: Sequence[Record], *, seconds: float = SECONDS_A_CHUNK) -> None:
    """Set the outcome of each record that has a reference answer but no outcome, if it can be graded.

    After `seconds` only plain numbers and equal texts are graded.
    """
    bare = [record for record in records if record.final_answer_correct is None and record.reference_answer]
    answers = [Answered(record.final_answer, _last_step(record), record.reference_answer or "") for record in bare]
    for record, correct in zip(bare, grade_answers(answers, seconds_in_all=seconds), strict=True):
        if correct is not None:
            record.final_answer_correct, record.outcome_source = correct, GRADER


def answer_in(text: str) -> str | None:
    """The final answer that a text states; None if it states none."""
    from prm.answers import final_answer

    return final_answer(text)


@cache
def _grader() -> "Grader":
    """The grader of this process. Its child process starts when algebra is first needed, and ends with this one."""
    from prm.answers.process import Grader

    return Grader(seconds_each=SECONDS_EACH)


def _last_step(record: Record) -> str:
    return next((at[0].text for at in reversed(record.positions) if at), "")
