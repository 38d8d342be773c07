"""The settings in a real browser: each page is saved alone, and asks before it is left with unsaved changes."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Dialog, Page, expect

from tests.factories import MembershipFactory

pytestmark = pytest.mark.django_db(transaction=True)


def test_what_is_unsaved_is_asked_about_and_what_is_saved_is_not(open_for: Callable[..., Page]) -> None:
    manager = MembershipFactory(role="manager")
    page, asked = open_for(manager.user), []

    def stay(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.dismiss()

    page.on("dialog", stay)
    page.goto(f"/p/{manager.project.slug}/settings/")
    page.get_by_role("link", name="Guidelines").click()
    note = page.get_by_text("Not saved yet.")
    expect(note).to_be_hidden()
    page.get_by_label("Guidelines").fill("Count again.")
    expect(note).to_be_visible()
    with page.expect_event("dialog"):
        page.get_by_role("link", name="Labelling scheme").click()
    expect(page.get_by_label("Guidelines")).to_have_value("Count again.")
    assert asked == ["beforeunload"]

    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved.")).to_be_visible()
    expect(note).to_be_hidden()
    page.get_by_role("link", name="Labelling scheme").click()
    expect(page.get_by_role("heading", name="Rating")).to_be_visible()
    assert asked == ["beforeunload"]


def test_the_groups_of_pages_are_gone_through_by_keyboard(open_for: Callable[..., Page]) -> None:
    manager = MembershipFactory(role="manager")
    page = open_for(manager.user, viewport={"width": 400, "height": 800})
    page.goto(f"/p/{manager.project.slug}/")
    groups = page.get_by_role("navigation", name="Pages of this project")
    expect(groups.get_by_role("link", name="Overview")).to_have_attribute("aria-current", "page")
    groups.get_by_role("link", name="Model", exact=True).press("Enter")
    expect(page.get_by_role("heading", name="Models", level=1)).to_be_visible()
    expect(groups.get_by_role("link", name="Model", exact=True)).to_have_attribute("aria-current", "true")
    pages = page.get_by_role("navigation", name="Model", exact=True)
    expect(pages.get_by_role("link", name="Models")).to_have_attribute("aria-current", "page")
    pages.get_by_role("link", name="Learning").press("Enter")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Active learning")
    expect(groups.get_by_role("link", name="Model", exact=True)).to_be_in_viewport()
