"""SQL conditions on a person's items: no solution twice, their domains, and a cool-down for the same problem."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from annotation.models import Annotation, Membership, QueuePolicy, Taker

# All are conditions on `item`, a queue item. A person has had a solution if they have a lease on it: nobody can submit
# without one, and an adjudicated solution leaves the queue. An expired lease can be renewed. OFFSET 0 makes PostgreSQL
# look up the lease of each candidate. With old statistics, it would otherwise read all leases that the person has had.
FRESH = """NOT EXISTS (
    SELECT FROM annotation_lease mine
    WHERE mine.annotator_id = %(annotator)s AND mine.solution_id = item.solution_id AND mine.state <> 'expired'
    OFFSET 0)"""
OFFERED = "item.state = 'ready' AND NOT item.paused AND item.assigned_to_id IS NULL AND item.taker = %(taker)s"
QUALIFIED = """EXISTS (
    SELECT FROM annotation_solution given JOIN annotation_problem problem ON problem.id = given.problem_id
    WHERE given.id = item.solution_id AND problem.domain = ANY(%(domains)s))"""
SEEN = """FROM annotation_solution given
    JOIN annotation_solution other ON other.problem_id = given.problem_id AND other.id <> given.id
    JOIN annotation_lease seen ON seen.solution_id = other.id AND seen.annotator_id = %(annotator)s
    WHERE given.id = item.solution_id"""
RESTED = f"NOT EXISTS (SELECT {SEEN} AND (seen.state = 'active' OR seen.ended_at > %(rested)s))"
NEVER_SEEN = f"NOT EXISTS (SELECT {SEEN})"


@dataclass(frozen=True)
class Rules:
    """Conditions for one member now, with their `values`. `lasting` stays false for an item that fails it; `passing`
    becomes true with time.
    """

    lasting: str
    passing: str
    values: dict[str, Any] = field(default_factory=dict)

    @property
    def all(self) -> str:
        return f"{self.lasting} AND {self.passing}"

    @property
    def theirs(self) -> str:
        """Items assigned to this person, or open to all and allowed for them now or later."""
        return f"(item.assigned_to_id = %(annotator)s AND {FRESH} OR item.assigned_to_id IS NULL AND {self.lasting})"

    @property
    def theirs_now(self) -> str:
        return f"(item.assigned_to_id = %(annotator)s OR {self.passing})"


def rules_for(membership: Membership, now: datetime) -> Rules:
    """The conditions on the items that this member may get. A machine needs no cool-down, because it forgets."""
    policy = membership.project.policies
    lasting = [FRESH]
    values: dict[str, Any] = {
        "annotator": membership.pk,
        "project": membership.project_id,
        "taker": taker_of(membership),
    }
    if membership.domains is not None:
        lasting.append(QUALIFIED)
        values["domains"] = membership.domains
    passing = "TRUE"
    if membership.kind == Membership.Kind.MACHINE:
        return Rules(" AND ".join(lasting), passing, values)
    if policy.queue.problem_again == "never":
        lasting.append(NEVER_SEEN)
    elif policy.queue.cool_down_minutes or policy.queue.problem_again == "next_day":
        passing = RESTED
        values["rested"] = _rested_since(policy.queue, policy.rounds.start_of_day(now), now)
    return Rules(" AND ".join(lasting), passing, values)


def taker_of(membership: Membership) -> Taker:
    """Whose items the member may take. A simulated person takes those of people."""
    return Taker.MACHINE if membership.kind == Membership.Kind.MACHINE else Taker.PERSON


def cap_reached(membership: Membership, in_hand: int, now: datetime) -> datetime | None:
    """The project's next midnight if the person has reached the daily cap, else None. A machine has no cap."""
    cap = membership.project.policies.queue.daily_cap
    if not cap or membership.kind == Membership.Kind.MACHINE:
        return None
    midnight = membership.project.policies.rounds.start_of_day(now)
    submitted = Annotation.objects.filter(annotator=membership, revision=1, submitted_at__gte=midnight).count()
    return next_day(midnight) if submitted + in_hand >= cap else None


def next_day(midnight: datetime) -> datetime:
    """The next local midnight; a day may have 23 or 25 hours."""
    return midnight + timedelta(days=1)


def free_again(membership: Membership, seen: datetime) -> datetime:
    """When the person may get another solution of a problem whose last one they ended at `seen`."""
    policy = membership.project.policies
    again = seen + timedelta(minutes=policy.queue.cool_down_minutes)
    if policy.queue.problem_again == "next_day":
        again = max(again, next_day(policy.rounds.start_of_day(seen)))
    return again


def _rested_since(policy: QueuePolicy, midnight: datetime, now: datetime) -> datetime:
    """The time by which a problem's last solution must have ended for its cool-down to be over."""
    rested = now - timedelta(minutes=policy.cool_down_minutes)
    if policy.problem_again == "next_day":
        rested = min(rested, midnight)
    return rested
