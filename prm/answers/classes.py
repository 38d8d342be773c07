"""Answers of equal value as one, for a vote: `1/2`, `0.5` and `\\\\frac{1}{2}` are given three times, not once each."""

from collections.abc import Sequence

from prm.answers.grading import normalised
from prm.answers.process import Grader

MOST_COMPARED = 40  # kinds of answer in one vote; what comes behind is equal by its text only


def equivalence_classes(answers: Sequence[str | None], grader: Grader | None = None) -> list[int | None]:
    """For each answer the place of the first one equal to it; None for None, which equals nothing.

    Equal are numbers of equal value and equal texts, and by a `grader` what algebra shows to be equal.
    """
    first: dict[object, int] = {}
    classes: list[int | None] = []
    for place, answer in enumerate(answers):
        if answer is None:
            classes.append(None)
            continue
        key = normalised(answer)
        if key not in first:
            known = list(dict.fromkeys(first.values()))[:MOST_COMPARED] if grader else []
            first[key] = next((one for one in known if _same(answer, answers[one], grader)), place)
        classes.append(first[key])
    return classes


def _same(answer: str, other: str | None, grader: Grader | None) -> bool:
    return grader is not None and other is not None and grader.grade(answer, other) is True
