"""Answers to practice solutions. A person can repeat them, and each is explained at once."""

from dataclasses import dataclass
from typing import Annotated

import msgspec
from django.contrib.auth.models import User
from django.db import transaction

from annotation.core import audit
from annotation.core.bounds import about
from annotation.core.errors import Forbidden
from annotation.core.membership.access import membership_of
from annotation.core.reading import find_row
from annotation.models import GoldAnswer, Membership, PracticeAnswer, Project
from annotation.work.gold.designation import practice_gold
from annotation.work.labelling.payload import Submission
from annotation.work.labelling.submission import submission_conflict
from annotation.work.labelling.validation import validate
from annotation.work.practice.explanations import Explanation, explain, word_of
from prm.messages import Message


@dataclass(frozen=True)
class Place:
    """A solution of the practice set: how often the person has answered it, and the outcome of the latest answer."""

    solution: int
    answered: Annotated[int, about("How often the person has answered it.")]
    outcome: Annotated[str | None, about("The outcome of the latest answer; null for none.")]


@dataclass(frozen=True)
class Practised:
    """The stored answer and its explanation; `created` is False if an earlier try of this submission created it."""

    answer: PracticeAnswer
    explanation: Explanation
    created: bool


def practice_set(membership: Membership) -> list[Place]:
    """The project's practice set in order, with the person's progress."""
    answered: dict[int, list[str]] = {}
    rows = PracticeAnswer.objects.filter(membership=membership.pk).order_by("pk").values_list("gold", "outcome")
    for gold, outcome in rows:
        answered.setdefault(gold, []).append(outcome)
    return [
        Place(solution, len(answered.get(pk, [])), answered[pk][-1] if pk in answered else None)
        for pk, solution in practice_gold(membership.project).values_list("pk", "solution")
    ]


def find_practice(project: Project, solution_id: int) -> GoldAnswer:
    """The practice gold of a solution, with solution, problem and reference. Raises Missing (`practice_not_found`)."""
    rows = practice_gold(project).select_related("solution__problem", "annotation__solution")
    otherwise = Message("practice_not_found", solution_id=solution_id, name=project.name)
    return find_row(rows.filter(solution=solution_id), otherwise)


@transaction.atomic
def answer_practice(*, by: User, project: Project, submission: Submission) -> Practised:
    """Store a practice answer, which is not an annotation, and explain it.

    A retry returns the same result. Raises Forbidden (`not_annotator`), Missing
    (`practice_not_found`), Conflict (`submission_conflict`), DomainError (`invalid_submission`).
    """
    membership = membership_of(by, project)
    if membership is None:
        raise Forbidden(Message("practice_needs_membership"), code="not_annotator")
    # The lock of `mark_gold`, so that a solution which somebody has practised on never becomes hidden gold.
    GoldAnswer.objects.select_for_update(no_key=True).filter(solution=submission.solution).first()
    gold = find_practice(project, submission.solution)
    # Practice trains no model, so any scheme that the project ever had will do.
    first_error = validate(submission, project, since=lambda: project.created_at)
    explanation = explain(
        gold,
        answer=first_error,
        words={
            rating.step: word_of(rating.state, rating.rating)
            for place in submission.path
            for rating in place.ratings
            if rating.state != "not_reached"
        },
        tolerance=project.policies.gold.tolerance,
    )
    answer, created = PracticeAnswer.objects.get_or_create(
        submission_id=submission.submission_id,
        defaults={
            "gold": gold,
            "membership": membership,
            "payload_hash": submission.payload_hash,
            "given": msgspec.to_builtins(submission),
            "finish_reason": submission.finish_reason,
            "first_error": first_error,
            "outcome": explanation.outcome,
        },
    )
    if answer.membership_id != membership.pk or answer.payload_hash != submission.payload_hash:
        raise submission_conflict()
    if created:
        audit.record(
            by=by,
            action="practice.answer",
            target=answer,
            project=project,
            after={"solution": gold.solution_id, "first_error": first_error, "outcome": explanation.outcome},
        )
    return Practised(answer, explanation, created)
