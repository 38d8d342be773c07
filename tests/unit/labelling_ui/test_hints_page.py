"""The comparison of hints as a page and over the API, the labels behind it, and the settings."""

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from annotation.models import Annotation, Hint, Lease, Membership, Project
from tests.factories import AnnotationFactory, GenerationFactory, ModelVersionFactory, QueueItemFactory
from tests.unit.labelling_ui.settings_form import as_opened, errors_of


@pytest.fixture
def drawn(empty_project: Project, people: dict[str, User]) -> list[Annotation]:
    """Three labels that agree with the model where it is seen, and three that do not where it is not."""
    generation = GenerationFactory(project=empty_project)
    version = ModelVersionFactory(project=empty_project, number=900)
    person = Membership.objects.get(project=empty_project, user=people["annotator"])
    now, labels = timezone.now(), []
    for shown in (True, False) * 3:
        item = QueueItemFactory(generation=generation)
        lease = Lease.objects.create(
            item=item, solution=item.solution, annotator=person, claimed_at=now, expires_at=now, state="submitted"
        )
        Hint.objects.create(
            lease=lease, model_version=version, scores=[0.9, 0.2, 0.8], verdict=1, share=0.5, reveal="rated",
            shown=shown, drawn_at=now,
        )  # fmt: skip
        labels.append(
            AnnotationFactory(
                solution=item.solution,
                annotator=person,
                lease=lease,
                item=item,
                total_ms=6000,
                first_error=1 if shown else -1,
            )
        )
    return labels


def test_the_arms_stand_beside_each_other_with_the_labels_behind_them(
    client: Client, people: dict[str, User], drawn: list[Annotation]
) -> None:
    client.force_login(people["reviewer"])
    page = client.get("/p/algebra/quality/hints/").content.decode()
    assert "People name the model’s first error more often when they see its scores." in page
    assert "Shown after the step is rated" in page
    assert "+100.0" in page
    assert client.get("/p/algebra/labels/?hint=shown").context["listing"].page.paginator.count == 3
    assert client.get("/p/algebra/labels/?hint=blind").context["listing"].page.paginator.count == 3
    [found] = client.get("/api/v1/projects/algebra/hints/").json()
    assert (found["share"], found["reveal"]) == (0.5, "rated")
    assert found["gaps"]["agrees"]["value"] == 1.0
    assert found["gaps"]["right"] is None
    assert found["hinted"]["pace"]["seconds"] == pytest.approx(3.0)


def test_a_project_without_hints_says_what_to_do(client: Client, people: dict[str, User], project: Project) -> None:
    client.force_login(people["manager"])
    assert "This project shows no hints." in client.get("/p/algebra/quality/hints/").content.decode()
    assert client.get("/api/v1/projects/algebra/hints/").json() == []
    client.force_login(people["annotator"])
    assert client.get("/api/v1/projects/algebra/hints/").status_code == 403


def test_settings_keep_the_hints_and_name_the_field_that_is_wrong(
    client: Client, people: dict[str, User], project: Project
) -> None:
    client.force_login(people["manager"])
    form = as_opened(client, "work")
    client.post(
        "/p/algebra/settings/work/", form | {"hints_share": 0.25, "hints_reveal": "rated", "hints_lanes": ["gold"]}
    )
    project.refresh_from_db()
    hints = project.policies.hints
    assert (hints.share, hints.reveal, hints.lanes, hints.roles) == (0.25, "rated", ["gold"], ["annotator"])
    wrong = client.post("/p/algebra/settings/work/", form | {"hints_share": 0.9})
    assert list(errors_of(wrong)) == ["hints_share"]
