"""Claims the next task of an annotator: a lease that they already hold, else the next item with a free place."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Lock
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.core import audit
from annotation.core.statements import FLUSH, WITHOUT_FLUSH, columns, fetch_all, fetch_one, flush, instance, instances
from annotation.models import Draft, Hint, Lease, Membership, Problem, Project, ScreeningDecision, Solution
from annotation.work.gold.due import lease_due
from annotation.work.gold.hidden_gold import ANY_GOLD
from annotation.work.gold.screening import LATEST
from annotation.work.queue import hint_draw as hints
from annotation.work.queue.claims import Claim, StepRow, holding_enough
from annotation.work.queue.item_choice import LANE, MAY_COME_FIRST, TALLIES, Taken, take, take_thoroughly
from annotation.work.queue.leases import expire_leases
from annotation.work.queue.reasons import why_nothing
from annotation.work.queue.rules import Rules, cap_reached, rules_for

ATTEMPTS = 5  # while places are freed and taken again between two searches of the queue


def claim_next(*, by: User, project: Project, holding: list[int]) -> Claim:
    """The person's oldest lease that is not in `holding` (ids that their page already has), else a new one.

    At most `1 + prefetch_depth` leases are active per person. Every active member may label. When it returns, all
    earlier commits are on the disk.
    """
    with _turn_in(project):
        claim = _attempt(by=by, project=project, holding=holding)
    for _attempt_number in range(ATTEMPTS):
        if claim is not None:
            break
        # Before reporting that nothing is left: expire overdue leases, search the whole queue, and wait for rows that
        # others have locked. Each happens in its own transaction, so that no lock waits for another.
        expire_leases(project=project)
        with _turn_in(project):
            claim = _attempt(by=by, project=project, holding=holding, thoroughly=True)
        claim = claim or _nothing(by, project)
    if claim is None:
        claim = Claim(reason="all_leased", message=_("Others were faster. Try again."), retry_at=timezone.now())
    if isinstance(claim, Claim):
        flush()
        return claim
    lease, steps, guidelines = _with_work(claim.lease)
    return Claim(lease=lease, steps=steps, guidelines=guidelines, resumed=claim.resumed)


_TURNS: dict[int, Lock] = {}


def _turn_in(project: Project) -> AbstractContextManager[bool]:
    """Lets one thread of this process claim in a project at a time.

    The database would make them wait for the tallies anyway, and a waiting thread costs less than a waiting connection.
    """
    return _TURNS.setdefault(project.pk, Lock())


@dataclass(frozen=True)
class _Held:
    lease: int
    resumed: bool = False


# Claims of a generation run one after the other, because each locks the tallies until its commit. So that they do not
# also wait for the disk one after the other, this commit is asynchronous: WORK waits for the disk after the lock is
# released.
MEMBER = f"""
SELECT {columns(Membership)}, {WITHOUT_FLUSH}
FROM annotation_membership WHERE project_id = %(project)s AND user_id = %(user)s AND active
FOR NO KEY UPDATE
"""
# A statement of its own, because it must see what the lock has waited for. It locks the tallies only if the lanes are
# next: whatever comes before them may wait for an item.
LANES_ARE_NEXT = """AND %(ordinary)s AND NOT situation.any_gold AND NOT situation.first
    AND situation.held <@ %(holding)s::bigint[]"""
SITUATION = f"""
WITH situation AS MATERIALIZED (
    SELECT ARRAY(
        SELECT id FROM annotation_lease WHERE annotator_id = %(annotator)s AND state = 'active' ORDER BY claimed_at, id
    ) AS held, EXISTS ({ANY_GOLD}) AS any_gold, {MAY_COME_FIRST} AS first
), lane AS ({TALLIES.format(after="CROSS JOIN situation", only=LANES_ARE_NEXT)})
SELECT held, any_gold, first, lane.*, {columns(ScreeningDecision)}
FROM situation LEFT JOIN lane ON true
LEFT JOIN LATERAL ({LATEST}) AS annotation_screeningdecision ON true
"""


@transaction.atomic
def _attempt(*, by: User, project: Project, holding: list[int], thoroughly: bool = False) -> _Held | Claim | None:
    """A lease, or a final reason for its absence; None if the search, quick or thorough, finds nothing."""
    row = fetch_one(MEMBER, {"project": project.pk, "user": by.pk})
    if row is None:
        message = _("You are not a member of this project, so you cannot label in it.")
        return Claim(reason="not_annotator", message=message)
    membership = instance(Membership, row)
    membership.project = project
    now = timezone.now()
    until = now + timedelta(minutes=project.policies.queue.lease_minutes)
    situation = _situation(membership, rules_for(membership, now), holding, thoroughly=thoroughly)
    return (
        _resume([lease_id for lease_id in situation.held if lease_id not in holding], until)
        or _refusal(membership, len(situation.held), now)
        or _take_new(by, membership, situation, thoroughly=thoroughly, now=now, until=until)
    )


@dataclass(frozen=True)
class _Situation:
    """What decides on the next task of a locked member: active leases, oldest first, and what may come before the
    ordinary queue. `lanes` are the rows of TALLIES; None if they are not locked.
    """

    rules: Rules
    held: list[int]
    any_gold: bool
    first: bool
    lanes: Sequence[Sequence[Any]] | None
    decision: ScreeningDecision | None


def _situation(membership: Membership, rules: Rules, holding: list[int], *, thoroughly: bool) -> _Situation:
    ordinary = not thoroughly and not membership.project.policies.screening.items
    rows = fetch_all(SITUATION, rules.values | {"ordinary": ordinary, "holding": holding})
    held, any_gold, first = rows[0][:3]
    lanes = [row[3 : 3 + LANE] for row in rows if row[3] is not None]
    decision = rows[0][3 + LANE :]
    return _Situation(
        rules, held, any_gold, first, lanes or None, instance(ScreeningDecision, decision) if decision[0] else None
    )


def _resume(lease_ids: list[int], until: datetime) -> _Held | None:
    """Extend the first of these leases that is still active; the sweep may be expiring them."""
    for lease_id in lease_ids:
        if Lease.objects.filter(pk=lease_id, state=Lease.State.ACTIVE).update(expires_at=until):
            return _Held(lease_id, resumed=True)
    return None


def _refusal(membership: Membership, held: int, now: datetime) -> Claim | None:
    """The reason why this person gets no further lease, whatever the queue holds; None if there is none."""
    project = membership.project
    if project.state == Project.State.PAUSED:
        return Claim(reason="paused", message=_("This project is paused. Its manager can resume it."))
    if held > project.policies.queue.prefetch_depth:
        return holding_enough()
    if tomorrow := cap_reached(membership, held, now):
        message = _("You have reached this project’s daily limit. You can continue tomorrow.")
        return Claim(reason="cap_reached", message=message, retry_at=tomorrow)
    return None


def _take_new(
    by: User, membership: Membership, situation: _Situation, *, thoroughly: bool, now: datetime, until: datetime
) -> _Held | Claim | None:
    """A new lease on hidden gold if gold is due, else on the next item of the queue; None if the search finds none."""
    gold = lease_due(membership, situation.decision, any_gold=situation.any_gold, now=now, until=until)
    if isinstance(gold, Claim):
        return gold
    may_get_hint = hints.may_get_hint(membership)
    entry = audit.entry(by=by, action="lease.claim", kind=Lease, after={"expires_at": until.isoformat()})
    audited = None if gold or may_get_hint else entry | {"project": membership.project_id}
    if gold:
        taken: Taken | None = gold
    elif thoroughly:
        taken = take_thoroughly(situation.rules, audited=audited, now=now, until=until)
    else:
        taken = take(
            situation.rules, first=situation.first, lanes=situation.lanes, audited=audited, now=now, until=until
        )
    if taken is None:
        return None
    if audited is None:
        hint = hints.draw(membership, taken, now=now)
        after = {"item": taken.item, "solution": taken.solution, "expires_at": until.isoformat()}
        audit.record(
            by=by,
            action="lease.claim",
            target=instance(Lease, [taken.lease]),
            project=membership.project,
            after=after if hint is None else after | {"hint": hint},
        )
    return _Held(taken.lease)


STEPS = """(
    SELECT json_agg(json_build_array(position, alternative, id, text, kind) ORDER BY position, alternative)
    FROM annotation_step WHERE solution_id = {solution})"""
WORK = f"""
SELECT {columns(Lease)}, {columns(Solution)}, {columns(Problem)}, {columns(Draft)}, {columns(Hint)},
    {STEPS.format(solution="annotation_solution.id")},
    (SELECT COALESCE(max(version.number), 0) FROM annotation_guidelineversion version
     WHERE version.project_id = annotation_solution.project_id),
    {FLUSH}
FROM annotation_lease
JOIN annotation_solution ON annotation_solution.id = annotation_lease.solution_id
JOIN annotation_problem ON annotation_problem.id = annotation_solution.problem_id
LEFT JOIN annotation_draft ON annotation_draft.lease_id = annotation_lease.id
LEFT JOIN annotation_hint ON annotation_hint.lease_id = annotation_lease.id
WHERE annotation_lease.id = %(lease)s
"""


def _with_work(lease_id: int) -> tuple[Lease, list[StepRow], int]:
    """The lease with its solution, problem, draft and hint, the steps, and the number of the current guidelines.

    All earlier commits have reached the disk.
    """
    row = fetch_one(WORK, {"lease": lease_id})
    if row is None:
        raise Lease.DoesNotExist
    lease: Lease
    lease, solution, problem, draft, hint = instances(row, Lease, Solution, Problem, Draft, Hint)
    solution.problem, lease.solution = problem, solution
    lease._state.fields_cache |= {"draft": draft if draft.pk else None, "hint": hint if hint.pk else None}
    steps, guidelines, _ = row[-3:]
    return lease, steps or [], guidelines


def fetch_steps(solution_id: int) -> list[StepRow]:
    """The steps of a solution, as in `Claim`."""
    row = fetch_one(f"SELECT {STEPS.format(solution='%(solution)s')}", {"solution": solution_id})
    return (row and row[0]) or []


def _nothing(by: User, project: Project) -> Claim | None:
    """Why there is no work; None if something has just become free."""
    membership = Membership.objects.get(project=project, user=by)
    membership.project = project
    return why_nothing(membership, rules_for(membership, timezone.now()))
