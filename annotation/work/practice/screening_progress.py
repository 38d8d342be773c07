"""A person's view of their own screening: progress, outcome and, if the policy allows, their answers."""

from dataclasses import dataclass
from typing import Annotated

from annotation.core.bounds import about
from annotation.models import Annotation, Lane, Membership, ScreeningDecision
from annotation.work.gold.gold_answers import answers_to
from annotation.work.gold.screening import attempt_of, latest_decision, standing, standing_by, verdict_of
from annotation.work.practice.explanations import Explanation, explain, words_of

Outcome = ScreeningDecision.Outcome


@dataclass(frozen=True)
class Screened:
    """One answer of the screening, compared with the reference."""

    annotation: Annotation
    explanation: Explanation


@dataclass(frozen=True)
class Standing:
    """A person's screening. The outcome is that of the latest one that has ended.

    It is "passed", "failed", or "again" (another attempt is allowed). The policy can hide its numbers.
    """

    items: Annotated[int, about("Number of items of the screening.")]
    finished: Annotated[int, about("Number of items that are finished.")]
    outcome: Annotated[str | None, about("The result; null if there is none yet.")] = None
    right: Annotated[int | None, about("Right answers that led to the outcome; null if it is not shown.")] = None
    of: Annotated[int | None, about("Number of gold answers that led to the outcome; null if it is not shown.")] = None


def describe_standing(membership: Membership) -> Standing | None:
    """The standing shown during the screening and, once it has ended, until the person has submitted ordinary work.

    None for people who are not screened. The outcome shows at once, although only the next claim stores it.
    """
    policy = membership.project.policies.screening
    latest = latest_decision(membership)
    now = standing_by(latest, membership)
    if now == Outcome.AGAIN:
        attempt = attempt_of(membership, latest)
        verdict = verdict_of(membership, attempt)
        if verdict is None:
            return _describe_ended(Standing(policy.items, attempt.finished), latest, with_numbers=policy.feedback)
        answered = 0 if verdict == Outcome.AGAIN else policy.items
        numbers = (attempt.right, attempt.finished) if policy.feedback else (None, None)
        return Standing(policy.items, answered, verdict, *numbers)
    if latest is None or now not in (Outcome.PASSED, Outcome.FAILED):
        return None
    if now == Outcome.PASSED and _worked_since(latest):
        return None
    return _describe_ended(Standing(policy.items, policy.items), latest, with_numbers=policy.feedback)


def _describe_ended(now: Standing, latest: ScreeningDecision | None, *, with_numbers: bool) -> Standing:
    """The standing with the outcome of the latest screening."""
    if latest is None:
        return now
    numbers = (latest.right, latest.given) if with_numbers else (None, None)
    return Standing(now.items, now.finished, latest.outcome, *numbers)


def _worked_since(decision: ScreeningDecision) -> bool:
    labels = Annotation.objects.filter(annotator=decision.membership_id, submitted_at__gt=decision.decided_at)
    return labels.exclude(lane=Lane.SCREENING).exists()


def screening_of(membership: Membership) -> list[Screened]:
    """The person's answers in screening, oldest first; empty before a decision, or if the policy hides them."""
    policy = membership.project.policies
    undecided = standing(membership) in (None, Outcome.AGAIN) if membership.pk else True
    if undecided or not policy.screening.feedback:
        return []
    rows = answers_to(membership.project, lanes=[Lane.SCREENING], annotator=membership).order_by("submitted_at", "pk")
    reference = "solution__gold_answer__annotation"
    rows = rows.select_related("solution__problem", f"{reference}__solution")
    rows = rows.prefetch_related("ratings", f"{reference}__ratings", f"{reference}__solution__steps")
    return [
        Screened(
            answer,
            explain(
                answer.solution.gold_answer,
                answer=answer.first_error,
                words=words_of(answer),
                tolerance=policy.gold.tolerance,
            ),
        )
        for answer in rows
    ]
