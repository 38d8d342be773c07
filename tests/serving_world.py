"""A trained model that serves a project, cheap enough to have in many tests."""

import shutil
from functools import lru_cache
from pathlib import Path

import msgspec
from django.conf import settings
from django.contrib.auth.models import User
from django.utils import timezone
from rest_framework.test import APIClient

from annotation.core.membership.projects import create_project
from annotation.core.membership.tokens import issue_token
from annotation.loop import registry
from annotation.loop.gateway.training import read_manifest
from annotation.models import ModelVersion, Project, Snapshot
from annotation.serving import request_queue
from config.env import VAR_DIR

CHOICES = {"epochs": 2, "heads": 4, "hidden": 16}
PROBLEM = "What is 2 plus 2, times 3?"
STEPS = ["2 + 2 = 4", "4 * 3 = 12", "The answer is 12."]


@lru_cache(maxsize=4)
def trained_folder(seed: int = 0, features: tuple[str, ...] = ()) -> Path:
    """A small model of the sandbox world, trained once a test run."""
    from prm.config import TrainConfig
    from prm.sandbox.world import WorldConfig, generate
    from prm.traces import write_traces
    from prm.training import train

    folder = VAR_DIR / "serving-models" / "-".join([str(seed), *features])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    data = folder / "train.jsonl"
    traces = [
        trace
        for split, n in (("pool", 120), ("calibration", 60))
        for trace in generate(WorldConfig(), split=split, n=n, seed=seed)
    ]
    write_traces(data, traces)
    chosen = {"features": list(features)} if features else {}
    config = msgspec.convert({"seed": seed, **CHOICES, **chosen}, TrainConfig)
    train(data=data, out=folder / "model", config=config, report=lambda progress: None)
    return folder / "model"


def served_project(by: User, *, slug: str = "served", versions: int = 1, **policy: object) -> Project:
    """A project with that many model versions, the first of which is the champion; all may answer programs."""
    project = create_project(by=by, name="Served", slug=slug, policy=policy)
    for number in range(1, versions + 1):
        add_version(project, number)
    registry.crown(by=None, version=project.model_versions.get(number=1), reason="first")
    return project


def add_version(project: Project, number: int, *, seed: int = 0, features: tuple[str, ...] = ()) -> ModelVersion:
    """A version of the project with weights of its own on disk."""
    path = f"project-{project.pk}/run-{number}"
    folder = settings.STATE_ROOT / "models" / path
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(trained_folder(seed, features), folder)
    manifest, sha256 = read_manifest(folder)
    snapshot = Snapshot.objects.create(project=project, sha256=f"{number:064x}", path="none")
    return ModelVersion.objects.create(
        project=project,
        number=number,
        path=path,
        sha256=sha256,
        manifest=manifest,
        snapshot=snapshot,
        confirmed_at=timezone.now(),
    )


def program_of(user: User) -> APIClient:
    """A program of this person's, with a token of its own."""
    client = APIClient()
    _, secret = issue_token(by=user, name="program")
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {secret}")
    return client


def count_waiting() -> int:
    """The number of scoring requests that no worker has answered."""
    return int(request_queue.redis_client().xlen(request_queue.STREAM))
