"""Guidelines have versions, and each label names the one that its annotator had on the screen."""

import pytest
from django.db import IntegrityError, transaction
from django.test import Client

from annotation.core.errors import DomainError
from annotation.core.membership.projects import change_project, create_project
from annotation.models import Annotation, GuidelineVersion, Project
from annotation.work.labelling.adjudication import adjudicate
from tests.factories import GenerationFactory, MembershipFactory, QueueItemFactory, UserFactory
from tests.unit.annotation.work.labelling.test_submission import all_good, claim, expire, submit

pytestmark = pytest.mark.django_db
EXAMPLE = {"rating": "bad", "step": "2 + 2 = 5.", "before": "", "why": "It is 4."}


@pytest.fixture
def generation():
    generation = GenerationFactory(project__guidelines="Be fair.")
    QueueItemFactory.create_batch(3, generation=generation)
    return generation


@pytest.fixture
def annotator(generation):
    return MembershipFactory(project=generation.project)


@pytest.fixture
def write(generation):
    manager = MembershipFactory(project=generation.project, role="manager").user

    def write(text):
        change_project(by=manager, project=generation.project, guidelines=text)

    return write


def stated(annotation):
    return annotation.guidelines and annotation.guidelines.number


def test_a_project_without_guidelines_has_no_version_and_its_first_ones_are_version_1():
    manager = UserFactory(is_staff=True)
    project = create_project(by=manager, name="Algebra", slug="algebra")
    assert (project.current_guidelines.number, project.current_guidelines.text) == (0, "")
    change_project(by=manager, project=project, guidelines="Count.\r\n\r\nTwice.\r\n")
    change_project(by=manager, project=project, guidelines="Count.\n\nTwice.", name="Geometry")
    change_project(by=manager, project=project, examples=[EXAMPLE])
    versions = GuidelineVersion.objects.values_list("number", "text", "examples", "created_by")
    text = "Count.\n\nTwice."
    assert list(versions) == [(2, text, [EXAMPLE], manager.pk), (1, text, [], manager.pk)]
    with pytest.raises(IntegrityError, match="immutable"), transaction.atomic():
        GuidelineVersion.objects.update(text="Count once.")


def test_a_label_states_the_version_that_was_on_the_screen(generation, annotator, write):
    first, second = claim(annotator), None
    write("Be strict.")
    named = all_good(first.solution, first, guidelines=2)
    assert stated(submit(annotator, named).annotation) == 2
    second = claim(annotator)
    older = all_good(second.solution, second, guidelines=1)
    assert stated(submit(annotator, older).annotation) == 1, "the page had not yet fetched the new version"
    assert not submit(annotator, older).created


def test_a_late_submission_has_the_version_that_it_was_claimed_with(generation, annotator, write):
    lease = claim(annotator)
    write("Be strict.")
    expire(lease)
    assert stated(submit(annotator, all_good(lease.solution, lease)).annotation) == 1
    lease = claim(annotator)
    assert stated(submit(annotator, all_good(lease.solution, lease)).annotation) == 2


def test_a_revision_and_a_decision_have_a_version_of_their_own(generation, annotator, write):
    lease = claim(annotator)
    submit(annotator, all_good(lease.solution, lease, guidelines=1))
    write("Be strict.")
    revised = submit(annotator, all_good(lease.solution, lease, guidelines=2, based_on=1)).annotation
    reviewer = MembershipFactory(project=generation.project, role="reviewer")
    decided = adjudicate(
        by=reviewer.user, project=generation.project, submission=all_good(lease.solution), seen=revised.pk
    )
    assert list(Annotation.objects.order_by("pk").values_list("guidelines__number", flat=True)) == [1, 2, 2]
    assert decided.created


def test_a_version_that_the_project_does_not_have_is_refused(generation, annotator):
    lease = claim(annotator)
    with pytest.raises(DomainError, match="no version 7 of its guidelines") as refused:
        submit(annotator, all_good(lease.solution, lease, guidelines=7))
    assert refused.value.extra == {"field": "guidelines"}
    assert not Annotation.objects.exists()
    assert stated(submit(annotator, all_good(lease.solution, lease, guidelines=0)).annotation) is None


def test_the_api_states_the_version_of_a_task_and_lists_all(generation, annotator, write):
    write("Be strict.")
    client = Client()
    client.force_login(annotator.user)
    root = f"/api/v1/projects/{generation.project.slug}"
    project = client.get(f"{root}/").json()
    assert (project["guidelines"], project["guidelines_version"]) == ("Be strict.", 2)
    assert client.get("/api/v1/projects/").json()["results"][0]["guidelines_version"] == 2
    task = client.post(f"{root}/claim/", {}, content_type="application/json").json()["task"]
    assert task["guidelines"] == 2
    lease = annotator.leases.get()
    submit(annotator, all_good(lease.solution, lease))
    assert [label["guidelines"] for label in client.get(f"{root}/labels/").json()["results"]] == [2]
    versions = client.get(f"{root}/guidelines/").json()["results"]
    manager = Project.objects.get().memberships.get(role="manager").user.username
    assert [(row["number"], row["text"], row["created_by"]) for row in versions] == [
        (2, "Be strict.", manager), (1, "Be fair.", None),
    ]  # fmt: skip
