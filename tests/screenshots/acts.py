"""What is done in the workbench before its picture is taken."""

import re

from django.utils import timezone
from playwright.sync_api import Page, expect

from annotation.models import Draft, Lease, Project, QueueItem
from annotation.work.queue.leases import expire_leases
from tests.screenshots.state import Act

MINUTE_MS = 60_000


def keys(*pressed: str) -> Act:
    """Presses keys once the first solution is there."""

    def press(page: Page) -> None:
        expect(page.locator(".shown li.step").first).to_be_visible()
        for key in pressed:
            page.keyboard.press(key)

    return press


def typed(text: str, *before: str) -> Act:
    """Presses keys, and types a text where they led."""

    def act(page: Page) -> None:
        keys(*before)(page)
        page.keyboard.type(text)

    return act


def clicked(*names: str | re.Pattern[str]) -> Act:
    """Works buttons, one after the other."""

    def act(page: Page) -> None:
        keys()(page)
        for name in names:
            page.get_by_role("button", name=name, exact=True).locator("visible=true").first.click()

    return act


def unfolded(act: Act) -> Act:
    """What `act` does, with the whole problem shown on a narrow screen, too."""

    def whole(page: Page) -> None:
        keys()(page)
        fold = page.locator(".fold")
        if fold.is_visible():
            fold.click()
        act(page)

    return whole


def next_in_hand(page: Page) -> None:
    expect(page.locator("[data-next=in-hand]")).to_be_visible()


def saved(page: Page) -> None:
    expect(page.locator("[data-saved=saved]")).to_be_visible()


def handed_in(page: Page) -> None:
    """Finds the first error at once, and sees the next solution."""
    keys()(page)
    next_in_hand(page)
    page.keyboard.press("e")
    page.keyboard.press("Enter")
    expect(page.locator(".shown li.step").first).to_have_attribute("data-answer", "")


def one_after_the_other(*acts: Act) -> Act:
    def act(page: Page) -> None:
        for one in acts:
            one(page)

    return act


def offline(page: Page) -> None:
    """Rates while the server cannot be reached."""
    keys()(page)
    page.evaluate("window.fetch = window.reallySend")
    page.context.set_offline(True)
    page.keyboard.press("1")
    expect(page.locator(".banners")).to_contain_text("cannot be reached")


def offline_unsent(page: Page) -> None:
    """Hands in while the server cannot be reached, and goes on."""
    keys()(page)
    next_in_hand(page)
    page.context.set_offline(True)
    page.keyboard.press("e")
    page.keyboard.press("Enter")
    expect(page.locator(".banners")).not_to_be_empty()
    page.keyboard.press("1")


def offline_at_the_end(page: Page) -> None:
    """Hands in all that was in hand while the server cannot be reached."""
    offline_unsent(page)
    page.keyboard.press("e")
    page.keyboard.press("Enter")
    expect(page.locator(".idle h1")).to_be_visible()


def left_alone(page: Page) -> None:
    """Comes back when the time for the solution has nearly run out."""
    keys("1")(page)
    page.evaluate("(now => (Date.now = () => now() + 27 * 60_000))(Date.now.bind(Date))")
    expect(page.locator(".banner.calm")).to_be_visible(timeout=15_000)


def lost(page: Page) -> None:
    """Comes back when the time has run out, and the solution is in the queue no more."""
    left_alone(page)
    items = QueueItem.objects.filter(pk__in=list(Lease.objects.values_list("item", flat=True)))
    Lease.objects.filter(state=Lease.State.ACTIVE).update(expires_at=timezone.now())
    expire_leases()
    items.update(state=QueueItem.State.RETIRED)
    page.locator(".banner.calm button").click()
    expect(page.locator(".banner:not(.calm)")).to_be_visible()


def signed_out(page: Page) -> None:
    """Hands in after signing out elsewhere."""
    keys()(page)
    next_in_hand(page)
    page.context.clear_cookies()
    page.keyboard.press("e")
    page.keyboard.press("Enter")
    expect(page.locator(".banner a")).to_be_visible()


def refused(page: Page) -> None:
    """Hands in what the project does not ask any more."""
    keys()(page)
    next_in_hand(page)
    project = Project.objects.get(slug="algebra")
    for key in ("3", "t", "2"):
        page.keyboard.press(key)
    Project.objects.filter(pk=project.pk).update(scheme=project.scheme | {"error_types": ["slip"]})
    page.keyboard.press("Enter")
    expect(page.locator(".banner a[download]")).to_be_visible()
    project.save(update_fields=["scheme"])


def changed_meanwhile(page: Page) -> None:
    """Goes on with a draft after the project has begun to ask less."""
    keys("1", "3", "d", "j", "2")(page)
    project = Project.objects.get(slug="dimensions")
    Project.objects.filter(pk=project.pk).update(scheme={"error_types": ["slip"]})
    page.reload()
    expect(page.locator(".banner.calm ul")).to_be_visible()
    project.save(update_fields=["scheme"])


def elsewhere(page: Page) -> Page:
    """The same person on another computer, at the same solution."""
    browser = page.context.browser
    assert browser is not None
    other = browser.new_context(storage_state={"cookies": page.context.cookies(), "origins": []}).new_page()  # type: ignore[typeddict-item]
    other.goto(page.url)
    keys()(other)
    return other


def two_drafts(page: Page) -> None:
    """Two computers hold different ratings of one solution."""
    keys()(page)
    page.evaluate("window.fetch = window.reallySend")
    other = elsewhere(page)
    with other.expect_response(lambda answer: answer.url.endswith("/draft/")):
        other.keyboard.press("1")
    page.keyboard.press("2")
    expect(page.get_by_text("Which version do you want to keep?")).to_be_visible()
    other.context.close()
    Draft.objects.all().delete()


def two_labels(page: Page) -> None:
    """Two computers hand in different labels of one solution."""
    keys()(page)
    next_in_hand(page)
    other = elsewhere(page)
    for key in ("1", "e", "Enter"):
        other.keyboard.press(key)
    expect(other.get_by_text(re.compile(r"^\d+ today$"))).to_be_visible()
    saved(other)
    other.context.close()
    for key in ("e", "c"):
        page.keyboard.press(key)
    page.keyboard.type("Nobody said that x is whole.")
    page.keyboard.press("Escape")
    page.keyboard.press("Enter")
    expect(page.locator(".versions")).to_be_visible()


def came_back(which: int) -> Act:
    """Opens what was sent back from the page of one's own work."""

    def act(page: Page) -> None:
        page.locator("#sent-back a").nth(which).click()
        expect(page.locator(".banner")).to_be_visible()

    return act


def changed(page: Page) -> None:
    """Hands in again what came back."""
    came_back(0)(page)
    keys("Enter")(page)
    expect(page.locator(".idle .primary")).to_be_visible()


def break_due(page: Page) -> None:
    """Works for longer than the project's pace has it."""
    page.clock.install()
    page.reload()
    keys("1")(page)
    page.clock.fast_forward(70_000)
    page.keyboard.press("j")
    expect(page.locator(".banner.calm")).to_be_visible()


def read_to(pressed: str, times: int = 1) -> Act:
    """Presses a key again and again once the formulas are set."""

    def act(page: Page) -> None:
        keys()(page)
        expect(page.locator(".shown .katex").first).to_be_visible()
        for _ in range(times):
            page.keyboard.press(pressed)

    return act


def practised_all(page: Page) -> None:
    """Goes through the practice set, with one answer wrong."""
    start = page.locator(".shown li.step, .idle button").first
    expect(start).to_be_visible()
    if page.locator(".idle").is_visible():  # it was gone through before
        page.get_by_role("button", name="Practise all again").click()
    practised("e", "Enter")(page)
    page.keyboard.press("Enter")
    practised("j", "e", "Enter")(page)
    page.keyboard.press("Enter")
    expect(page.locator(".idle h1")).to_be_visible()


def practised(*pressed: str) -> Act:
    """Answers in practice, and is told."""

    def act(page: Page) -> None:
        keys(*pressed)(page)
        expect(page.locator(".verdict")).to_be_visible()

    return act
