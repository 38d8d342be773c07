"""The workbench while the database stops and starts: it says so, keeps the work, and sends it once."""

import re
import signal
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser.workbench import kept_in_browser
from tests.outage_world import World, outage_world
from tests.waiting import until


@pytest.fixture(scope="module")
def world(front_end: None) -> Iterator[World]:
    with outage_world(4) as world:
        yield world


@pytest.fixture
def context(world: World, browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context(base_url=world.url)
    context.add_cookies([{"name": world.keys["cookie"], "value": world.keys["session"], "url": world.url}])
    yield context
    context.close()


def open_workbench(context: BrowserContext) -> Page:
    page = context.new_page()
    page.goto("/p/outage/label/")
    expect(page.locator("[data-next=in-hand]")).to_be_visible()
    return page


def problem(page: Page) -> Any:
    return page.get_by_role("region", name="Problem")


def test_work_done_while_the_database_is_away_is_saved_once_when_it_is_back(
    world: World, context: BrowserContext
) -> None:
    page = open_workbench(context)
    first = problem(page).inner_text()
    world.die(signal.SIGQUIT)
    page.keyboard.press("e")
    page.keyboard.press("Enter")
    expect(problem(page)).not_to_have_text(first)  # the next one was in hand: the work goes on
    expect(page.get_by_text("not saved yet")).to_be_visible()
    expect(page.get_by_text(re.compile("Your work on 1 solution is stored in this browser"))).to_be_visible()
    page.keyboard.press("1")
    until(lambda: len(kept_in_browser(page)) == 2)  # the submission and the draft are written down
    page.close()
    world.restart()

    page = open_workbench(context)  # what the closed page could not send goes with the next one
    expect(page.locator("[data-saved=saved]")).to_be_visible()
    expect(page.get_by_text("1 today")).to_be_visible()
    expect(page.locator(".shown li.step:nth-child(1)")).to_have_attribute("data-answer", "good")
    assert world.sql("SELECT count(*) FROM annotation_annotation") == 1
    assert world.sql("SELECT count(*) FROM annotation_annotation WHERE counted AND revision = 1") == 1


def test_an_open_page_saves_by_itself_once_the_database_is_back(world: World, context: BrowserContext) -> None:
    before = world.sql("SELECT count(*) FROM annotation_annotation")
    page = open_workbench(context)
    world.die(signal.SIGINT)
    page.keyboard.press("e")
    page.keyboard.press("Enter")
    expect(page.get_by_text("not saved yet")).to_be_visible()
    world.restart()
    expect(page.locator("[data-saved=saved]")).to_be_visible()
    expect(page.get_by_text("The server cannot be reached")).to_have_count(0)
    assert world.sql("SELECT count(*) FROM annotation_annotation") == before + 1
