"""Which version serves: the champion of each project, and that of a domain if a manager chose one."""

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from annotation.core import audit, jobs
from annotation.core.errors import Conflict, DomainError
from annotation.core.membership.access import require_role
from annotation.core.reading import find_row
from annotation.models import DomainChampion, Membership, ModelVersion, Project
from prm.messages import Message


def champion_of(project: Project) -> ModelVersion | None:
    """The version that serves the project and ranks its pool; None before the first promotion."""
    return project.model_versions.filter(state=ModelVersion.State.CHAMPION).first()


def champion_for(project: Project, domain: str) -> ModelVersion | None:
    """The version that scores problems of this domain: the domain's champion, else the project's."""
    own = DomainChampion.objects.filter(project=project, domain=domain).select_related("model_version").first()
    return own.model_version if own else champion_of(project)


def choose_version(project: Project, *, domain: str, named: ModelVersion | None = None) -> ModelVersion:
    """The version that answers a program: the one `named` by the caller, else the champion of domain or project.

    Raises DomainError (`unknown_domain`), Conflict (`no_champion`, `unmeasured_model`).
    """
    if domain:
        check_domain(project, domain)
    version = named or champion_for(project, domain)
    if version is None:
        raise Conflict(Message("no_champion"))
    if not version.answers_programs:
        raise Conflict(Message("unmeasured_model", n=version.number), {"model": version.number})
    return version


def check_domain(project: Project, domain: str) -> None:
    """Raises DomainError (`unknown_domain`) unless a problem of the project is of this domain."""
    if not domain or not project.problems.filter(domain=domain).exists():
        raise DomainError(Message("no_such_domain", domain=domain), {"field": "domain"}, code="unknown_domain")


@transaction.atomic
def promote_version(*, by: User, version: ModelVersion) -> ModelVersion:
    """Make any version the champion, also as a rollback. The choice confirms an unmeasured version.

    Raises Forbidden, Conflict (`already_champion`, `weights_deleted`, `not_measured`).
    """
    require_role(by, version.project, Membership.Role.MANAGER)
    return _confirm(by, crown(by=by, version=version, reason=Message("chosen_by_hand")))


@transaction.atomic
def confirm_version(*, by: User, version: ModelVersion) -> ModelVersion:
    """Let a version that the gate could not measure answer programs.

    Raises Forbidden, Conflict (`weights_deleted`, `not_measured`, `nothing_to_confirm`).
    """
    require_role(by, version.project, Membership.Role.MANAGER)
    version = _to_serve(version)
    if version.answers_programs:
        raise Conflict(Message("nothing_to_confirm", n=version.number))
    return _confirm(by, version)


def _confirm(by: User, version: ModelVersion) -> ModelVersion:
    if not version.answers_programs:
        version.confirmed_at = timezone.now()
        version.save(update_fields=["confirmed_at"])
        audit.record(
            by=by,
            action="model.confirm",
            target=version,
            before={"answers_programs": False},
            after={"answers_programs": True},
        )
    return version


@transaction.atomic
def crown(*, by: User | None, version: ModelVersion, reason: str) -> ModelVersion:
    """Replace the champion by this version. Workers load it when they next score, and it scores the pool.

    Raises Conflict (`already_champion`, `weights_deleted`, `not_measured`).
    """
    version = _to_serve(version)
    if version.state == ModelVersion.State.CHAMPION:
        raise Conflict(Message("already_champion", n=version.number))
    before = champion_of(version.project)
    if before is not None:
        before.state = ModelVersion.State.RETIRED
        before.save(update_fields=["state"])
    version.state = ModelVersion.State.CHAMPION
    version.promoted_at = timezone.now()
    version.save(update_fields=["state", "promoted_at"])
    audit.record(
        by=by,
        action="model.promote",
        target=version,
        before={"champion": before.number if before else None},
        after={"champion": version.number, "reason": reason},
    )
    jobs.enqueue(jobs.SCORE_TASK)
    return version


@transaction.atomic
def set_domain_champion(*, by: User, version: ModelVersion, domain: str) -> DomainChampion:
    """Let a version serve one domain instead of the project's champion. The choice confirms the version.

    Raises Forbidden, DomainError (`unknown_domain`), Conflict (`weights_deleted`, `not_measured`).
    """
    require_role(by, version.project, Membership.Role.MANAGER)
    version = _to_serve(version)
    check_domain(version.project, domain)
    _confirm(by, version)
    earlier = DomainChampion.objects.filter(project=version.project, domain=domain).first()
    chosen, _made = DomainChampion.objects.update_or_create(
        project=version.project, domain=domain, defaults={"model_version": version}
    )
    audit.record(
        by=by,
        action="model.serve_domain",
        target=version,
        before={"domain": domain, "champion": earlier.model_version.number if earlier else None},
        after={"domain": domain, "champion": version.number},
    )
    return chosen


@transaction.atomic
def clear_domain_champion(*, by: User, project: Project, domain: str) -> None:
    """Let the project's champion serve this domain again. Raises Forbidden, Missing (`no_domain_champion`)."""
    require_role(by, project, Membership.Role.MANAGER)
    rows = DomainChampion.objects.select_for_update().filter(project=project, domain=domain)
    chosen = find_row(rows, Message("no_domain_champion", domain=domain))
    version = chosen.model_version
    chosen.delete()
    audit.record(
        by=by,
        action="model.serve_domain",
        target=version,
        before={"domain": domain, "champion": version.number},
        after={"domain": domain, "champion": None},
    )


def _to_serve(version: ModelVersion) -> ModelVersion:
    """The locked version; also locks its project against other promotions. Raises Conflict if it cannot serve."""
    Project.objects.select_for_update(no_key=True).get(pk=version.project_id)
    version = (
        ModelVersion.objects.select_for_update(no_key=True, of=("self",)).select_related("project").get(pk=version.pk)
    )
    require_weights(version)
    if version.origin == ModelVersion.Origin.IMPORTED and version.gate is None:
        raise Conflict(Message("not_measured", n=version.number))
    return version


def require_weights(version: ModelVersion) -> None:
    """Raises Conflict (`weights_deleted`)."""
    if version.weights_deleted_at is not None:
        raise Conflict(Message("weights_deleted", n=version.number))
