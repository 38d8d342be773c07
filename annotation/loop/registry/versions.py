"""A version's own record: how it came, what the gate said of it, whether it is pinned."""

from typing import Any

import msgspec
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Max

from annotation.core import audit
from annotation.core.membership.access import require_role
from annotation.loop.registry.champions import champion_of
from annotation.models import Membership, ModelVersion, Project, TrainingRun
from annotation.models.model_version import Verdict
from prm.messages import Message, joined


@transaction.atomic
def register_version(*, run: TrainingRun, path: str, sha256: str, manifest: dict[str, Any]) -> ModelVersion:
    """Make the run's model a challenger; a second call returns the one that is there.

    `path` is relative to the folder of models; `sha256` is that of the weights.
    """
    if run.model_version is not None:
        return run.model_version
    Project.objects.select_for_update(no_key=True).get(pk=run.project_id)
    version = ModelVersion.objects.create(
        project=run.project,
        number=next_number(run.project),
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


def next_number(project: Project) -> int:
    """The number of the project's next version; the caller holds the project's row."""
    return (project.model_versions.aggregate(last=Max("number"))["last"] or 0) + 1


@transaction.atomic
def record_verdict(*, version: ModelVersion, verdict: Verdict) -> Verdict:
    """Store the gate's verdict on a challenger, and return it; a challenger that is kept back is rejected.

    A pinned champion stays whatever the gate decides, and the stored sentence then says so.
    """
    champion = champion_of(version.project)
    if verdict.promote and champion is not None and champion != version and champion.pinned:
        stays = Message("pinned_model_stays", n=champion.number)
        verdict = msgspec.structs.replace(verdict, sentence=joined([verdict.sentence, stays]))
    before = version.state
    version.gate = verdict
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
    return verdict


def pin_version(*, by: User, version: ModelVersion) -> ModelVersion:
    """Keep a version: the gate does not replace it while it serves, retention never deletes it. Raises Forbidden."""
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
            project=version.project,
            before={"pinned": not pinned},
            after={"pinned": pinned},
        )
    version.refresh_from_db()
    return version
