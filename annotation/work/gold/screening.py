"""Who may label: a project can screen new members and pause people who make too many errors.

The latest decision on a person applies. A decision is stored when the person claims the next task, before anything is
leased; the caller of `settle` has locked the membership.
"""

from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import OuterRef, QuerySet, Subquery

from annotation.core import audit
from annotation.core.errors import Conflict, DomainError
from annotation.core.membership.access import require_role
from annotation.core.membership.members import check_account
from annotation.core.statements import columns, fetch_one, instance
from annotation.models import Annotation, Lane, Lease, Membership, Project, QueueItem, ScreeningDecision
from annotation.work.gold.designation import ON_HIDDEN_GOLD
from annotation.work.gold.gold_accuracy import Answer
from annotation.work.gold.gold_answers import answers_to, read_answers
from prm.messages import Message

Outcome = ScreeningDecision.Outcome
LATEST = f"""
SELECT {columns(ScreeningDecision)} FROM annotation_screeningdecision WHERE membership_id = %(annotator)s
ORDER BY id DESC LIMIT 1
"""


@dataclass(frozen=True)
class Attempt:
    """A screening so far: how many gold solutions are leased (`open`), `answered` and `skipped`, and how many answers
    are `right`.

    It began `after` the decision before it. `expired_item` is an item whose lease expired; the person gets it again.
    """

    after: ScreeningDecision | None
    open: int
    answered: int
    skipped: int
    right: int
    expired_item: int | None

    @property
    def finished(self) -> int:
        """How many solutions count towards the screening; a skipped one is not leased again."""
        return self.answered + self.skipped


def standing(membership: Membership) -> str | None:
    """The latest decision on a person: "passed", "failed", "paused", or "again" while they are being screened.

    None for members who are not screened. A machine never is.
    """
    return standing_by(latest_decision(membership), membership)


def standing_by(latest: ScreeningDecision | None, membership: Membership) -> str | None:
    """As `standing`, for callers that use the latest decision too: a second read could return a newer one."""
    policy = membership.project.policies.screening
    if latest is not None and (latest.outcome != Outcome.AGAIN or policy.items):
        return latest.outcome
    machine = membership.kind == Membership.Kind.MACHINE
    if machine or not policy.items or membership.role in policy.exempt or _has_worked(membership):
        return None
    return Outcome.AGAIN


def settle(membership: Membership, latest: ScreeningDecision | None) -> str | None:
    """Store the decision that the person's answers since the `latest` lead to, if any, and return their standing."""
    now = standing_by(latest, membership)
    if now == Outcome.AGAIN:
        return _settle_screening(membership, latest)
    if now in (None, Outcome.PASSED):
        return _pause_if_wrong(membership, latest) or now
    return now


def attempt_of(membership: Membership, latest: ScreeningDecision | None) -> Attempt:
    """The screening since the `latest` decision. Gold that is retired or for practice by now does not count."""
    since = latest.decided_at if latest else None
    leases = Lease.objects.filter(annotator=membership, item__lane=Lane.SCREENING, **ON_HIDDEN_GOLD)
    rows = list(leases.filter(**_after("item__created_at", since)).values_list("state", "item__state", "item"))
    again = [item for state, place, item in rows if (state, place) == (Lease.State.EXPIRED, QueueItem.State.READY)]
    answers = _answers(membership, Lane.SCREENING, since)
    return Attempt(
        after=latest,
        open=sum(state == Lease.State.ACTIVE for state, _, _ in rows) + len(again),
        answered=sum(state == Lease.State.SUBMITTED for state, _, _ in rows),
        skipped=sum(state == Lease.State.RELEASED for state, _, _ in rows),
        right=_right(membership, answers),
        expired_item=again[0] if again else None,
    )


def excluded_members(project: Project) -> QuerySet[Membership]:
    """The members whom the policy failed or paused, and on whom nobody has decided since."""
    latest = ScreeningDecision.objects.filter(membership=OuterRef("pk")).order_by("-pk")
    return (
        Membership.objects.filter(project=project, active=True)
        .annotate(outcome=Subquery(latest.values("outcome")[:1]), decided_by=Subquery(latest.values("by")[:1]))
        .filter(outcome__in=[Outcome.FAILED, Outcome.PAUSED], decided_by=None)
    )


@transaction.atomic
def decide(*, by: User, membership: Membership, outcome: str, reason: str = "") -> ScreeningDecision:
    """Let a person label (`passed`), screen them (`again`), or stop them from labelling (`failed`, `paused`).

    Raises Forbidden, DomainError (`person_from_file`, `invalid_outcome`, `machine_only_labels`), Conflict
    (`screening_off`, `already_decided`).
    """
    require_role(by, membership.project, Membership.Role.MANAGER)
    check_account(membership)
    if outcome not in Outcome.values:
        known = ", ".join(Outcome.values)
        raise DomainError(Message("invalid_outcome", outcome=outcome, known=known), {"field": "outcome"})
    membership = (
        Membership.objects.select_for_update(no_key=True, of=("self",)).select_related("project").get(pk=membership.pk)
    )
    if outcome == Outcome.AGAIN and membership.kind == Membership.Kind.MACHINE:
        raise DomainError(Message("machine_only_labels", name=membership.name), {"field": "outcome"})
    if outcome == Outcome.AGAIN and not membership.project.policies.screening.items:
        raise Conflict(Message("screening_off"))
    if outcome == standing(membership) != Outcome.AGAIN:
        raise Conflict(Message("screening_already_decided", outcome=outcome), code="already_decided")
    return _write(membership, outcome, by=by, reason=reason)


def verdict_of(membership: Membership, attempt: Attempt) -> str | None:
    """The attempt's outcome: "passed", "failed", or "again" if the policy allows another; None while it runs."""
    policy = membership.project.policies.screening
    if attempt.finished < policy.items:
        return None
    if attempt.right >= policy.pass_mark:
        return Outcome.PASSED
    return Outcome.AGAIN if _attempts(membership, attempt.after) + 1 < policy.attempts else Outcome.FAILED


def latest_decision(membership: Membership) -> ScreeningDecision | None:
    row = fetch_one(LATEST, {"annotator": membership.pk})
    return None if row is None else instance(ScreeningDecision, row)


def _settle_screening(membership: Membership, latest: ScreeningDecision | None) -> str:
    attempt = attempt_of(membership, latest)
    outcome = verdict_of(membership, attempt)
    if outcome is None:
        return Outcome.AGAIN
    _write(membership, outcome, right=attempt.right, given=attempt.finished)
    return outcome


def _pause_if_wrong(membership: Membership, latest: ScreeningDecision | None) -> str | None:
    """Pause the person if too few of their gold answers since the last decision are right; None if they go on."""
    policy = membership.project.policies
    if not policy.gold.pause_below or membership.role in policy.screening.exempt:
        return None
    since = latest.decided_at if latest else None
    answers = _answers(membership, Lane.GOLD, since, newest=policy.gold.pause_after)
    right = _right(membership, answers)
    if len(answers) < policy.gold.pause_after or right >= policy.gold.pause_below * len(answers):
        return None
    _write(membership, Outcome.PAUSED, right=right, given=len(answers))
    return Outcome.PAUSED


def _write(
    membership: Membership,
    outcome: str,
    *,
    by: User | None = None,
    reason: str = "",
    right: int | None = None,
    given: int | None = None,
) -> ScreeningDecision:
    before = latest_decision(membership)
    decision = ScreeningDecision.objects.create(
        membership=membership, outcome=outcome, by=by, reason=reason, right=right, given=given
    )
    audit.record(
        by=by,
        action="member.screen",
        target=membership,
        before={"outcome": before.outcome if before else None},
        after={"outcome": outcome, "reason": reason, "right": right, "given": given},
    )
    return decision


def _attempts(membership: Membership, latest: ScreeningDecision | None) -> int:
    """How many screenings had failed by the `latest` decision, since somebody last decided on the person."""
    decisions = membership.screening_decisions.filter(pk__lte=latest.pk if latest else 0)
    by_hand = decisions.filter(by__isnull=False).order_by("-pk").values_list("pk", flat=True).first()
    return decisions.filter(pk__gt=by_hand or 0, outcome=Outcome.AGAIN).count()


def _has_worked(membership: Membership) -> bool:
    return Annotation.objects.filter(annotator=membership).exclude(lane=Lane.SCREENING).exists()


def _answers(membership: Membership, lane: str, since: datetime | None, newest: int | None = None) -> list[Answer]:
    rows = answers_to(membership.project, lanes=[lane], annotator=membership)
    return read_answers(rows.filter(**_after("submitted_at", since)), latest=newest)


def _after(field: str, moment: datetime | None) -> dict[str, datetime]:
    return {f"{field}__gt": moment} if moment else {}


def _right(membership: Membership, answers: list[Answer]) -> int:
    tolerance = membership.project.policies.gold.tolerance
    return sum(answer.is_right(tolerance=tolerance) for answer in answers)
