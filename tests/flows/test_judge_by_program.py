"""The program of the guide for ML engineers runs as it is printed, against a live server with workers."""

import os
import re
import subprocess
import sys

import msgspec

from annotation.core.membership.tokens import issue_token
from annotation.models import Annotation, Project, QueueItem, TrainingRun, WebhookDelivery
from config.env import BASE_DIR
from prm.formats.record import Record
from tests.factories import UserFactory

GUIDE = (BASE_DIR / "docs" / "guides" / "ml-engineer.md").read_text()
MOST_LINES = 50


def test_the_judge_of_the_guide_creates_labels_trains_and_exports(celery_workers, live_server, tmp_path):
    [program] = re.findall(r"^## A judge by program\n.*?^```python\n(.*?)^```", GUIDE, re.MULTILINE | re.DOTALL)
    assert len(program.splitlines()) <= MOST_LINES
    scopes = ("read", "train", "export", "admin")
    _token, secret = issue_token(by=UserFactory(is_staff=True), name="manager", scopes=scopes)
    named = {"PYTHONPATH": str(BASE_DIR), "STEPMARK_URL": live_server.url, "STEPMARK_TOKEN": secret}
    program = f"import random; random.seed(1)\n{program}"  # the split of a problem depends on its numbers
    outcome = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=os.environ | named, capture_output=True, text=True
    )
    assert outcome.returncode == 0, outcome.stderr
    run = TrainingRun.objects.get()
    consensus, event = outcome.stdout.splitlines()
    errors = Annotation.objects.filter(first_error__gte=0).count()
    assert consensus == f"The consensus has {errors} wrong steps."
    assert errors > 0
    assert event.startswith("run.done Model 1 is promoted without a measurement")
    assert run.state == TrainingRun.State.DONE
    project = Project.objects.get()
    labelled = Annotation.objects.filter(project=project)
    # A generation takes at most its share of the calibration and holdout solutions, which are drawn by their text.
    first = QueueItem.objects.filter(generation__project=project, generation__number=0)
    assert labelled.count() == first.filter(lane__in=["control", "acquisition"]).count() > 40
    assert set(labelled.values_list("source__kind", "source__name", "annotator__kind")) == {
        ("model_judge", "sum-checker, prompt 1", "machine")
    }
    assert (WebhookDelivery.objects.get().state, WebhookDelivery.objects.get().status) == ("delivered", 204)
    exported = (tmp_path / "labels.jsonl").read_bytes().splitlines()
    assert len([msgspec.json.decode(line, type=Record) for line in exported]) == labelled.count()
