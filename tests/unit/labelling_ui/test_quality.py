"""The Quality page: suspected batches, the labels behind them, and a manager's decisions."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from annotation.labels.consensus.fits import fit_for, scope_of
from annotation.models import ConsensusFit, LabelBatch, Membership, Project
from labelling_ui.numbers import decimal
from tests.unit.labelling_ui.settings_form import as_opened


@pytest.fixture
def batch(project: Project) -> LabelBatch:
    """A suspicion about the one label of an annotator."""
    member = Membership.objects.get(project=project, user__username="annotator")
    now = timezone.now()
    return LabelBatch.objects.create(
        project=project,
        annotator=member,
        since=now - timedelta(hours=1),
        until=now,
        judge="overlap",
        evidence={"judged": 14, "differed": 13, "expected": 3.5, "score": 9.1, "threshold": 7.6},
    )


def test_a_suspected_batch_is_shown_with_its_evidence_and_its_labels(
    client: Client, people: dict[str, User], batch: LabelBatch
) -> None:
    client.force_login(people["manager"])
    overview = client.get("/p/algebra/").content.decode()
    assert "suspected batch of labels" in overview
    page = client.get("/p/algebra/quality/?state=suspected").content.decode()
    assert "13 of 14 comparable labels differ from other people’s labels" in page.replace("&#x27;", "’").replace(
        "people's", "people’s"
    )
    labels = client.get(f"/p/algebra/labels/?batch={batch.pk}").context["listing"]
    assert [label.annotator for label in labels.page] == [batch.annotator]


def test_who_rates_too_fast_is_on_the_overview_with_what_to_do(
    client: Client, people: dict[str, User], batch: LabelBatch
) -> None:
    batch.judge, batch.evidence = "pace", {"labels": 19, "step_ms": 390, "usual_ms": 4000}
    batch.save()
    client.force_login(people["manager"])
    overview = client.get("/p/algebra/").content.decode()
    assert "annotator who rates faster than anyone can read" in overview
    assert f'href="/p/algebra/quality/annotators/{batch.annotator_id}/"' in overview
    assert f'href="/p/algebra/labels/?batch={batch.pk}"' in overview
    assert "Other people take 4 s per step." in overview
    page = client.get("/p/algebra/quality/?state=suspected").content.decode()
    assert "19 recent labels took a median of 390 ms per step. Other people take 4 s per step." in page


def test_a_manager_sets_it_aside_and_takes_it_back(client: Client, people: dict[str, User], batch: LabelBatch) -> None:
    client.force_login(people["manager"])
    address = f"/p/algebra/quality/{batch.pk}/decide/"
    client.post(address, {"decision": "set_aside", "reason": "a script"})
    batch.refresh_from_db()
    assert (batch.state, batch.reason, batch.decided_by) == ("set_aside", "a script", people["manager"])
    assert "suspected batches" not in client.get("/p/algebra/").content.decode()
    client.post(address, {"decision": "resume"})
    batch.refresh_from_db()
    assert batch.state == "in_use"


def test_a_reviewer_looks_and_does_not_decide(client: Client, people: dict[str, User], batch: LabelBatch) -> None:
    client.force_login(people["reviewer"])
    assert "batch-decide" not in client.get("/p/algebra/quality/").content.decode()
    assert client.post(f"/p/algebra/quality/{batch.pk}/decide/", {"decision": "set_aside"}).status_code == 403
    batch.refresh_from_db()
    assert batch.state == "suspected"


def test_a_manager_sets_aside_what_no_alarm_has_named(
    client: Client, people: dict[str, User], project: Project
) -> None:
    client.force_login(people["manager"])
    member = Membership.objects.get(project=project, user__username="annotator")
    now = timezone.now()
    form = {"annotator": member.pk, "since": now - timedelta(hours=1), "until": now + timedelta(minutes=1)}
    client.post("/p/algebra/quality/set-aside/", form | {"reason": ""})
    assert not LabelBatch.objects.exists()
    client.post("/p/algebra/quality/set-aside/", form | {"reason": "left the company"})
    assert LabelBatch.objects.get().state == "set_aside"
    labels = client.get("/p/algebra/labels/").context["table"].page.object_list
    assert {label.set_aside for label in labels if label.annotator == member} == {True}
    assert {label.set_aside for label in labels if label.annotator != member} == {False}


def test_reliability_is_shown_where_people_share_steps(
    client: Client, people: dict[str, User], project: Project
) -> None:
    client.force_login(people["reviewer"])
    assert "This needs a <a" in client.get("/p/algebra/quality/").content.decode()
    fit_for(by=None, project=project, scope=scope_of(project))
    page = client.get("/p/algebra/quality/")
    shown = {row.shown: row for row in page.context["people"]}
    assert set(shown) == {"annotator", "second"}
    measured = shown["second"].reliability
    assert measured.labels > 0
    assert f"{decimal(measured.low, 2)} … {decimal(measured.high, 2)}" in page.content.decode()
    assert measured.high - measured.low > 0.5  # three steps show little


def test_settings_keep_how_labels_are_watched(client: Client, people: dict[str, User], project: Project) -> None:
    project.policy["quality"] = {"hold_rounds": True, "labels_between_false_alarms": 500}
    project.save()
    client.force_login(people["manager"])
    client.post("/p/algebra/settings/quality/", as_opened(client, "quality"))
    project.refresh_from_db()
    assert project.policies.quality.hold_rounds is True
    assert project.policies.quality.labels_between_false_alarms == 500


@pytest.mark.parametrize(
    ("method", "shown"),
    [("reliability", "danach, wie verlässlich jede Person ist"), ("of_a_removed_package", "of_a_removed_package")],
)
def test_a_fit_names_its_method_in_the_language_of_the_reader(manager, project, method, shown):
    ConsensusFit.objects.create(project=project, number=1, method=method)
    for page in ("consensus/", "consensus/1/"):
        body = manager.get(f"/p/algebra/{page}", headers={"Accept-Language": "de"}).content.decode()
        assert shown in body
        assert ">reliability<" not in body
        assert "· reliability ·" not in body
