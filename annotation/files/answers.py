"""Final answers: found in a text, and compared with a reference in a process of their own that can be killed."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from prm.answers.process import Grader

SECONDS_EACH = 3.0


@dataclass(frozen=True)
class Answered:
    """What a solution says at its end, and the answer that it is to give.

    `stated` is the answer that came with it, None where it has to be found in `last`, the text of its last step.
    """

    stated: str | None
    last: str
    reference: str


def grade_answers(answers: Sequence[Answered], *, seconds_in_all: float | None = None) -> list[bool | None]:
    """Whether each gives its reference: True, False, None where that cannot be told in the time there is.

    After `seconds_in_all` only plain numbers and equal texts are graded.
    """
    return _grader().judge_many(
        [(one.stated, one.last, one.reference) for one in answers], seconds_in_all=seconds_in_all
    )


def answer_in(text: str) -> str | None:
    """What a text gives as its answer."""
    from prm.answers import final_answer

    return final_answer(text)


@cache
def _grader() -> "Grader":
    """One for the process: its child is started when algebra is first needed, and ends with it."""
    from prm.answers.process import Grader

    return Grader(seconds_each=SECONDS_EACH)
