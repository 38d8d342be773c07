"""API tokens of programs. The secret is shown once; only its SHA-256 is stored."""

import hashlib
import secrets
from collections.abc import Collection
from datetime import timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from annotation.core import audit
from annotation.core.bounds import LARGEST_INTEGER
from annotation.core.errors import Conflict, DomainError
from annotation.core.membership.access import VISIBLE, remember, require_role
from annotation.core.reading import find_row
from annotation.core.statements import columns, fetch_one, instances
from annotation.models import ApiToken, MachineAnnotator, Membership, Project, Scope
from prm.messages import Message

PREFIX = "stepmark_"
OWN_SCOPES = (Scope.READ, Scope.SCORE)  # of a person's token, unless its owner chooses others
MACHINE_SCOPES = (Scope.CLAIM, Scope.SUBMIT)  # of every token of a machine annotator
LAST_USED_PRECISION = timedelta(minutes=5)  # so that most calls write nothing
FIND = f"""
SELECT {columns(ApiToken)}, {columns(User)}, {columns(Project)}
FROM annotation_apitoken JOIN auth_user ON auth_user.id = annotation_apitoken.user_id
LEFT JOIN annotation_project ON {VISIBLE.format(user="auth_user.id", is_superuser="auth_user.is_superuser")}
WHERE annotation_apitoken.digest = %(digest)s AND annotation_apitoken.revoked_at IS NULL AND auth_user.is_active
"""


@transaction.atomic
def issue_token(
    *, by: User, name: str, scopes: Collection[str] = OWN_SCOPES, for_person: bool = False
) -> tuple[ApiToken, str]:
    """A new API token of the user, and its secret, which cannot be shown again.

    With `for_person`, labels submitted with it count as the user's own, made by hand in another tool. Raises
    DomainError (`invalid_name`, `invalid_scopes`).
    """
    return _issue(by, by, name, scopes, for_person=for_person)


@transaction.atomic
def issue_machine_token(*, by: User, machine: MachineAnnotator, name: str) -> tuple[ApiToken, str]:
    """A new token of a machine annotator, which only claims and submits, and its secret.

    Raises Forbidden, Conflict (`machine_retired`), DomainError (`invalid_name`).
    """
    member = machine.membership
    require_role(by, member.project, Membership.Role.MANAGER)
    if not member.active or member.user is None:
        raise Conflict(Message("machine_retired", name=member.name))
    return _issue(by, member.user, name, MACHINE_SCOPES, for_person=False)


def _issue(by: User, user: User, name: str, scopes: Collection[str], *, for_person: bool) -> tuple[ApiToken, str]:
    if not name.strip() or len(name) > 100:
        raise DomainError(Message("token_name_length"), {"field": "name"}, code="invalid_name")
    if not scopes or not set(scopes) <= set(Scope.values):
        raise DomainError(Message("invalid_scopes", known=", ".join(Scope.values)), {"field": "scopes"})
    secret = PREFIX + secrets.token_urlsafe(32)
    chosen = [scope for scope in Scope.values if scope in scopes]
    token = ApiToken.objects.create(
        user=user, name=name, scopes=chosen, for_person=for_person, digest=digest_of(secret)
    )
    after = {"name": name, "user": user.username, "scopes": chosen, "for_person": for_person}
    audit.record(by=by, action="token.issue", target=token, after=after)
    return token, secret


@transaction.atomic
def revoke_token(*, by: User, token_id: int) -> None:
    """Revoke a token of the user, or of a machine annotator that they manage; a second time changes nothing.

    Raises Missing.
    """
    managed = Membership.objects.filter(user=by, role=Membership.Role.MANAGER, active=True).values("project")
    machines = Membership.objects.filter(kind=Membership.Kind.MACHINE, project__in=managed).values("user")
    theirs = Q(user=by) | Q(user__in=machines)
    token = find_row(ApiToken.objects.select_for_update().filter(theirs, pk=token_id), Message("token_not_found"))
    if token.revoked_at is None:
        token.revoked_at = timezone.now()
        token.save(update_fields=["revoked_at"])
        audit.record(by=by, action="token.revoke", target=token)


@transaction.atomic
def limit_token(*, by: User, token_id: int, limits: dict[str, int | None]) -> ApiToken:
    """Set the scoring limits of one of the user's own tokens; None removes a limit.

    The keys of `limits` are in ApiToken.LIMITS. Raises Missing, DomainError (`invalid_limit`).
    """
    own = ApiToken.objects.select_for_update().filter(pk=token_id, user=by, revoked_at__isnull=True)
    token = find_row(own, Message("token_not_found"))
    for name, limit in limits.items():
        if name not in ApiToken.LIMITS or not (limit is None or 1 <= limit <= LARGEST_INTEGER):
            raise DomainError(Message("invalid_limit", largest_limit=f"{LARGEST_INTEGER:,}"), {"field": name})
    before = {name: getattr(token, name) for name in limits}
    for name, limit in limits.items():
        setattr(token, name, limit)
    token.save(update_fields=list(limits))
    audit.record(by=by, action="token.limit", target=token, before=before, after=limits)
    return token


def find_token(secret: str, *, slug: str = "") -> ApiToken | None:
    """The valid token with this secret, None if there is none. Updates `last_used_at`, to LAST_USED_PRECISION.

    `slug` names the project that the caller asks for next, which the same statement reads.
    """
    row = fetch_one(FIND, {"digest": digest_of(secret), "slug": slug})
    if row is None:
        return None
    token: ApiToken
    token, token.user, project = instances(row, ApiToken, User, Project)
    if project.pk:
        remember(token.user, project)
    now = timezone.now()
    if token.last_used_at is None or token.last_used_at < now - LAST_USED_PRECISION:
        ApiToken.objects.filter(pk=token.pk).update(last_used_at=now)
    return token


def digest_of(secret: str) -> str:
    """The SHA-256 of a secret, in hexadecimal."""
    return hashlib.sha256(secret.encode()).hexdigest()
