"""A text with a NUL, which PostgreSQL cannot store: the page says so and changes nothing."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from annotation.models import Dispute, Lease, Membership, Project, SentBack
from tests.factories import AnnotationFactory, MembershipFactory
from tests.unit.labelling_ui.settings_form import as_opened, errors_of

pytestmark = pytest.mark.usefixtures("project")
REFUSED = "A text contains a NUL"


def test_a_label_is_not_sent_back(manager: Client, project: Project) -> None:
    item, member, now = project.queue_items.first(), MembershipFactory(project=project), timezone.now()
    assert item is not None
    lease = Lease.objects.create(
        item=item, solution=item.solution, annotator=member, state="submitted", claimed_at=now, expires_at=now
    )
    label = AnnotationFactory(solution=item.solution, annotator=member, lease=lease)
    answer = manager.post(f"/p/algebra/review/labels/{label.pk}/send-back/", {"why": "Step\x00 2"}, follow=True)
    assert REFUSED in answer.content.decode()
    assert not SentBack.objects.exists()


def test_no_other_text_of_a_page_is_stored(manager: Client, project: Project) -> None:
    dispute = Dispute.objects.filter(annotation__project=project).first()
    member = Membership.objects.get(project=project, user__username="annotator")
    assert dispute is not None
    sent = [
        (f"disputes/{dispute.pk}/decide/", {"decision": "uphold", "resolution": "a\x00"}),
        (f"members/{member.pk}/screen/", {"outcome": "failed", "reason": "a\x00"}),
        ("models/1/domain/", {"domain": "a\x00"}),
    ]
    for address, form in sent:
        answer = manager.post(f"/p/algebra/{address}", form, follow=True)
        assert REFUSED in answer.content.decode(), address


def test_a_new_project_does_not_start_with_it(manager: Client, project: Project) -> None:
    file = SimpleUploadedFile("a.csv", b"q,s,l\n1,2,0\n4,5,0\n")
    columns = {"column": ["q", "s", "l"], "holds": ["problem", "steps_text", "first_error"], "name-2": "judge\x00"}
    answer = manager.post("/projects/new/", {"source": "file", "name": "Own", "file": file, **columns})
    assert REFUSED in answer.content.decode()
    assert not Project.objects.filter(name="Own").exists()


def test_a_training_option_is_refused_at_its_field(manager: Client) -> None:
    form = as_opened(manager, "training") | {"training": '{"separator": "a\\u0000"}'}
    errors = errors_of(manager.post("/p/algebra/settings/training/", form))
    assert REFUSED in errors["training"][0]
