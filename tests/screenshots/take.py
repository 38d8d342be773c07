"""Takes the pictures. Not collected with the tests: nothing here can fail but a page that does not come."""

from collections.abc import Callable, Iterator
from itertools import groupby
from typing import Any

import pytest
from playwright.sync_api import Page

from annotation.models import (
    AuditEntry,
    ImportJob,
    JudgingRun,
    Membership,
    Preference,
    SamplingRun,
    ServedScore,
    SimulationRun,
    Snapshot,
    Solution,
)
from tests.screenshots.sheet import Look, picture, wanted, write_sheet
from tests.screenshots.state import State, World
from tests.screenshots.states import STATES
from tests.screenshots.world import make_world

HEIGHT = 800
# Each width begins with the same blank solution, whatever a page that is closed sends at the last moment.
KEEP_NO_DRAFT = """
window.reallySend = window.fetch;
window.fetch = (address, options) =>
  String(address).endsWith("/draft/")
    ? Promise.resolve(Response.json({ version: 1, saved_at: "2026-01-01T00:00:00Z" }))
    : window.reallySend(address, options);
"""
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(scope="session", autouse=True)
def sheet() -> Iterator[None]:
    yield
    write_sheet()


@pytest.fixture
def world() -> World:
    return make_world()


@pytest.mark.parametrize("state", STATES, ids=lambda state: state.name)
def test_take(state: State, world: World, page_for: Callable[..., Page], new_context: Callable[..., Any]) -> None:
    state.given(world)
    if state.who and state.language:
        Preference.objects.update_or_create(user=world[state.who], defaults={"language": state.language})
    for width, looks in groupby(wanted(state.looks), lambda look: look.width):
        size = {"viewport": {"width": width, "height": HEIGHT}}
        page = page_for(world[state.who], **size) if state.who else new_context(**size).new_page()
        page.add_init_script(KEEP_NO_DRAFT)
        page.goto(state.address.format(**_places()))
        state.act(page)
        for look in looks:
            _photograph(page, state, look)
        page.context.close()


def _places() -> dict[str, int | None]:
    """The rows that addresses name, None where the state's world has none."""
    shown = {
        "job": ImportJob.objects,
        "snapshot": Snapshot.objects,
        "solution": Solution.objects,
        "member": Membership.objects.filter(role="annotator", kind="person"),
        "machine": Membership.objects.filter(kind="machine"),
        "sampling": SamplingRun.objects,
        "judging": JudgingRun.objects,
        "simulation": SimulationRun.objects,
        "served": ServedScore.objects,
        "audit": AuditEntry.objects,
    }
    return {name: rows.order_by("pk").values_list("pk", flat=True).first() for name, rows in shown.items()}


def _photograph(page: Page, state: State, look: Look) -> None:
    page.emulate_media(color_scheme=look.theme)
    page.wait_for_load_state("networkidle")
    page.evaluate("document.fonts.ready")
    if state.whole:  # what sticks stands at the end
        height = page.evaluate("document.documentElement.scrollHeight")
        page.set_viewport_size({"width": look.width, "height": max(height, HEIGHT)})
    page.screenshot(path=picture(state.name, look), full_page=state.whole, animations="disabled")
