"""Creates and changes projects."""

from collections.abc import Callable
from functools import partial
from typing import Any, NoReturn

import msgspec
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.validators import validate_slug
from django.db import transaction

from annotation.core import audit
from annotation.core.errors import Conflict, DomainError, Forbidden
from annotation.core.membership.access import may_create_projects, require_role
from annotation.core.membership.backbones import check_backbone
from annotation.models import (
    GuidelineVersion,
    LabelScheme,
    Membership,
    Project,
    ProjectPolicy,
    parse_examples,
    parse_policy,
    parse_scheme,
)
from prm.faults import fault_of, sentence_of
from prm.messages import Message


@transaction.atomic
def create_project(
    *,
    by: User,
    name: str,
    slug: str,
    scheme: dict[str, Any] | None = None,
    policy: dict[str, Any] | None = None,
    guidelines: str = "",
    examples: list[dict[str, Any]] | None = None,
) -> Project:
    """Create a project, with `by` as its manager. Staff and managers of any project may.

    `examples` are fields of `Example`. Raises Forbidden (`manager_needed`), Conflict (`slug_taken`) and DomainError
    (`invalid_slug`, `invalid_name`, `invalid_scheme`, `invalid_policy`, `backbone_not_listed`,
    `invalid_examples`).
    """
    if not may_create_projects(by):
        raise Forbidden(Message("manager_needed"))
    _check_name(name)
    _check_slug(slug)
    _check_scheme(scheme or {})
    _check_policy(policy or {}, before={})
    _check_examples(examples or [])
    project, created = Project.objects.get_or_create(
        slug=slug,
        defaults={
            "name": name,
            "scheme": scheme or {},
            "policy": policy or {},
        },
    )
    if not created:
        raise Conflict(Message("slug_taken", slug=slug), {"field": "slug"})
    _write_guidelines(by, project, guidelines, examples or [])
    Membership.objects.create(project=project, user=by, role=Membership.Role.MANAGER)
    audit.record(by=by, action="project.create", target=project, after=_description(project))
    return project


@transaction.atomic
def change_project(*, by: User, project: Project, **changes: Any) -> Project:
    """Change `name`, `guidelines`, `examples`, `scheme`, `policy` or `state`. Managers only.

    Changed guidelines or examples become the next version of the guidelines.
    Raises Forbidden and as `create_project`, DomainError (`invalid_state`, `unknown_field`).
    """
    require_role(by, project, Membership.Role.MANAGER)
    project = lock_project(project)
    before = _description(project)
    checks: dict[str, Callable[[Any], None]] = {
        "name": _check_name,
        "examples": _check_examples,
        "scheme": _check_scheme,
        "policy": partial(_check_policy, before=project.policy),
        "state": _check_state,
    }
    for field, value in changes.items():
        if field not in before:
            raise DomainError(Message("unknown_field", field=field), {"field": field})
        if field in checks:
            checks[field](value)
    stored = {field: value for field, value in changes.items() if field not in ("guidelines", "examples")}
    for field, value in stored.items():
        setattr(project, field, value)
    project.save(update_fields=list(stored))
    if len(stored) < len(changes):
        written = before | changes
        _write_guidelines(by, project, written["guidelines"], written["examples"])
    after = _description(project)
    audit.record(
        by=by,
        action="project.change",
        target=project,
        before={field: before[field] for field in changes},
        after={field: after[field] for field in changes},
    )
    return project


def lock_project(project: Project) -> Project:
    """The project as stored, locked until the transaction ends, so that no other change of its policy is lost."""
    return Project.objects.select_for_update(no_key=True).get(pk=project.pk)


def delete_project(*, by: User, project: Project) -> NoReturn:
    """Always refuse, because labels and audit rows are permanent; the attempt is recorded in the audit log.

    Raises Conflict (`project_kept`) for managers, Forbidden for others.
    """
    audit.record(by=by, action="project.delete_refused", target=project)
    require_role(by, project, Membership.Role.MANAGER)
    raise Conflict(Message("project_kept"))


def _write_guidelines(by: User, project: Project, text: str, examples: list[dict[str, Any]]) -> None:
    """Add a version of the guidelines unless it equals the current one. The line ends of a form are not a change.

    The caller has created or locked the project.
    """
    text = text.replace("\r\n", "\n").strip()
    current = project.current_guidelines
    if (text, examples) != (current.text, current.examples):
        GuidelineVersion.objects.create(
            project=project, number=current.number + 1, text=text, examples=examples, created_by=by
        )


def _description(project: Project) -> dict[str, Any]:
    guidelines = project.current_guidelines
    return {
        "name": project.name,
        "guidelines": guidelines.text,
        "examples": guidelines.examples,
        "scheme": project.scheme,
        "policy": project.policy,
        "state": project.state,
    }


def _check_name(name: str) -> None:
    if not name.strip() or len(name) > 200:
        raise DomainError(Message("project_name_length"), {"field": "name"}, code="invalid_name")


def _check_slug(slug: str) -> None:
    try:
        validate_slug(slug)
    except ValidationError:
        slug = ""
    if not slug or len(slug) > 80:
        raise DomainError(Message("invalid_slug"), {"field": "slug"})


def _check_scheme(scheme: dict[str, Any]) -> None:
    try:
        parse_scheme(scheme)
    except msgspec.ValidationError as error:
        raise _refused("scheme", "label_scheme_error", error, LabelScheme) from None


def _check_policy(policy: dict[str, Any], before: dict[str, Any]) -> None:
    """Check a policy. An unchanged backbone passes, even if the operator has removed it from the list since."""
    try:
        backbone = parse_policy(policy).backbone
    except msgspec.ValidationError as error:
        raise _refused("policy", "policy_error", error, ProjectPolicy) from None
    if backbone != before.get("backbone"):
        check_backbone(backbone)


def _check_examples(examples: list[dict[str, Any]]) -> None:
    try:
        parse_examples(examples)
    except msgspec.ValidationError as error:
        raise _refused("examples", "examples_error", error) from None


def _refused(field: str, code: str, error: msgspec.ValidationError, kind: Any = None) -> DomainError:
    """The error for an invalid field: `place` is where in its value, `reason` is the message without the place."""
    place, reason = fault_of(error, kind)
    message = Message(code, error=sentence_of(error, kind=kind))
    return DomainError(message, {"field": field, "place": place, "reason": reason}, code=f"invalid_{field}")


def _check_state(state: str) -> None:
    if state not in Project.State.values:
        raise DomainError(Message("invalid_state", state=state), {"field": "state"})
