"""What people are told of their own screening once it is decided, where the project's policy says so."""

from dataclasses import dataclass

from annotation.models import Annotation, Lane, Membership, ScreeningDecision
from annotation.practice.explaining import Explanation, explain, words_of
from annotation.quality.gold_answers import answers_to
from annotation.queue.screening import standing


@dataclass(frozen=True)
class Screened:
    """One answer of the screening, and how it stands to what is known."""

    annotation: Annotation
    explanation: Explanation


def screening_of(membership: Membership) -> list[Screened]:
    """The person's answers in the order they gave them; none before it is decided, nor where nobody is told."""
    policy = membership.project.policies
    undecided = standing(membership) in (None, ScreeningDecision.Outcome.AGAIN) if membership.pk else True
    if undecided or not policy.screening.feedback:
        return []
    rows = answers_to(membership.project, lanes=[Lane.SCREENING], annotator=membership).order_by("submitted_at", "pk")
    return [
        Screened(
            answer,
            explain(
                answer.solution.gold_answer,
                said=answer.first_error,
                words=words_of(answer),
                tolerance=policy.gold.tolerance,
            ),
        )
        for answer in rows.select_related("solution__problem", "solution__gold_answer__annotation__solution")
    ]
