"""What people are told of their own screening: how far it is, how it ended, and, by policy, how they answered."""

from dataclasses import dataclass

from annotation.models import Annotation, Lane, Membership, ScreeningDecision
from annotation.work.gold.gold_answers import answers_to
from annotation.work.gold.screening import attempt_of, latest_decision, standing, standing_by, verdict_of
from annotation.work.practice.explanations import Explanation, explain, words_of

Outcome = ScreeningDecision.Outcome


@dataclass(frozen=True)
class Screened:
    """One answer of the screening, and how it stands to what is known."""

    annotation: Annotation
    explanation: Explanation


@dataclass(frozen=True)
class Standing:
    """How a person's screening stands: `given` of its `items`, and the `outcome` of the last one that is over.

    "passed", "failed", "again" (another attempt is theirs), or None for none yet. `right` of `of` answers led to it:
    None where the policy does not tell, and where somebody decided without.
    """

    items: int
    given: int
    outcome: str | None = None
    right: int | None = None
    of: int | None = None


def standing_told(membership: Membership) -> Standing | None:
    """What the person is told while they are screened, and of its end until they have handed in ordinary work.

    None for whom nobody asks. What the last answer decides is told at once, though only the next claim writes it down.
    """
    policy = membership.project.policies.screening
    latest = latest_decision(membership)
    now = standing_by(latest, membership)
    if now == Outcome.AGAIN:
        attempt = attempt_of(membership, latest)
        verdict = verdict_of(membership, attempt)
        if verdict is None:
            return _ended(Standing(policy.items, attempt.given), latest, told=policy.feedback)
        given = 0 if verdict == Outcome.AGAIN else policy.items
        numbers = (attempt.right, attempt.given) if policy.feedback else (None, None)
        return Standing(policy.items, given, verdict, *numbers)
    if latest is None or now not in (Outcome.PASSED, Outcome.FAILED):
        return None
    if now == Outcome.PASSED and _worked_since(latest):
        return None
    return _ended(Standing(policy.items, policy.items), latest, told=policy.feedback)


def _ended(now: Standing, latest: ScreeningDecision | None, *, told: bool) -> Standing:
    """With how the last screening ended."""
    if latest is None:
        return now
    numbers = (latest.right, latest.given) if told else (None, None)
    return Standing(now.items, now.given, latest.outcome, *numbers)


def _worked_since(decision: ScreeningDecision) -> bool:
    labels = Annotation.objects.filter(annotator=decision.membership_id, submitted_at__gt=decision.decided_at)
    return labels.exclude(lane=Lane.SCREENING).exists()


def screening_of(membership: Membership) -> list[Screened]:
    """The person's answers in the order they gave them; none before it is decided, nor where nobody is told."""
    policy = membership.project.policies
    undecided = standing(membership) in (None, Outcome.AGAIN) if membership.pk else True
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
