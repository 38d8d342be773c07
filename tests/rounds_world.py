"""Projects with labelled sandbox solutions, ready for a round."""

import uuid

import msgspec
import numpy as np
from django.contrib.auth.models import User

from annotation.formats.record import PathPosition, Rating, Record, RecordAnnotation
from annotation.intake.records import import_records
from annotation.membership.projects import create_project
from annotation.models import Project
from annotation.rounds.gateway.sandbox import Sandbox


def folders(settings, root):
    """Keep what rounds write in a folder of the test's own."""
    settings.STATE_ROOT = root
    settings.MODEL_ROOT, settings.RUN_ROOT, settings.SNAPSHOT_ROOT = root / "models", root / "runs", root / "snapshots"


def labelled_project(
    by: User, *, labelled: int = 90, unlabelled: int = 40, profile: str = "careful", seed: int = 0, **policy
) -> Project:
    """A project of `labelled` sandbox solutions with a careful person's labels, and `unlabelled` without."""
    project = create_project(
        by=by,
        name="Rounds",
        slug=f"rounds-{uuid.uuid4().hex[:8]}",
        policy={"generation_budget": 30, "gate_min_holdout": 5, **policy},
    )
    sandbox = Sandbox(solutions=labelled + unlabelled, seed=seed)
    rng = np.random.default_rng(seed)
    records = list(sandbox.records())
    # One of each problem's solutions after the other would leave whole problems unlabelled: mix them.
    order = rng.permutation(len(records))
    taken = [records[i] for i in order]
    for record in taken[:labelled]:
        record.annotations = [_labels(record, sandbox, profile, rng)]
    import_records(project=project, records=taken, by=by)
    return project


def _labels(record: Record, sandbox: Sandbox, profile: str, rng: np.random.Generator) -> RecordAnnotation:
    reading = sandbox.read(record.external_id, profile=profile, rng=rng)
    path = [
        PathPosition(
            position=position,
            chosen=None if read.rating == -1 else 0,
            dwell_ms=read.dwell_ms,
            ratings=[Rating(alternative=0, state=read.state, rating=read.rating)],
        )
        for position, read in enumerate(reading.steps)
    ]
    return msgspec.convert(
        {
            "source_kind": "human",
            "source_name": "a labeller",
            "finish_reason": reading.finish_reason,
            "first_error": reading.first_error,
            "path": msgspec.to_builtins(path),
        },
        RecordAnnotation,
    )
