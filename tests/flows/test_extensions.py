"""A package outside adds what the guide shows, by the guide's own examples.

For an audit see `audits/test_report.py`.
"""

import io
import json
import re
from pathlib import Path

import numpy as np
import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotation.files.record_import import import_records
from annotation.labels.datasets.plans import plan_export
from annotation.labels.datasets.snapshots import create_snapshot, read_snapshot
from annotation.loop.selection.ranking import acquisition_of
from annotation.models import Project, Step
from prm.acquisition import FUNCTIONS, UNKNOWN, CostModel, Pool, rank_pool
from prm.consensus import CONSENSUS
from prm.exporters import EXPORTERS
from prm.formats.detection import detect
from prm.formats.record import Record
from prm.formats.registry import FORMATS
from tests import manager_world
from tests.plugins.extensions import InstallExtension

GUIDE = (Path(__file__).parents[2] / "docs" / "reference" / "extending.md").read_text()
EXAMPLES = dict(re.findall(r"^## (.*?)\n.*?^```python\n(.*?)^```", GUIDE, re.M | re.S))


@pytest.fixture
def people(db: None) -> dict[str, User]:
    return manager_world.create_people()


@pytest.fixture
def project(people: dict[str, User]) -> Project:
    return manager_world.create_empty_project(people)


@pytest.fixture
def manager(client: Client, people: dict[str, User]) -> Client:
    client.force_login(people["manager"])
    return client


def test_an_acquisition_function_is_chosen_in_the_policy_and_ranks(
    install_extension: InstallExtension, manager: Client, project: Project
) -> None:
    settings = f"/p/{project.slug}/settings/queue/"
    url = f"/api/v1/projects/{project.slug}/"
    refused = manager.patch(url, {"policy": {"acquisition": "doubt"}}, content_type="application/json")
    assert refused.status_code == 400
    assert "There is no acquisition function 'doubt'. Choose one of: random, " in refused.json()["message"]
    install_extension("doubtful", EXAMPLES["An acquisition function"], FUNCTIONS)
    answer = manager.patch(url, {"policy": {"acquisition": "doubt"}}, content_type="application/json")
    assert answer.status_code == 200, answer.content
    project = Project.objects.get(pk=project.pk)
    name = acquisition_of(project)
    assert name == "doubt"
    assert b"steps near one half" in manager.get(settings).content
    heads = np.array([[0.5], [0.99], [0.9]])
    pool = Pool(np.arange(3), np.zeros(3, int), np.ones(3, int), heads, np.full(3, 9), np.full(3, UNKNOWN), None)
    drawn = rank_pool(name, pool, budget=3, cost=CostModel(), rng=np.random.default_rng(0))
    assert drawn.gain.tolist() == pytest.approx([1.0, 0.2, 0.02])


def test_an_exporter_is_on_the_page_in_the_plan_and_in_the_api(
    install_extension: InstallExtension, manager: Client, project: Project, people: dict[str, User]
) -> None:
    manager_world.fill(project, people)
    snapshot = create_snapshot(by=people["manager"], project=project, filters={"source_kinds": ["human"]})
    download = f"/p/{project.slug}/datasets/{snapshot.pk}/brief/"
    assert manager.get(download).status_code == 404
    install_extension("brief_export", EXAMPLES["An exporter"], EXPORTERS)
    assert b"One line each" in manager.get(f"/p/{project.slug}/datasets/{snapshot.pk}/").content
    plan = plan_export(snapshot, "brief")
    assert plan.splits == ("pool",)  # a line does not say its split
    by_page, by_api = manager.get(download), manager.get(f"/api/v1/snapshots/{snapshot.pk}/download/?format=brief")
    lines = b"".join(by_page).decode().splitlines()
    assert len(lines) == plan.solutions > 0
    assert all(line.endswith("steps, neutral is positive") for line in lines)
    assert b"".join(by_api).decode().splitlines() == lines
    assert by_api.headers["Content-Disposition"].endswith('-brief.txt"')


def test_a_consensus_model_is_chosen_in_the_policy_and_weighs_a_snapshot(
    install_extension: InstallExtension, manager: Client, project: Project, people: dict[str, User]
) -> None:
    manager_world.fill(project, people)
    url = f"/api/v1/projects/{project.slug}/"
    wanted = {"policy": {"quality": {"consensus": "severe"}}}
    refused = manager.patch(url, wanted, content_type="application/json")
    assert (
        "There is no consensus model 'severe'. Choose one of: reliability, mace, shares." in refused.json()["message"]
    )
    install_extension("severity", EXAMPLES["A consensus model"], CONSENSUS)
    assert manager.patch(url, wanted, content_type="application/json").status_code == 200
    assert b"by the most severe word" in manager.get(f"/p/{project.slug}/settings/quality/").content
    snapshot = create_snapshot(by=people["manager"], project=project, filters={"consensus": "severe"})
    steps = [step for record in read_snapshot(snapshot) for step in record.consensus if not step.adjudicated]
    assert {(step.good, step.bad) for step in steps} == {(1.0, 0.0), (0.0, 1.0)}
    assert all(label.reliability is None for record in read_snapshot(snapshot) for label in record.annotations)


def test_a_format_is_recognised_imported_and_written(
    install_extension: InstallExtension, project: Project, people: dict[str, User]
) -> None:
    install_extension("riddle_format", EXAMPLES["A file format"], FORMATS)
    file = b'{"riddle": "What is 2 + 2?", "thoughts": ["Two and two.", "Four."]}\n'
    assert detect(io.BytesIO(file), "riddles.jsonl") == "riddles"
    read = FORMATS.get("riddles")
    records = [record for _, record in read.read(io.BytesIO(file)) if isinstance(record, Record)]
    assert import_records(project=project, records=records, by=people["manager"]).accepted == 1
    assert [step.text for step in Step.objects.order_by("position")] == ["Two and two.", "Four."]
    assert json.loads(b"".join(read.write(records))) == json.loads(file)
