"""The demo project that the first start creates (a smaller one)."""

from collections import Counter

import pytest
from django.contrib.auth import authenticate
from django.core.management import call_command

from annotation.management.demo import creation
from annotation.management.demo.demo_accounts import accounts_file
from annotation.models import ModelVersion
from annotation.work.claiming import claim_next
from annotation.work.gold.gold_answers import accuracy_by_person
from tests.library import stay_in_process
from tests.rounds_world import QUICK, folders

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def small(settings, tmp_path, monkeypatch):
    folders(settings, tmp_path)
    stay_in_process(monkeypatch)
    monkeypatch.setattr("annotation.core.jobs._send", lambda task, args, queue: None)
    monkeypatch.setitem(creation.POLICY, "training", QUICK)
    monkeypatch.setattr(creation.create_demo, "__kwdefaults__", {"solutions": 150, "first_budget": 80})


def test_a_newcomer_finds_labels_a_model_and_work_waiting(small, capsys):
    call_command("create_demo")
    said = capsys.readouterr().out
    project = creation.Project.objects.get(slug="demo")

    # Accounts: their passwords work, and only the owner of the installation can read them.
    assert accounts_file().stat().st_mode & 0o777 == 0o600
    passwords = dict(line.split() for line in said.splitlines()[1:] if line.strip())
    roles = dict(project.memberships.filter(kind="person").values_list("user__username", "role"))
    assert roles == {"annotator": "annotator", "reviewer": "reviewer", "manager": "manager"}
    people = {name: authenticate(username=name, password=password) for name, password in passwords.items()}
    assert set(people) == set(roles)
    assert None not in people.values()

    # Labels by simulated annotators, named as such, through the queue.
    simulated = project.memberships.filter(kind="simulated")
    assert all(m.user.username.startswith("simulated-") and not m.user.has_usable_password() for m in simulated)
    labels = project.annotations.filter(annotator__isnull=False)
    assert {label.source.kind for label in labels.select_related("source")} == {"simulated"}
    assert all(label.counted and label.annotator_id for label in labels)
    lanes = Counter(labels.values_list("lane", flat=True))
    assert set(lanes) == {"control", "holdout", "calibration", "overlap", "gold"}
    assert accuracy_by_person(project), "and how well they answer what is known"
    assert project.policies.training_sources == ["human", "simulated"]

    # A round went through; what it made is served or kept with a reason, and work is waiting.
    run = project.training_runs.get()
    assert run.state == "done", run.error
    assert run.model_version.gate.sentence
    assert run.model_version.state in (ModelVersion.State.CHAMPION, ModelVersion.State.REJECTED)
    assert project.generations.get(state="open").run == run
    for person in people.values():
        assert claim_next(by=person, project=project, holding=[]).lease is not None

    # A second time nothing changes.
    before = labels.count(), project.audit_entries.count()
    call_command("create_demo")
    assert capsys.readouterr().out == said
    assert (labels.count(), project.audit_entries.count()) == before
