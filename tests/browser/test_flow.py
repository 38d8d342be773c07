"""The flow of work in the workbench: offline, signed out, idle, on a break, and when the lease runs out.

To let time pass, a test sets the page's clock forward.
"""

import os
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import BrowserType, Error, Page, expect

from annotation.models import Annotation, Lease, Membership, Project
from tests.browser.workbench import (
    kept_in_browser,
    next_in_hand,
    open_workbench,
    problem_of,
    saved,
    step,
)
from tests.factories import GenerationFactory, MembershipFactory, QueueItemFactory
from tests.plugins.browser import WAIT_MS
from tests.waiting import until

pytestmark = pytest.mark.django_db(transaction=True)

DEPTH = 3
MINUTE_MS = 60_000
JOURNAL = "Object.entries(localStorage).some(([key, text]) => key.startsWith('stepmark:') && text !== '')"


@pytest.fixture
def project() -> Project:
    """Five solutions of three steps each, in the order 1 to 5; three are prefetched."""
    policy = {"queue": {"prefetch_depth": DEPTH, "lease_minutes": 30}, "pace": {"idle_seconds": 120}}
    generation = GenerationFactory(project__policy=policy)
    for number in range(1, 6):
        text, steps = f"Problem {number}: what is ${number}+2$?", ["One.", "Two.", "Three."]
        QueueItemFactory(generation=generation, rank=number, solution__problem__text=text, solution__steps=steps)
    return generation.project


@pytest.fixture
def annotator(project: Project) -> User:
    return MembershipFactory(project=project, role=Membership.Role.ANNOTATOR).user


@pytest.fixture
def workbench(open_for: Callable[..., Page], project: Project, annotator: User) -> Page:
    """The workbench with the first problem open, on a clock that the test may set forward."""
    page = open_for(annotator)
    page.clock.install()
    open_workbench(page, project)
    return page


def kill_browser_of(profile: Path) -> None:
    """Kill all its processes at once, as an empty battery would."""
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # gone meanwhile
            if f"--user-data-dir={profile}" in (process / "cmdline").read_text().split("\0"):
                os.kill(int(process.name), signal.SIGKILL)


def label(page: Page, problem: int) -> None:
    expect(problem_of(page)).to_contain_text(f"Problem {problem}:")
    page.keyboard.press("e")
    page.keyboard.press("Enter")


def test_a_minute_without_network_stops_nobody_and_loses_nothing(workbench: Page) -> None:
    until(lambda: Lease.objects.count() == 1 + DEPTH)
    expect(next_in_hand(workbench)).to_be_visible()
    workbench.context.set_offline(True)
    for problem in (1, 2, 3):
        label(workbench, problem)
    workbench.clock.fast_forward(MINUTE_MS)
    expect(workbench.get_by_text("Your work on 3 solutions is stored in this browser")).to_be_visible()
    until(lambda: len(kept_in_browser(workbench)) == 3)
    workbench.keyboard.press("2")
    workbench.context.set_offline(False)
    expect(workbench.get_by_text("3 today")).to_be_visible()
    expect(saved(workbench)).to_be_visible()
    expect(problem_of(workbench)).to_contain_text("Problem 4:")
    expect(step(workbench, 1)).to_have_attribute("data-answer", "neutral")
    assert list(Annotation.objects.values_list("revision", flat=True)) == [1, 1, 1]


def test_a_skip_needs_no_network_and_outlives_the_page(workbench: Page, project: Project) -> None:
    until(lambda: Lease.objects.count() == 1 + DEPTH)
    expect(next_in_hand(workbench)).to_be_visible()
    workbench.context.set_offline(True)
    workbench.keyboard.press("s")
    workbench.keyboard.type("I know its author")
    workbench.keyboard.press("Enter")
    label(workbench, 2)
    workbench.keyboard.press("s")
    workbench.get_by_role("button", name="Not my subject").click()
    expect(problem_of(workbench)).to_contain_text("Problem 4:")
    until(lambda: len(kept_in_browser(workbench)) == 3)
    context = workbench.context
    workbench.close()
    context.set_offline(False)
    reopened = context.new_page()
    open_workbench(reopened, project, problem=4)
    expect(reopened.get_by_text("1 today")).to_be_visible()
    expect(saved(reopened)).to_be_visible()
    until(lambda: not kept_in_browser(reopened))
    ended = Lease.objects.exclude(state=Lease.State.ACTIVE).order_by("ended_at").values_list("state", "reason")
    assert list(ended) == [("released", "I know its author"), ("submitted", ""), ("released", "Not my subject")]


def test_whoever_is_signed_out_signs_in_beside_the_work_and_all_of_it_is_sent(workbench: Page, annotator: User) -> None:
    expect(next_in_hand(workbench)).to_be_visible()  # before the new password signs the page out
    annotator.set_password("one-two-buckle")
    annotator.save()
    workbench.context.clear_cookies()
    label(workbench, 1)
    workbench.keyboard.press("2")
    expect(workbench.get_by_text("not saved yet")).to_be_visible()
    with workbench.context.expect_page() as opened:
        workbench.get_by_role("link", name="Sign in").click()
    beside = opened.value
    beside.locator("input[name=login]").fill(annotator.username)
    beside.locator("input[name=password]").fill("one-two-buckle")
    beside.locator("input[name=password]").press("Enter")
    beside.wait_for_url("**/label/")
    beside.close()
    workbench.clock.fast_forward(MINUTE_MS)  # the next attempt, where coming back to the page was not one
    expect(workbench.get_by_text("1 today")).to_be_visible()
    expect(saved(workbench)).to_be_visible()
    expect(workbench.get_by_role("link", name="Sign in")).to_have_count(0)
    expect(step(workbench, 1)).to_have_attribute("data-answer", "neutral")
    assert Annotation.objects.get().revision == 1


def test_time_counts_until_the_hand_has_rested_for_too_long(workbench: Page) -> None:
    workbench.keyboard.press("1")
    workbench.clock.fast_forward(30 * MINUTE_MS)
    workbench.keyboard.press("2")
    workbench.keyboard.press("1")
    workbench.keyboard.press("Enter")
    expect(workbench.get_by_text("1 today")).to_be_visible()
    annotation = Annotation.objects.get()
    assert annotation.total_ms is not None
    assert 2 * MINUTE_MS <= annotation.total_ms < 20 * MINUTE_MS
    rested = annotation.path.get(position=1).dwell_ms
    assert rested is not None
    assert rested >= 2 * MINUTE_MS, "the time is the step's that the person was at"


def test_no_time_counts_while_another_window_is_in_front(workbench: Page) -> None:
    workbench.evaluate("document.hasFocus = () => false; dispatchEvent(new Event('blur'))")
    workbench.clock.fast_forward(30 * MINUTE_MS)
    workbench.evaluate("delete document.hasFocus; dispatchEvent(new Event('focus'))")
    label(workbench, 1)
    expect(workbench.get_by_text("1 today")).to_be_visible()
    total = Annotation.objects.get().total_ms
    assert total is not None
    assert total < 2 * MINUTE_MS, "a hand that rests is counted for two minutes"


def test_a_browser_that_is_killed_brings_all_of_it_back(
    browser_type: BrowserType,
    browser_type_launch_args: dict[str, Any],
    browser_context_args: dict[str, Any],
    sign_in: Callable[[Page, User], None],
    project: Project,
    annotator: User,
    tmp_path: Path,
) -> None:
    def opened() -> Page:
        browser = browser_type.launch_persistent_context(tmp_path, **browser_type_launch_args, **browser_context_args)
        browser.set_default_timeout(WAIT_MS)
        page = browser.pages[0]
        sign_in(page, annotator)
        return page

    page = opened()
    open_workbench(page, project)
    expect(next_in_hand(page)).to_be_visible()
    page.context.set_offline(True)
    label(page, 1)
    expect(problem_of(page)).to_contain_text("Problem 2:")
    page.keyboard.press("2")
    until(lambda: len(kept_in_browser(page)) == 2 and not page.evaluate(JOURNAL))  # on the disk
    kill_browser_of(tmp_path)
    with suppress(Error):
        page.context.close()

    again = opened()
    open_workbench(again, project, problem=2)
    expect(again.get_by_text("1 today")).to_be_visible()
    expect(step(again, 1)).to_have_attribute("data-answer", "neutral")
    expect(saved(again)).to_be_visible()
    assert Annotation.objects.get().revision == 1
    again.context.close()


def test_a_sitting_has_a_goal_and_breaks_in_which_no_time_counts(workbench: Page) -> None:
    workbench.get_by_role("button", name="0 today").click()
    goal = workbench.get_by_label("Goal, in solutions")
    goal.fill("1")
    goal.press("Tab")
    expect(workbench.get_by_role("button", name="0 of 1")).to_be_visible()
    workbench.get_by_role("button", name="Take a break").click()
    expect(workbench.get_by_role("heading", name="On a break since")).to_be_visible()
    expect(step(workbench, 1)).to_have_count(0)
    for _ in range(20):
        workbench.clock.fast_forward(MINUTE_MS)
        workbench.keyboard.press("1")  # rates nothing that cannot be seen
    workbench.keyboard.press("b")
    expect(step(workbench, 1)).to_be_focused()
    expect(step(workbench, 1)).to_have_attribute("data-answer", "")
    workbench.clock.fast_forward(1_000)  # hands that rest a moment are sighted again
    label(workbench, 1)
    expect(workbench.get_by_text("You reached your goal: 1 solution")).to_be_visible()
    workbench.get_by_role("button", name="Continue", exact=True).click()
    expect(workbench.get_by_text("You reached your goal")).to_have_count(0)
    expect(workbench.get_by_role("button", name="1 of 1")).to_be_visible()
    until(Annotation.objects.exists)
    total = Annotation.objects.get().total_ms
    assert total is not None
    assert total < 10 * MINUTE_MS


def test_time_that_runs_out_is_told_and_can_be_had_again(workbench: Page) -> None:
    expires = Lease.objects.order_by("pk").first().expires_at
    workbench.clock.fast_forward(28 * MINUTE_MS)
    expect(workbench.get_by_text("reserved for you for less than 2 more minutes")).to_be_visible()
    with workbench.expect_response(lambda answer: answer.url.endswith("/heartbeat/")):
        workbench.get_by_role("button", name="Keep it").click()
    expect(workbench.get_by_text("reserved for you for less than")).to_have_count(0)
    until(lambda: Lease.objects.order_by("pk").first().expires_at > expires)


def test_what_one_person_typed_is_never_sent_as_another_who_signs_in_meanwhile(
    workbench: Page, project: Project, sign_in: Callable[[Page, User], None], annotator: User
) -> None:
    expect(next_in_hand(workbench)).to_be_visible()
    other = MembershipFactory(project=project, role=Membership.Role.ANNOTATOR).user
    sign_in(workbench, other)
    label(workbench, 1)
    expect(workbench.get_by_text(f"You are no longer signed in as {annotator.username}")).to_be_visible()
    until(lambda: len(kept_in_browser(workbench)) == 1)
    assert not Annotation.objects.exists()
    sign_in(workbench, annotator)
    workbench.clock.fast_forward(MINUTE_MS)
    expect(workbench.get_by_text("1 today")).to_be_visible()
    assert Annotation.objects.get().annotator.user == annotator
