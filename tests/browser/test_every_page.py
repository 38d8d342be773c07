"""Every page of the site, found by its address, read by axe-core at every width, in both themes and directions."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from annotation.models import Project
from tests import manager_world
from tests.browser.axe import violations
from tests.every_page import addresses

pytestmark = pytest.mark.django_db(transaction=True)

WIDTHS = (400, 768, 1280, 2560)
NO_PAGE = 405  # a form's address


@pytest.fixture
def project(people: dict[str, User]) -> Project:
    people["manager"].set_password("correct horse")  # whoever has none cannot change it
    people["manager"].save()
    project = manager_world.create_empty_project(people)
    manager_world.fill(project, people)
    return project


@pytest.mark.parametrize("half", [0, 1])
def test_every_page_is_accessible_and_fits_every_screen_in_both_themes_and_directions(
    page_for: Callable[..., Page], project: Project, people: dict[str, User], half: int
) -> None:
    """No serious violation of WCAG 2.2 AA, nothing wider than the screen, in the language of the longer words; and
    nothing on them that the policy of contents refuses."""
    page = page_for(people["manager"], locale="de-DE", reduced_motion="reduce")  # axe reads no colour on its way
    refused: list[str] = []
    page.on(
        "console", lambda said: "Content Security Policy" in said.text and refused.append(f"{page.url}: {said.text}")
    )
    found = {address: _faults(page, address) for address in addresses(project)[half::2]}
    found["/nowhere/"] = _faults(page, "/nowhere/", status=404)
    page.context.clear_cookies()
    found["/accounts/login/"] = _faults(page, "/accounts/login/")
    told = [f"{address}: {fault}" for address, faults in found.items() for fault in faults]
    assert not told + refused, "\n".join(told + refused)


def _faults(page: Page, address: str, *, status: int = 200) -> list[str]:
    answer = page.request.get(address, max_redirects=0)
    if answer.status == NO_PAGE or 300 <= answer.status < 400:
        return []
    if answer.status != status:
        return [f"answers {answer.status}"]
    page.goto(address)
    if page.locator("#workbench").count():
        expect(page.locator("#workbench :is(h1, h2)").first).to_be_visible()
    assert page.locator("html").get_attribute("lang") == "de"
    return [wide for width in WIDTHS for wide in _overflow(page, width)] + violations(page)


def _overflow(page: Page, width: int) -> list[str]:
    page.set_viewport_size({"width": width, "height": 900})
    turn = "way => { document.documentElement.dir = way; return document.documentElement.scrollWidth }"
    wide = {way: page.evaluate(turn, way) for way in ("rtl", "ltr")}
    return [f"{pixels} pixels wide at {width}, {way}" for way, pixels in wide.items() if pixels > width]
