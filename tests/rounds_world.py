"""Projects with labelled sandbox solutions, ready for a round."""

import uuid
from pathlib import Path

import msgspec
import numpy as np
from django.conf import settings
from django.contrib.auth.models import User

from annotation.core.membership.projects import create_project
from annotation.files.record_import import import_records
from annotation.loop.gateway.sandbox import Sandbox
from annotation.loop.gateway.training import read_manifest
from annotation.models import ModelVersion, Project
from prm.formats.record import PathPosition, Rating, Record, RecordAnnotation

QUICK = {"epochs": 2, "heads": 3, "hidden": 8}  # a training that need not learn


def folders(settings, root):
    """Keep what rounds write in a folder of the test's own."""
    settings.STATE_ROOT = root


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


def small_model(folder: Path) -> Path:
    """A real model on the embedded backbone, trained for one epoch on a few solutions: it scores, and badly."""
    from prm.config import TrainConfig
    from prm.sandbox import WorldConfig, generate
    from prm.traces import write_traces
    from prm.training import train

    data = folder.with_suffix(".jsonl")
    data.parent.mkdir(parents=True, exist_ok=True)
    write_traces(data, generate(WorldConfig(), split="pool", n=24, seed=5))
    train(data=data, out=folder, config=TrainConfig(epochs=1, heads=3, hidden=8), report=lambda progress: None)
    return folder


def serving_version(project: Project, number: int = 1, **fields) -> ModelVersion:
    """A small model of a project, registered as its champion."""
    path = f"project-{project.pk}/small-{number}"
    manifest, sha256 = read_manifest(small_model(settings.STATE_ROOT / "models" / path))
    fields = {"state": ModelVersion.State.CHAMPION} | fields
    return ModelVersion.objects.create(
        project=project, number=number, path=path, sha256=sha256, manifest=manifest, **fields
    )


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
