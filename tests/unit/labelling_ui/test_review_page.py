"""A reviewer goes through what waits: side by side, decided by one button, sent back with a reason."""

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from annotation.models import Annotation, Lease, Project, SentBack, Solution
from annotation.quality.review_queue import to_review
from tests.factories import AnnotationFactory, MembershipFactory


@pytest.fixture
def reviewer(client: Client, people: dict[str, User]) -> Client:
    client.force_login(people["reviewer"])
    return client


@pytest.fixture
def split(project: Project) -> Solution:
    """Two people who differ on the first step of it."""
    solution = to_review(project, "disagreement").first()
    assert solution is not None
    return solution


def form(client: Client, solution: Solution) -> dict[str, str]:
    """What the page's form sends with each decision."""
    shown = client.get(f"/p/algebra/review/{solution.pk}/").content.decode()
    return dict(re.findall(r'<input type="hidden" name="(seen|submission_id)" value="([^"]+)">', shown))


def test_disagreements_come_first_with_what_each_said(reviewer: Client, split: Solution, project: Project) -> None:
    shown = reviewer.get("/p/algebra/review/").content.decode()
    rows = re.findall(r"/p/algebra/review/(\d+)/\"", shown)
    assert int(rows[0]) == split.pk
    assert "they differ" in shown
    assert "reference disputed" in shown
    only = reviewer.get("/p/algebra/review/?reason=dispute").content.decode()
    assert "reference disputed" in only
    assert 'aria-current="page">Disputed references <b>1</b>' in only


def test_one_button_decides_and_the_next_one_comes(reviewer: Client, split: Solution, project: Project) -> None:
    label = split.annotations.order_by("pk").first()
    posted = form(reviewer, split) | {"accepts": str(label.pk)}
    answer = reviewer.post(f"/p/algebra/review/{split.pk}/decide/", posted, follow=True)
    decided = Annotation.objects.get(adjudicates=True)
    assert (decided.solution, decided.first_error) == (split, label.first_error)
    told = answer.content.decode()
    assert f"Solution {split.pk} is decided" in told
    assert "Decide anew" in told
    assert answer.redirect_chain[-1][0] != f"/p/algebra/review/{split.pk}/"
    reviewer.post(f"/p/algebra/review/{split.pk}/decide/", posted)
    assert Annotation.objects.filter(adjudicates=True).count() == 1, "the same form again decides nothing anew"


def test_a_reviewers_own_ratings_decide_or_are_told_what_they_lack(reviewer: Client, split: Solution) -> None:
    first, *_ = steps = list(split.steps.filter(alternative=0))
    lacking = form(reviewer, split) | {f"word-{first.pk}": "1"}
    told = reviewer.post(f"/p/algebra/review/{split.pk}/decide/", lacking, follow=True).content.decode()
    assert "neither rated nor marked as unsure" in told
    assert not Annotation.objects.filter(adjudicates=True).exists()
    whole = form(reviewer, split) | {f"word-{step.pk}": "1" for step in steps} | {"comment": "All of it holds."}
    reviewer.post(f"/p/algebra/review/{split.pk}/decide/", whole)
    decided = Annotation.objects.get(adjudicates=True)
    assert (decided.first_error, decided.comment) == (-1, "All of it holds.")


def test_a_label_that_came_meanwhile_is_looked_at_first(reviewer: Client, split: Solution) -> None:
    label = split.annotations.order_by("pk").first()
    posted = form(reviewer, split) | {"accepts": str(label.pk)}
    AnnotationFactory(solution=split, first_error=0, finish_reason="found_error")
    told = reviewer.post(f"/p/algebra/review/{split.pk}/decide/", posted, follow=True).content.decode()
    assert "meanwhile: look at it again" in told
    assert not Annotation.objects.filter(adjudicates=True).exists()


def test_a_label_goes_back_with_its_reason_and_may_be_taken_back(
    reviewer: Client, split: Solution, project: Project
) -> None:
    now, member = timezone.now(), MembershipFactory(project=project)
    lease = Lease.objects.create(
        item=split.queue_items.get(),
        solution=split,
        annotator=member,
        state="submitted",
        claimed_at=now,
        expires_at=now,
    )
    label = AnnotationFactory(solution=split, annotator=member, lease=lease)
    reviewer.post(f"/p/algebra/review/labels/{label.pk}/send-back/", {"why": "Look at step 2 again."})
    sent = SentBack.objects.get()
    assert split not in to_review(project, "disagreement")
    assert "Look at step 2 again." in reviewer.get("/p/algebra/review/").content.decode()
    reviewer.post(f"/p/algebra/review/sent-back/{sent.pk}/take-back/")
    assert split in to_review(project, "disagreement")


def test_answers_bear_the_names_and_colours_of_the_project(reviewer: Client, split: Solution, project: Project) -> None:
    project.scheme |= {"answers": {"bad": {"name": "unsound", "colour": "red"}}, "offer_neutral": False}
    project.save()
    for page in (f"/p/algebra/review/{split.pk}/", f"/p/algebra/solutions/{split.pk}/"):
        shown = reviewer.get(page).content.decode()
        assert 'style="--bad: var(--hue-red)"' in shown
        assert "✗ <small>unsound</small>" in shown
        assert 'title="bad"' not in shown
    assert 'value="-1"' in reviewer.get(f"/p/algebra/review/{split.pk}/").content.decode()
    assert 'title="neutral"' not in reviewer.get(f"/p/algebra/review/{split.pk}/").content.decode()
