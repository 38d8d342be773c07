"""Scripts of forms: a double click submits once, times have a zone, and typed text survives."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qs

import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.utils import timezone
from playwright.sync_api import Page, expect

from annotation.models import Dispute, Lease, Project
from tests.factories import AnnotationFactory, MembershipFactory, QueueItemFactory

pytestmark = pytest.mark.django_db(transaction=True)

PRESS_TWICE = "(button) => { button.click(); setTimeout(() => button.click(), 100); }"
PASSWORD = "correct horse battery"


def test_a_double_click_keeps_the_password_that_is_shown_once(open_for: Callable[..., Page], project: Project) -> None:
    page = open_for(User.objects.get(username="manager"))
    page.goto(f"/p/{project.slug}/members/")
    page.get_by_label("User name").fill("newcomer")
    page.get_by_role("button", name="Add to the project").evaluate(PRESS_TWICE)
    expect(page.locator(".secret")).to_be_visible()
    page.wait_for_load_state("networkidle")
    expect(page.locator(".secret")).to_be_visible()


def test_a_rejected_form_keeps_its_values_and_times_are_the_readers(
    open_for: Callable[..., Page], project: Project
) -> None:
    page = open_for(User.objects.get(username="manager"), timezone_id="Asia/Tokyo")
    page.goto(f"/p/{project.slug}/quality/")
    form = page.locator("details", has_text="Exclude other labels")
    form.locator("summary").click()
    form.get_by_label("Annotator", exact=True).select_option(label="annotator")
    form.get_by_label("From", exact=True).fill("2026-11-30T10:00")
    form.get_by_label("To", exact=True).fill("2026-11-29T18:30")
    form.get_by_label("Reason", exact=True).fill("Labelled in a noisy room")
    with page.expect_request(lambda request: request.method == "POST") as sent:
        page.get_by_role("button", name="Set aside").click()
    posted = parse_qs(sent.value.post_data or "")
    assert (posted["since"], posted["until"]) == (["2026-11-30T01:00:00.000Z"], ["2026-11-29T09:30:00.000Z"])
    expect(page.locator(".message.error")).to_contain_text("a start before its end")
    expect(form.get_by_label("Reason", exact=True)).to_have_value("Labelled in a noisy room")
    expect(form.get_by_label("From", exact=True)).to_have_value("2026-11-30T10:00")
    expect(form.get_by_label("Annotator", exact=True)).not_to_have_value("")


def test_enter_in_the_reason_makes_no_decision(open_for: Callable[..., Page], project: Project) -> None:
    """It pressed the first button: a reason why the reference is right declared it wrong."""
    label = AnnotationFactory(solution__project=project)
    dispute = Dispute.objects.create(project=project, annotation=label)
    page = open_for(User.objects.get(username="manager"))
    page.goto(f"/p/{project.slug}/disputes/")
    page.get_by_label("Reason").fill("Checked by hand")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="The reference is right").click()
    expect(page.get_by_text("Your decision is recorded.")).to_be_visible()
    dispute.refresh_from_db()
    assert dispute.state == Dispute.State.DISMISSED


def test_a_text_that_was_left_unsent_returns_in_the_same_tab(
    open_for: Callable[..., Page], project: Project, settings: Any
) -> None:
    """A judge's prompt was lost to the button beside it, which leaves to choose solutions."""
    settings.POLICY_ENDPOINTS = {"judge": {"url": "http://127.0.0.1:1/v1", "model": "judge"}}
    page = open_for(User.objects.get(username="manager"))
    prompt, judging = page.get_by_label("Prompt"), f"/p/{project.slug}/judge/"
    page.goto(judging)
    prompt.fill("Judge {problem} by {steps}")
    page.get_by_role("link", name="Choose solutions").click()
    page.goto(f"{judging}?split=pool")
    expect(prompt).to_have_value("Judge {problem} by {steps}")
    page.goto("/projects/new/")
    page.get_by_text("Pasted text", exact=True).click()
    pasted = page.get_by_label("A problem, a blank line, and its solution")
    pasted.fill("What is 1 + 1?\n\nIt is 2.")
    page.reload()
    expect(pasted).to_have_value("What is 1 + 1?\n\nIt is 2.")
    page.get_by_role("button", name="Create empty").click()
    expect(page.get_by_text("Enter a name")).to_be_visible()
    page.reload()
    expect(pasted).to_have_value("What is 1 + 1?\n\nIt is 2.")
    page.get_by_label("Name").fill("Sums")
    page.get_by_role("button", name="Create empty").click()
    page.wait_for_url("**/p/sums/")
    page.goto("/projects/new/")
    page.get_by_text("Pasted text", exact=True).click()
    expect(pasted).to_have_value("")
    page.goto(judging)
    expect(prompt).not_to_have_value("")


def test_notes_of_a_review_return_in_the_same_tab(open_for: Callable[..., Page], project: Project) -> None:
    """A reload cleared the notes to two annotators and the reason of a dispute's decision."""
    item = QueueItemFactory(generation__project=project)
    labels = []
    for person in (MembershipFactory(project=project) for _ in range(2)):
        lease = Lease(item=item, solution=item.solution, annotator=person, state=Lease.State.SUBMITTED)
        lease.claimed_at = lease.expires_at = timezone.now()
        lease.save()
        labels.append(AnnotationFactory(solution=item.solution, annotator=person, lease=lease))
    Dispute.objects.create(project=project, annotation=labels[0])
    page = open_for(User.objects.get(username="manager"))
    notes = [page.locator(f"#back-{label.pk}") for label in labels]
    reason = page.locator("[name=resolution]")
    page.goto(f"/p/{project.slug}/review/{item.solution_id}/")
    for n, note in enumerate(notes):
        page.locator(".send-back summary").nth(n).click()
        note.fill(f"Look at step {n + 1} again.")
    reason.fill("Checked by hand")
    page.reload()
    for n, note in enumerate(notes):
        expect(note).to_be_visible()
        expect(note).to_have_value(f"Look at step {n + 1} again.")
    expect(reason).to_have_value("Checked by hand")
    reason.press("End")
    page.get_by_role("button", name="The reference is right").click()
    expect(page.get_by_text("Your decision is recorded.")).to_be_visible()
    expect(notes[1]).to_have_value("Look at step 2 again.")


@pytest.mark.parametrize("returns", [True, False], ids=["the same person", "somebody else"])
def test_what_was_typed_outlives_the_session_for_the_same_person(
    open_for: Callable[..., Page], project: Project, returns: bool
) -> None:
    manager, other = User.objects.get(username="manager"), MembershipFactory(project=project, role="manager").user
    for user in (manager, other):
        user.set_password(PASSWORD)
        user.save()
    page: Any = open_for(manager)
    page.goto(f"/p/{project.slug}/settings/guidelines/")
    guidelines = page.get_by_label("Guidelines", exact=True)
    before = guidelines.input_value()
    guidelines.fill("Count again.")
    Session.objects.all().delete()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("You were signed out")).to_be_visible()
    page.get_by_label("User name").fill(manager.username if returns else other.username)
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    expect(guidelines).to_have_value("Count again." if returns else before)
    expect(page.get_by_text("Not saved yet.")).to_be_visible(visible=returns)
    if returns:
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_text("Saved.")).to_be_visible()
        page.reload()
        expect(page.get_by_text("Not saved yet.")).to_be_hidden()


def test_the_days_of_a_list_are_the_readers(open_for: Callable[..., Page], project: Project) -> None:
    page = open_for(User.objects.get(username="manager"), timezone_id="Asia/Tokyo")
    page.goto(f"/p/{project.slug}/labels/")
    evening = datetime(2026, 3, 1, 23, 30, tzinfo=UTC)
    AnnotationFactory(solution__project=project, submitted_at=evening)
    page.get_by_label("Since").fill("2026-03-02")
    page.get_by_label("Until").fill("2026-03-02")
    page.get_by_role("button", name="Filter").click()
    expect(page.locator("#list tbody time")).to_contain_text("Mar 2, 2026")
