"""The record of a version: its origin, the gate's verdict, and its pin."""

from typing import Any

import msgspec
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Max

from annotation.core import audit
from annotation.core.membership.access import require_role
from annotation.loop.registry.champions import champion_of
from annotation.models import Membership, ModelJob, ModelVersion, Project, TrainingRun
from annotation.models.model_version import Verdict
from prm.messages import Message, joined


@transaction.atomic
def register_version(*, job: TrainingRun | ModelJob, path: str, sha256: str, manifest: dict[str, Any]) -> ModelVersion:
    """Register the model of a run or an import as a challenger; a second call returns the same version.

    `path` is relative to the folder of models; `sha256` is that of the weights.
    """
    if job.model_version is not None:
        return job.model_version
    version = ModelVersion(project=job.project, path=path, sha256=sha256, manifest=manifest)
    if isinstance(job, TrainingRun):
        version.snapshot, source = job.snapshot, {"run": job.number}
    else:
        assert job.source is not None
        version.origin, version.imported_from = ModelVersion.Origin.IMPORTED, job.source.folder
        source = {"imported_from": job.source.folder}
    Project.objects.select_for_update(no_key=True).get(pk=job.project_id)
    version.number = (job.project.model_versions.aggregate(last=Max("number"))["last"] or 0) + 1
    version.save()
    job.model_version = version
    job.save(update_fields=["model_version"])
    audit.record(
        by=job.requested_by,
        action="model.register",
        target=version,
        after={"number": version.number} | source | {"sha256": sha256},
    )
    return version


@transaction.atomic
def record_verdict(*, version: ModelVersion, verdict: Verdict) -> Verdict:
    """Store the gate's verdict on a version and return it; a challenger that is not promoted is rejected.

    The verdict replaces neither a pinned champion nor a version that a manager promoted first. The stored sentence
    then says so.
    """
    Project.objects.select_for_update(no_key=True).get(pk=version.project_id)  # against a promotion by hand
    version.refresh_from_db(fields=["state"])
    before, champion = version.state, champion_of(version.project)
    if champion == version:
        verdict = msgspec.structs.replace(verdict, sentence=Message("serves_before_verdict", n=version.number))
    elif verdict.promote and champion is not None and champion.pinned:
        stays = Message("pinned_model_stays", n=champion.number)
        verdict = msgspec.structs.replace(verdict, sentence=joined([verdict.sentence, stays]))
    version.gate = verdict
    if not verdict.promote and version.state == ModelVersion.State.CHALLENGER:
        version.state = ModelVersion.State.REJECTED
    version.save(update_fields=["gate", "state"])
    audit.record(
        by=None,
        action="model.judge",
        target=version,
        before={"state": before},
        after={"state": version.state, "promote": verdict.promote, "verdict": verdict.sentence},
    )
    return verdict


def pin_version(*, by: User, version: ModelVersion) -> ModelVersion:
    """Pin a version: the gate does not replace it as champion, and retention does not delete it. Raises Forbidden."""
    return _set_pinned(by, version, True)


def unpin_version(*, by: User, version: ModelVersion) -> ModelVersion:
    """Let the gate and the retention policy decide again. Raises Forbidden."""
    return _set_pinned(by, version, False)


@transaction.atomic
def _set_pinned(by: User, version: ModelVersion, pinned: bool) -> ModelVersion:
    require_role(by, version.project, Membership.Role.MANAGER)
    changed = ModelVersion.objects.filter(pk=version.pk, pinned=not pinned).update(pinned=pinned)
    if changed:
        audit.record(
            by=by,
            action="model.pin" if pinned else "model.unpin",
            target=version,
            before={"pinned": not pinned},
            after={"pinned": pinned},
        )
    version.refresh_from_db()
    return version
