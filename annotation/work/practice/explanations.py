"""Compares a person's answer with a gold solution's reference, step by step."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from annotation.core.bounds import about
from annotation.models import Annotation, GoldAnswer, StepRating
from annotation.work.gold.gold_accuracy import Answer, Outcome, outcome_of
from prm.vocabulary import WORD_OF, Word

ANYBODY = 0  # an outcome does not depend on the person


@dataclass(frozen=True)
class StepComparison:
    """The rating of a completion by the reference and in the person's answer. Type and comment are the reference's."""

    step: Annotated[int, about("The id of the completion.")]
    position: int
    text: str
    reference: Annotated[Word | None, about("The reference's rating; null for none.")]
    answer: Annotated[Word | None, about("The person's rating; null for none.")]
    error_type: str
    comment: str


@dataclass(frozen=True)
class Explanation:
    """An answer compared with the reference. First errors are positions."""

    outcome: Annotated[Outcome, about("How the answer compares with the reference.")]
    answer: Annotated[int | None, about("The first error of the answer; -1 if none, null if the person gave up.")]
    reference: Annotated[int, about("The first error of the reference; -1 if none.")]
    accepted: Annotated[list[int], about("Other first errors that count as right.")]
    explanation: Annotated[str, about("Why the first error is where it is.")]
    comment: str
    steps: Annotated[list[StepComparison], about("The steps, in order.")]


def explain(gold: GoldAnswer, *, answer: int | None, words: Mapping[int, Word], tolerance: int) -> Explanation:
    """Compare a person's first error, and their rating of each completion by its id (`words`), with the reference."""
    reference = gold.annotation.first_error
    assert reference is not None, "a label without a first error never becomes a reference"
    compared = Answer(ANYBODY, gold.solution_id, answer, reference, frozenset(gold.accepted))
    return Explanation(
        outcome=outcome_of(compared, tolerance=tolerance),
        answer=answer,
        reference=reference,
        accepted=list(gold.accepted),
        explanation=gold.explanation,
        comment=gold.annotation.comment,
        steps=_steps(gold.annotation, words),
    )


def words_of(annotation: Annotation) -> dict[int, Word]:
    """An annotation's rating of each completion that it reached, by the completion's id."""
    return {rating.step_id: word_of(rating.state, rating.rating) for rating in _reached(annotation)}


def word_of(state: str, rating: int | None) -> Word:
    return "unsure" if state == "unsure" else WORD_OF[rating]


def _reached(annotation: Annotation) -> list[StepRating]:
    return [rating for rating in annotation.ratings.all() if rating.state != "not_reached"]


def _steps(reference: Annotation, words: Mapping[int, Word]) -> list[StepComparison]:
    known = {rating.step_id: rating for rating in _reached(reference)}
    explained = []
    for step in reference.solution.steps.all():
        truth = known.get(step.pk)
        if truth is None and step.pk not in words:
            continue
        explained.append(
            StepComparison(
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
