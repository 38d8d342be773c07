"""A gold solution's reference beside a person's answer, step by step."""

from collections.abc import Mapping
from dataclasses import dataclass

from annotation.models import Annotation, GoldAnswer, StepRating
from annotation.work.gold.gold_accuracy import Answer, Outcome, outcome_of
from prm.vocabulary import WORD_OF, Word

ANYBODY = 0  # an outcome does not depend on whose it is


@dataclass(frozen=True)
class StepWords:
    """What the reference (`known`) and the person (`said`) say of a completion, None where they say nothing.

    `error_type` and `comment` are the reference's.
    """

    step: int
    position: int
    text: str
    known: Word | None
    said: Word | None
    error_type: str
    comment: str


@dataclass(frozen=True)
class Explanation:
    """How an answer stands to what is known. First errors are positions, -1 for none, None where the person gave up.

    `accepted` are further first errors that count as right, `explanation` and `comment` say why.
    """

    outcome: Outcome
    said: int | None
    known: int
    accepted: list[int]
    explanation: str
    comment: str
    steps: list[StepWords]


def explain(gold: GoldAnswer, *, said: int | None, words: Mapping[int, Word], tolerance: int) -> Explanation:
    """`said` is the person's first error, `words` what they say of each completion, by its id."""
    reference, known = gold.annotation, _known(gold)
    answer = Answer(ANYBODY, gold.solution_id, said, known, frozenset(gold.accepted))
    return Explanation(
        outcome=outcome_of(answer, tolerance=tolerance),
        said=said,
        known=known,
        accepted=list(gold.accepted),
        explanation=gold.explanation,
        comment=reference.comment,
        steps=_steps(reference, words),
    )


def words_of(annotation: Annotation) -> dict[int, Word]:
    """An annotation's rating of each completion that it reached."""
    return {rating.step_id: word_of(rating.state, rating.rating) for rating in _reached(annotation)}


def word_of(state: str, rating: int | None) -> Word:
    return "unsure" if state == "unsure" else WORD_OF[rating]


def _reached(annotation: Annotation) -> list[StepRating]:
    return [rating for rating in annotation.ratings.all() if rating.state != "not_reached"]


def _known(gold: GoldAnswer) -> int:
    assert gold.annotation.first_error is not None  # what has none never becomes gold
    return gold.annotation.first_error


def _steps(reference: Annotation, words: Mapping[int, Word]) -> list[StepWords]:
    known = {rating.step_id: rating for rating in _reached(reference)}
    explained = []
    for step in reference.solution.steps.all():
        truth = known.get(step.pk)
        if truth is None and step.pk not in words:
            continue
        explained.append(
            StepWords(
                step.pk,
                step.position,
                step.text,
                word_of(truth.state, truth.rating) if truth else None,
                words.get(step.pk),
                truth.error_type if truth else "",
                truth.comment if truth else "",
            )
        )
    return explained
