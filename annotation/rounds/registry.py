"""Model versions: registered by a run, promoted by the gate or by a person, one champion a project."""

from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from annotation import audit
from annotation.errors import Conflict
from annotation.membership.access import require_role
from annotation.models import Membership, ModelVersion, Project, TrainingRun
from annotation.rounds.verdict import Verdict


def champion_of(project: Project) -> ModelVersion | None:
    return project.model_versions.filter(state=ModelVersion.State.CHAMPION).first()


@transaction.atomic
def register_version(*, run: TrainingRun, path: str, sha256: str, manifest: dict[str, Any]) -> ModelVersion:
    """Make the run's model a challenger; a second call returns the one that is there.

    `path` is relative to the folder of models; `sha256` is that of the weights.
    """
    if run.model_version is not None:
        return run.model_version
    Project.objects.select_for_update(no_key=True).get(pk=run.project_id)
    last = run.project.model_versions.aggregate(last=Max("number"))["last"] or 0
    version = ModelVersion.objects.create(
        project=run.project,
        number=last + 1,
        path=path,
        sha256=sha256,
        snapshot=run.snapshot,
        manifest=manifest,
    )
    run.model_version = version
    run.save(update_fields=["model_version"])
    audit.record(
        by=run.requested_by,
        action="model.register",
        target=version,
        project=run.project,
        after={"number": version.number, "run": run.number, "sha256": version.sha256},
    )
    return version


@transaction.atomic
def record_verdict(*, version: ModelVersion, verdict: Verdict) -> None:
    """Keep what the gate said of a challenger; one that it keeps back is rejected."""
    before = version.state
    version.gate = verdict.as_dict()
    if not verdict.promote:
        version.state = ModelVersion.State.REJECTED
    version.save(update_fields=["gate", "state"])
    audit.record(
        by=None,
        action="model.judge",
        target=version,
        project=version.project,
        before={"state": before},
        after={"state": version.state, "promote": verdict.promote, "verdict": verdict.sentence},
    )


def promote_version(*, by: User, version: ModelVersion) -> ModelVersion:
    """Make any earlier version the champion: the rollback. Raises Forbidden or Conflict."""
    require_role(by, version.project, Membership.Role.MANAGER)
    return crown(by=by, version=version, reason="chosen by hand")


@transaction.atomic
def crown(*, by: User | None, version: ModelVersion, reason: str) -> ModelVersion:
    """Swap the champion in one transaction. Workers load it when they next score."""
    Project.objects.select_for_update(no_key=True).get(pk=version.project_id)
    version = (
        ModelVersion.objects.select_for_update(no_key=True, of=("self",)).select_related("project").get(pk=version.pk)
    )
    if version.state == ModelVersion.State.CHAMPION:
        raise Conflict("already_champion", f"Model {version.number} is the champion already.")
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
        project=version.project,
        before={"champion": before.number if before else None},
        after={"champion": version.number, "reason": reason},
    )
    return version
