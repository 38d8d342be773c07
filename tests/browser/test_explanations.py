"""A term's definition appears beside it on hover and on keyboard focus."""

import re
from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from labelling_ui.glossary import TERMS
from tests import manager_world
from tests.factories import GenerationFactory, MembershipFactory, ProjectFactory, QueueItemFactory

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_word_is_explained_under_the_pointer_and_the_keyboard(page_for: Callable[..., Page]) -> None:
    people = manager_world.create_people()
    project = manager_world.create_empty_project(people)
    manager_world.fill(project, people)
    manager: User = people["manager"]
    page = page_for(manager, viewport={"width": 400, "height": 800})
    page.goto("/p/algebra/")
    word, tip = page.get_by_role("link", name="Champion’s holdout F1"), page.locator(".tip")
    word.hover()
    expect(tip).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.keyboard.press("Escape")
    expect(tip).to_be_hidden()
    word.focus()
    expect(tip).to_have_text(
        "How well the serving model finds first errors on the holdout, in hundredths; 100 is perfect."
    )
    expect(word).to_have_accessible_description(tip.inner_text())
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/glossary/#champion$"))
    expect(page.locator("#champion")).to_contain_text(str(TERMS["champion"].definition))


def test_the_workbench_links_its_terms(page_for: Callable[..., Page]) -> None:
    project = ProjectFactory()
    QueueItemFactory(generation=GenerationFactory(project=project), solution__problem__reference_answer="4")
    page = page_for(MembershipFactory(project=project).user, viewport={"width": 1280, "height": 900})
    page.goto(f"/p/{project.slug}/label/")
    expect(page.get_by_role("list", name="Solution")).to_be_visible()  # no layout moves under the pointer after it
    word, tip = (
        page.get_by_role("region", name="Guidelines").get_by_role("link", name="First error"),
        page.locator(".tip"),
    )
    word.hover()
    expect(tip).to_be_visible()
    expect(tip).to_have_text(str(TERMS["first_error"].definition))
    expect(word).to_have_accessible_description(tip.inner_text())
    expect(page.get_by_role("link", name="Reference answer")).to_have_attribute("href", "/glossary/#reference")
    with page.context.expect_page() as opened:
        word.click()
    expect(opened.value.locator("#first_error")).to_contain_text(str(TERMS["first_error"].definition))
