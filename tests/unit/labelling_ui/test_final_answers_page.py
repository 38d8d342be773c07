"""The page of final answers, the filter of solutions, and the preview of steps."""

import pytest
from django.urls import reverse

from annotation.files.answer_checks import run_answer_check
from annotation.models import AnswerCheck, Membership
from tests.factories import MembershipFactory, SolutionFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def manager(client):
    member = MembershipFactory(role=Membership.Role.MANAGER)
    client.force_login(member.user)
    return member


def test_answers_are_checked_from_the_page_and_disagreements_listed(client, manager):
    SolutionFactory(project=manager.project)
    SolutionFactory(project=manager.project, final_answer_correct=False, outcome_source="given")
    address = reverse("answers", args=[manager.project.slug])
    assert b"1 solution without an outcome" in client.get(address).content
    assert client.post(address).status_code == 302
    check = AnswerCheck.objects.get()
    waiting = client.get(address).content.decode()
    assert "Waiting for a worker" in waiting
    assert 'hx-select="#job"' in waiting
    run_answer_check(check.pk)
    page = client.get(address).content.decode()
    assert 'hx-select="#job"' not in page
    assert "graded 2 correct, 0 wrong, 0 unknown; 1 outcomes changed" in page
    assert "given with the solution" in page


def test_a_check_is_cancelled_from_the_page(client, manager):
    SolutionFactory(project=manager.project)
    client.post(reverse("answers", args=[manager.project.slug]))
    client.post(reverse("job-cancel", args=[manager.project.slug, "answers", AnswerCheck.objects.get().pk]))
    assert AnswerCheck.objects.get().state == "cancelled"


@pytest.mark.parametrize(("outcome", "shown"), [("correct", 0), ("wrong", 1), ("unknown", 2)])
def test_solutions_are_filtered_by_outcome(client, manager, outcome, shown):
    made = [SolutionFactory(project=manager.project, final_answer_correct=known) for known in (True, False, None)]
    page = client.get(reverse("solutions", args=[manager.project.slug]), {"outcome": outcome}).content.decode()
    found = [one.pk for one in made if reverse("solution", args=[manager.project.slug, one.pk]) in page]
    assert found == [made[shown].pk]


def test_a_pasted_text_is_shown_as_its_steps_beside_what_other_rules_make(client, manager):
    address = reverse("import-steps", args=[manager.project.slug])
    text = "Step 1: add.\nIt is 3. It is odd.\nStep 2: halve."
    page = client.post(address, {"text": text, "rule": "automatic"}).content.decode()
    assert page.count('<span class="prose">') == 2
    assert page.count('scope="row"') == 6
    assert "step-cards" not in client.post(address, {"text": "", "rule": "automatic"}).content.decode()
