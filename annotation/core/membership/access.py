"""Who can see a project, and who may act in it."""

from typing import Any, TypeVar

from django.contrib.auth.models import AnonymousUser, User
from django.db.models import Model, QuerySet

from annotation.core.errors import Forbidden, Missing
from annotation.core.reading import find_row
from annotation.core.statements import columns, fetch_one, instance
from annotation.models import Membership, Project
from prm.messages import Message, joined

M = TypeVar("M", bound=Model)
# The roles that review the work of others, on the pages and in the API.
STAFF = (Membership.Role.REVIEWER, Membership.Role.MANAGER)
_ROLES: dict[str, Message] = {
    Membership.Role.ANNOTATOR: Message("role_annotator"),
    Membership.Role.REVIEWER: Message("role_reviewer"),
    Membership.Role.MANAGER: Message("role_manager"),
}

# Whether a project has this slug and a user may see it. `user` and `is_superuser` are expressions.
VISIBLE = """annotation_project.slug = %(slug)s AND ({is_superuser} OR EXISTS (
    SELECT FROM annotation_membership WHERE project_id = annotation_project.id AND user_id = {user} AND active))"""
FIND = f"""
SELECT {columns(Project)} FROM annotation_project
WHERE {VISIBLE.format(user="%(user)s", is_superuser="%(is_superuser)s")}
"""


def visible_projects(user: User | AnonymousUser) -> QuerySet[Project]:
    """The projects in which the user has an active membership; every project for a superuser."""
    if not user.is_authenticated:
        return Project.objects.none()
    if user.is_superuser:
        return Project.objects.all()
    return Project.objects.filter(memberships__user=user, memberships__active=True)


def find_project(user: User | AnonymousUser, slug: str, *roles: str) -> Project:
    """The project with this slug, for members with one of `roles`, or with any role if none is named.

    Raises Missing if there is no such project or the user may not see it; Forbidden.
    """
    project = _found(user, slug) or _find(user, slug)
    if project is None:
        raise Missing(Message("no_such_project", slug=slug), code="project_not_found")
    if roles:
        require_role(user, project, *roles)
    return project


def remember(user: User, project: Project) -> None:
    """Store a project that was just read with VISIBLE, for the next `find_project` with this user object."""
    vars(user)["found"] = project


def _found(user: User | AnonymousUser, slug: str) -> Project | None:
    project: Project | None = vars(user).pop("found", None)
    return project if project and project.slug == slug else None


def _find(user: User | AnonymousUser, slug: str) -> Project | None:
    if not user.is_authenticated:
        return None
    row = fetch_one(FIND, {"slug": slug, "user": user.pk, "is_superuser": user.is_superuser})
    return instance(Project, row) if row else None


def find_visible(
    user: User | AnonymousUser, rows: QuerySet[M], pk: int, otherwise: Message, *roles: str, code: str = ""
) -> M:
    """The row with this key, for members of its project with one of `roles`, or with any role if none is named.

    Raises Missing with the message `otherwise`, Forbidden.
    """
    visible = rows.filter(pk=pk, project__in=visible_projects(user)).select_related("project")
    row: Any = find_row(visible, otherwise, code=code)
    if roles:
        require_role(user, row.project, *roles)
    found: M = row
    return found


def may_create_projects(user: User | AnonymousUser) -> bool:
    """Whether the user is staff or already manages a project. Others may not, because a project uses the workers."""
    if not user.is_authenticated or not user.is_active:
        return False
    return user.is_staff or Membership.objects.filter(user=user, role=Membership.Role.MANAGER, active=True).exists()


def membership_of(user: User | AnonymousUser, project: Project) -> Membership | None:
    """The user's active membership; None if the user has none."""
    if not user.is_authenticated:
        return None
    return Membership.objects.filter(user=user, project=project, active=True).first()


def role_in_words(role: str) -> str:
    """The name of a role, in the reader's language when shown."""
    return _ROLES.get(role, role)


def require_role(user: User | AnonymousUser, project: Project, *roles: str) -> Membership:
    """The user's membership if its role is one of `roles`, or has any role if none is named.

    A superuser passes everywhere. Without a membership they get one as a manager that is not stored (`pk` is None):
    they can manage the project, but not label in it. Raises Forbidden.
    """
    membership = membership_of(user, project)
    if user.is_superuser:
        return membership or Membership(user=user, project=project, role=Membership.Role.MANAGER)
    if membership is None:
        raise Forbidden(Message("not_a_project_member", name=project.name), code="not_a_member")
    if roles and membership.role not in roles:
        needed = joined(list(map(role_in_words, roles)), "one_or_other")
        raise Forbidden(
            Message("role_needed", needed=needed, name=project.name, role=role_in_words(membership.role)),
            {"roles": list(roles), "role": membership.role},
        )
    return membership
