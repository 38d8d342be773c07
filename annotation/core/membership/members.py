"""People join a project, change their role and leave. Their labels stay."""

from collections.abc import Sequence

from django.contrib.auth.models import User
from django.db import connection, transaction
from django.utils import timezone

from annotation.core import audit
from annotation.core.errors import Conflict, DomainError
from annotation.core.membership.access import require_role, role_in_words
from annotation.models import ApiToken, Membership, Project
from prm.messages import Message


@transaction.atomic
def add_member(*, by: User, project: Project, user: User, role: str, kind: str = Membership.Kind.PERSON) -> Membership:
    """Add a user to a project, or add them again.

    Raises Forbidden, DomainError (`invalid_role`), Conflict (`already_member`, `machine_account`).
    """
    require_role(by, project, Membership.Role.MANAGER)
    _check_role(role)
    if Membership.objects.filter(user=user, kind=Membership.Kind.MACHINE).exists():
        raise Conflict(Message("machine_account", name=user.username))
    membership, created = Membership.objects.select_for_update(no_key=True).get_or_create(
        project=project, user=user, defaults={"role": role, "kind": kind}
    )
    if not created:
        if membership.active:
            raise Conflict(Message("already_member", user=user, role=role_in_words(membership.role)))
        membership.role, membership.active = role, True
        membership.save(update_fields=["role", "active"])
    audit.record(by=by, action="member.add", target=membership, after={"role": role})
    return membership


@transaction.atomic
def change_role(*, by: User, membership: Membership, role: str) -> Membership:
    """Change a member's role.

    Raises Forbidden, DomainError (`invalid_role`, `person_from_file`, `machine_only_labels`), Conflict
    (`last_manager`).
    """
    require_role(by, membership.project, Membership.Role.MANAGER)
    _check_role(role)
    membership = _lock(membership)
    if membership.kind == Membership.Kind.MACHINE:
        raise DomainError(Message("machine_only_labels", name=membership.name), {"field": "role"})
    if role != Membership.Role.MANAGER:
        _check_other_manager(membership)
    before = {"role": membership.role}
    membership.role = role
    membership.save(update_fields=["role"])
    audit.record(by=by, action="member.change_role", target=membership, before=before, after={"role": role})
    return membership


@transaction.atomic
def qualify(*, by: User, membership: Membership, domains: Sequence[str] | None) -> Membership:
    """Limit a person to problems of these domains; None lifts the limit. Active leases stay.

    Raises Forbidden, DomainError (`unknown_domain`, `no_domain`, `person_from_file`).
    """
    project = membership.project
    require_role(by, project, Membership.Role.MANAGER)
    if domains is not None:
        known = set(domains_of(project))
        if not domains:
            raise DomainError(Message("no_domain"), {"field": "domains"})
        if unknown := sorted(set(domains) - known):
            raise DomainError(Message("unknown_domain", unknown=unknown[0]), {"field": "domains"})
    membership = _lock(membership)
    before, membership.domains = membership.domains, None if domains is None else sorted(set(domains))
    membership.save(update_fields=["domains"])
    # Items that their frontiers have passed may be in their domains now.
    membership.frontiers.all().delete()
    audit.record(
        by=by,
        action="member.qualify",
        target=membership,
        before={"domains": before},
        after={"domains": membership.domains},
    )
    return membership


def domains_of(project: Project) -> list[str]:
    """The domains of a project's problems, in the order of the database."""
    with connection.cursor() as cursor:
        cursor.execute(_DOMAINS, {"project": project.pk})
        return [domain for (domain,) in cursor.fetchall()]


# Jumps from each domain to the next one in the index; DISTINCT would read every problem.
_DOMAINS = """
WITH RECURSIVE known (domain) AS (
    (SELECT domain FROM annotation_problem WHERE project_id = %(project)s ORDER BY domain LIMIT 1)
    UNION ALL
    SELECT (
        SELECT later.domain FROM annotation_problem later
        WHERE later.project_id = %(project)s AND later.domain > known.domain ORDER BY later.domain LIMIT 1
    ) FROM known WHERE known.domain IS NOT NULL
)
SELECT domain FROM known WHERE domain IS NOT NULL ORDER BY domain
"""


@transaction.atomic
def remove(*, by: User, membership: Membership) -> None:
    """End a membership; a second time changes nothing. Annotations stay, and active leases run until they expire.

    The tokens of a machine annotator are revoked.

    Raises Forbidden, DomainError (`person_from_file`), Conflict (`last_manager`).
    """
    require_role(by, membership.project, Membership.Role.MANAGER)
    membership = _lock(membership)
    if not membership.active:
        return
    _check_other_manager(membership)
    membership.active = False
    membership.save(update_fields=["active"])
    if membership.kind == Membership.Kind.MACHINE:
        ApiToken.objects.filter(user=membership.user_id, revoked_at=None).update(revoked_at=timezone.now())
    audit.record(by=by, action="member.remove", target=membership, before={"active": True}, after={"active": False})


def _lock(membership: Membership) -> Membership:
    """The membership, locked together with its project, so that two managers cannot remove each other.

    Raises DomainError (`person_from_file`).
    """
    check_account(membership)
    Project.objects.select_for_update(no_key=True).get(pk=membership.project_id)
    return (
        Membership.objects.select_for_update(no_key=True, of=("self",)).select_related("project").get(pk=membership.pk)
    )


def check_account(membership: Membership) -> None:
    """Refuse a person whose labels came in a file, with DomainError (`person_from_file`)."""
    if membership.user_id is None:
        raise DomainError(Message("person_from_file", name=membership.name))


def _check_role(role: str) -> None:
    if role not in Membership.Role.values:
        known = ", ".join(Membership.Role.values)
        raise DomainError(Message("invalid_role", role=role, known=known), {"field": "role"})


def _check_other_manager(leaving: Membership) -> None:
    if leaving.role != Membership.Role.MANAGER:
        return
    managers = Membership.objects.filter(project=leaving.project, role=Membership.Role.MANAGER, active=True).exclude(
        pk=leaving.pk
    )
    if not managers.exists():
        raise Conflict(Message("last_manager"))
