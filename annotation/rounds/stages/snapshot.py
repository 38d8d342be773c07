"""Freeze the labels that the round learns from and is measured on."""

from annotation.datasets.snapshots import create_snapshot
from annotation.rounds.work import Outcome, StageWork


def perform(work: StageWork) -> Outcome:
    run = work.run
    if run.snapshot is None:
        # Only the kinds of labels that the policy pools, so that the consensus in the file is the one that trains.
        policy = work.project.policies
        filters = {"source_kinds": policy.training_sources, "consensus": policy.quality.consensus}
        run.snapshot = create_snapshot(by=run.requested_by, project=work.project, filters=filters)
        run.save(update_fields=["snapshot"])
    return Outcome(f"{run.snapshot.counts['solutions']:,} labelled solutions, snapshot {run.snapshot.sha256[:8]}")
