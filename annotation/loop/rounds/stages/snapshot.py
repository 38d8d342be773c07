"""Freezes the labels that the round trains on and is measured on."""

from typing import Any

import msgspec

from annotation.core.stages import Outcome
from annotation.labels.datasets.snapshots import create_snapshot
from annotation.loop.gateway.training import learns_from_estimates, learns_from_grades
from annotation.loop.rounds.work import StageWork
from prm.messages import Message


def perform(work: StageWork) -> Outcome:
    run = work.run
    if run.snapshot is None:
        # Only the sources that the policy pools, so that training uses the consensus of the file.
        policy = work.project.policies
        filters: dict[str, Any] = {"source_kinds": policy.training_sources, "consensus": policy.quality.consensus}
        if learns_from_grades(policy):
            filters["graded"] = policy.graded_solutions
        if learns_from_estimates(policy):
            filters["estimates"] = policy.graded_solutions
        if policy.training_agreement:
            only_training = msgspec.structs.replace(policy.training_agreement, splits=["pool"])
            filters["agreement"] = msgspec.to_builtins(only_training)
        run.snapshot = create_snapshot(by=run.requested_by, project=work.project, filters=filters)
        run.save(update_fields=["snapshot"])
    return Outcome(Message("snapshot_frozen", n=run.snapshot.counts["solutions"], sha256=run.snapshot.sha256[:8]))
