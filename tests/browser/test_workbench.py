"""The workbench in a real browser, against the real API and database."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, Route, expect

from annotation.core.bounds import LONGEST_TEXT
from annotation.models import Annotation, Draft, Lease, Membership, Project, SentBack, StepRating
from tests.browser.workbench import (
    LOCAL_STORAGE_FULL,
    draft_sent,
    kept_in_browser,
    next_in_hand,
    open_workbench,
    problem_of,
    saved,
    step,
)
from tests.factories import (
    AnnotationFactory,
    GenerationFactory,
    MembershipFactory,
    QueueItemFactory,
)
from tests.waiting import until

pytestmark = pytest.mark.django_db(transaction=True)

SCHEME: dict[str, Any] = {"error_types": ["slip", "wrong operation"], "ask_own_step": True}


@pytest.fixture
def project() -> Project:
    """Three solutions of three steps each, in the order 1, 2, 3."""
    generation = GenerationFactory(project__name="Algebra pilot", project__scheme=SCHEME)
    for number in (1, 2, 3):
        steps = [
            f"We add $2$ to ${number}$.",
            f"${number} + 2 = {number + 2}$.",
            f"The answer is \\boxed{{{number + 2}}}.",
        ]
        text = f"Problem {number}: what is ${number}+2$?"
        QueueItemFactory(generation=generation, rank=number, solution__problem__text=text, solution__steps=steps)
    return generation.project


@pytest.fixture
def annotator(project: Project) -> User:
    return MembershipFactory(project=project, role=Membership.Role.ANNOTATOR).user


@pytest.fixture
def workbench(open_for: Callable[..., Page], project: Project, annotator: User) -> Page:
    """The workbench with the first problem open."""
    page = open_for(annotator)
    open_workbench(page, project)
    return page


def ratings(annotation: Annotation) -> list[tuple[str, int | None]]:
    found = StepRating.objects.filter(annotation=annotation).order_by("step__position", "step__alternative")
    return [(rating.state, rating.rating) for rating in found]


def test_a_solution_is_labelled_by_keyboard_alone(workbench: Page) -> None:
    expect(step(workbench, 1).locator(".katex").first).to_be_visible()
    for key in "124":
        workbench.keyboard.press(key)
    expect(workbench.locator("#readiness")).to_have_text("All steps rated, no error")
    workbench.keyboard.press("Enter")
    expect(problem_of(workbench)).to_contain_text("Problem 2:")
    expect(workbench.get_by_text("1 today")).to_be_visible()
    annotation = Annotation.objects.get()
    assert (annotation.finish_reason, annotation.first_error, annotation.counted) == ("solution", -1, True)
    assert ratings(annotation) == [("rated", 1), ("rated", 0), ("unsure", None)]
    assert annotation.total_ms > 0


def test_e_marks_the_first_error_and_accepts_what_came_before(workbench: Page) -> None:
    workbench.keyboard.press("j")
    workbench.keyboard.press("e")
    expect(step(workbench, 3)).to_have_class(re.compile("unreached"))
    workbench.keyboard.press("t")
    workbench.keyboard.press("2")
    workbench.keyboard.press("c")
    workbench.keyboard.type("$3 + 1$ was meant")
    workbench.keyboard.press("Escape")
    expect(step(workbench, 2).locator(".comment .katex")).to_be_visible()
    workbench.get_by_label("What should this step have said?").fill("$1 + 2 = 3$.")
    workbench.keyboard.press("Escape")
    workbench.keyboard.press("Enter")
    expect(problem_of(workbench)).to_contain_text("Problem 2:")
    expect(saved(workbench)).to_be_visible()
    annotation = Annotation.objects.get()
    assert (annotation.finish_reason, annotation.first_error) == ("found_error", 1)
    assert ratings(annotation) == [("rated", 1), ("rated", -1), ("not_reached", None)]
    wrong = StepRating.objects.get(annotation=annotation, rating=-1)
    assert (wrong.error_type, wrong.comment) == ("wrong operation", "$3 + 1$ was meant")
    assert annotation.path.get(position=1).own_text == "$1 + 2 = 3$."


def test_the_mouse_does_the_same_and_enter_still_submits(workbench: Page) -> None:
    for number, answer in enumerate(["good", "neutral", "good"], start=1):
        step(workbench, number).get_by_role("button", name=answer, exact=True).click()
        expect(workbench.locator(".step.current")).to_be_focused()
    workbench.keyboard.press("Enter")
    expect(problem_of(workbench)).to_contain_text("Problem 2:")
    expect(saved(workbench)).to_be_visible()
    assert ratings(Annotation.objects.get()) == [("rated", 1), ("rated", 0), ("rated", 1)]


def test_undo_and_redo(workbench: Page) -> None:
    workbench.keyboard.press("3")
    expect(step(workbench, 1)).to_have_attribute("data-answer", "bad")
    workbench.keyboard.press("z")
    expect(step(workbench, 1)).to_have_attribute("data-answer", "")
    workbench.keyboard.press("Shift+z")
    expect(step(workbench, 1)).to_have_attribute("data-answer", "bad")


def test_nothing_is_submitted_while_something_is_left(workbench: Page) -> None:
    workbench.keyboard.press("1")
    workbench.keyboard.press("Enter")
    expect(workbench.get_by_role("status").filter(has_text="Not ready yet")).to_have_count(1)
    expect(problem_of(workbench)).to_contain_text("Problem 1:")
    assert not Annotation.objects.exists()


def test_a_draft_survives_a_closed_tab_and_another_browser(
    workbench: Page, open_for: Callable[..., Page], project: Project, annotator: User
) -> None:
    context = workbench.context
    workbench.keyboard.press("1")
    workbench.close()
    again = context.new_page()
    open_workbench(again, project)
    expect(step(again, 1)).to_have_attribute("data-answer", "good")
    expect(step(again, 2)).to_have_attribute("aria-current", "step")
    with draft_sent(again):
        again.keyboard.press("2")
    elsewhere = open_for(annotator)
    open_workbench(elsewhere, project)
    expect(step(elsewhere, 2)).to_have_attribute("data-answer", "neutral")
    assert Draft.objects.get().version >= 1


def test_two_drafts_are_both_kept_until_the_person_chooses(
    workbench: Page, open_for: Callable[..., Page], project: Project, annotator: User
) -> None:
    elsewhere = open_for(annotator)
    open_workbench(elsewhere, project)
    with draft_sent(workbench):
        workbench.keyboard.press("1")
    elsewhere.keyboard.press("2")
    expect(elsewhere.get_by_text("Which version do you want to keep?")).to_be_visible()
    elsewhere.get_by_role("button", name="Use the other version").click()
    expect(step(elsewhere, 1)).to_have_attribute("data-answer", "good")
    expect(elsewhere.get_by_text("Which version do you want to keep?")).to_have_count(0)


def test_work_goes_on_without_network_and_is_sent_once(workbench: Page) -> None:
    expect(next_in_hand(workbench)).to_be_visible()
    workbench.context.set_offline(True)
    workbench.keyboard.press("e")
    workbench.keyboard.press("Enter")
    expect(problem_of(workbench)).to_contain_text("Problem 2:")
    expect(workbench.get_by_text("The server cannot be reached")).to_be_visible()
    assert not Annotation.objects.exists()
    workbench.context.set_offline(False)
    expect(workbench.get_by_text("1 today")).to_be_visible()
    assert Annotation.objects.get().revision == 1


def test_an_answer_lost_on_the_way_back_is_not_a_second_submission(workbench: Page) -> None:
    lost = []

    def lose_first_answer(route: Any) -> None:
        if lost:
            return route.continue_()
        lost.append(route.fetch().status)
        return route.abort()

    workbench.route("**/annotations/", lose_first_answer)
    workbench.keyboard.press("e")
    workbench.keyboard.press("Enter")
    expect(workbench.get_by_text("1 today")).to_be_visible()
    assert lost == [201]
    assert Annotation.objects.get().revision == 1


def test_the_next_solution_is_there_before_it_is_asked_for(workbench: Page) -> None:
    expect(next_in_hand(workbench)).to_be_visible()
    workbench.keyboard.press("e")
    shown = workbench.evaluate(
        """() => {
            document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
            return document.querySelector("section.problem").textContent;
        }"""
    )
    assert "Problem 2:" in shown, "not in the very turn of the page in which Enter was heard"


def test_a_key_that_does_nothing_leaves_the_reason_the_keyboard(workbench: Page) -> None:
    workbench.keyboard.press("Escape")
    workbench.get_by_role("button", name="Give up").click()
    workbench.keyboard.type("too long")
    expect(workbench.get_by_label("Or in your own words")).to_have_value("too long")


def test_giving_up_needs_a_reason(workbench: Page) -> None:
    workbench.get_by_role("button", name="Give up").click()
    expect(workbench.get_by_text("Give a reason, then submit", exact=True)).to_be_visible()
    workbench.get_by_role("button", name="Too hard for me").click()
    workbench.get_by_role("button", name="The reference is wrong").click()
    workbench.get_by_role("button", name="Submit").click()
    expect(problem_of(workbench)).to_contain_text("Problem 2:")
    expect(saved(workbench)).to_be_visible()
    annotation = Annotation.objects.get()
    assert (annotation.finish_reason, annotation.reason) == ("give_up", "Too hard for me")
    assert annotation.dispute.state == "open"


def test_giving_up_has_a_key_and_a_digit_chooses_the_reason(workbench: Page) -> None:
    """Giving up had no key, and 1 became the text of the reason."""
    workbench.keyboard.press("8")
    expect(workbench.get_by_role("form", name="There is something wrong with the problem. What?")).to_be_visible()
    workbench.keyboard.press("Escape")
    expect(workbench.get_by_role("button", name="Bad problem")).to_have_attribute("aria-pressed", "false")
    workbench.keyboard.press("9")
    workbench.keyboard.press("2")
    own = workbench.get_by_label("Or in your own words")
    expect(own).to_have_value("Too long to check")
    workbench.keyboard.press("1")
    expect(own).to_have_value("Too hard for me")
    own.fill("Step ")
    own.press("1")
    expect(own).to_have_value("Step 1")  # a reason of one's own may hold digits
    own.fill("")
    own.press("1")
    workbench.keyboard.press("Enter")
    expect(problem_of(workbench)).to_contain_text("Problem 2:")
    expect(saved(workbench)).to_be_visible()
    annotation = Annotation.objects.get()
    assert (annotation.finish_reason, annotation.reason) == ("give_up", "Too hard for me")


def test_a_digit_chooses_the_reason_after_giving_up_became_a_bad_problem(workbench: Page) -> None:
    """The box did not get the focus, so the digit rated the step."""
    workbench.keyboard.press("9")
    workbench.keyboard.press("2")
    workbench.keyboard.press("Escape")  # leaves the box; the reason stays
    workbench.keyboard.press("8")
    own = workbench.get_by_label("Or in your own words")
    expect(own).to_be_focused()
    workbench.keyboard.press("2")
    expect(own).to_have_value("It has no single answer")


def test_a_digit_chooses_why_a_solution_is_skipped(workbench: Page) -> None:
    workbench.keyboard.press("s")
    reason = workbench.locator("form.prompt .chip").first.inner_text().removeprefix("1").strip()
    workbench.keyboard.press("1")
    expect(problem_of(workbench)).to_contain_text("Problem 2:")
    lease = until(lambda: Lease.objects.filter(state=Lease.State.RELEASED).first())
    assert lease.reason == reason


def test_a_text_longer_than_is_kept_is_cut_while_it_is_written_and_not_refused_later(workbench: Page) -> None:
    workbench.keyboard.press("c")
    workbench.keyboard.insert_text("x" * (LONGEST_TEXT + 1))
    expect(workbench.get_by_text("at most 20,000 characters")).to_be_visible()
    workbench.keyboard.press("Escape")
    for key in "111":
        workbench.keyboard.press(key)
    workbench.keyboard.press("Enter")
    expect(workbench.get_by_text("1 today")).to_be_visible()
    assert StepRating.objects.exclude(comment="").get().comment == "x" * LONGEST_TEXT


def test_a_skip_needs_a_reason(workbench: Page) -> None:
    workbench.keyboard.press("s")
    workbench.keyboard.type("  ")
    workbench.keyboard.press("Enter")
    expect(workbench.get_by_role("form", name="Skip this solution?")).to_be_visible()
    assert not Lease.objects.filter(state=Lease.State.RELEASED).exists()


def test_a_prompt_opened_at_once_on_a_new_solution_keeps_what_is_typed(workbench: Page) -> None:
    """Effects that run late on a slow machine must not close a panel that was opened since."""
    workbench.evaluate("() => { window.requestAnimationFrame = (draw) => setTimeout(draw, 90) }")
    expect(next_in_hand(workbench)).to_be_visible()
    for key in "111":
        workbench.keyboard.press(key)
    workbench.keyboard.press("Enter")
    workbench.keyboard.press("s")
    workbench.keyboard.type("I wrote this one", delay=10)
    workbench.keyboard.press("Enter")
    expect(problem_of(workbench)).to_contain_text("Problem 3:")
    expect(saved(workbench)).to_be_visible()
    assert Lease.objects.get(state=Lease.State.RELEASED).reason == "I wrote this one"


def test_keys_pressed_while_nothing_is_shown_rate_nothing_that_comes(workbench: Page) -> None:
    expect(next_in_hand(workbench)).to_be_visible()
    held: list[Route] = []
    holding = True
    for call in ("**/claim/", "**/annotations/"):  # a submission claims, too
        workbench.route(call, lambda route: held.append(route) if holding else route.continue_())
    for number in (1, 2):
        expect(problem_of(workbench)).to_contain_text(f"Problem {number}:")
        workbench.keyboard.press("e")
        workbench.keyboard.press("Enter")
    expect(workbench.get_by_role("heading", name="Loading your next solution")).to_be_visible()
    workbench.keyboard.type("I wrote these 123")
    workbench.evaluate("window.late = new KeyboardEvent('keydown', { key: 'e', bubbles: true })")
    holding = False
    for route in held:
        route.continue_()
    expect(problem_of(workbench)).to_contain_text("Problem 3:")
    workbench.evaluate("document.activeElement.dispatchEvent(window.late)")  # pressed before, heard of after
    for number in (1, 2, 3):
        expect(step(workbench, number)).to_have_attribute("data-answer", "")


def test_skipping_gives_the_solution_back_with_the_reason_which_outlives_a_reload(workbench: Page) -> None:
    workbench.keyboard.press("s")
    workbench.keyboard.type("I wrote this")
    workbench.reload()
    expect(problem_of(workbench)).to_contain_text("Problem 1:")
    workbench.keyboard.press("s")
    expect(workbench.get_by_label("Or in your own words")).to_have_value("I wrote this")
    workbench.keyboard.type(" one")
    workbench.keyboard.press("Enter")
    expect(problem_of(workbench)).to_contain_text("Problem 2:")
    lease = until(lambda: Lease.objects.filter(state=Lease.State.RELEASED).first())  # the next one waits for no network
    assert lease.reason == "I wrote this one"


def test_the_end_of_the_queue_says_so(workbench: Page) -> None:
    for number in (1, 2, 3):
        expect(problem_of(workbench)).to_contain_text(f"Problem {number}:")
        workbench.keyboard.press("e")
        workbench.keyboard.press("Enter")
    expect(workbench.get_by_role("heading", name="Nothing left to label")).to_be_visible()
    expect(workbench.get_by_role("link", name="Back to the project")).to_be_visible()
    expect(saved(workbench)).to_be_visible()
    assert Annotation.objects.count() == 3


def test_signed_out_keeps_the_work(workbench: Page) -> None:
    workbench.context.clear_cookies()
    workbench.keyboard.press("1")
    expect(workbench.get_by_role("link", name="Sign in")).to_be_visible()
    expect(step(workbench, 1)).to_have_attribute("data-answer", "good")


def test_a_narrow_screen_rates_with_the_thumb(open_for: Callable[..., Page], project: Project, annotator: User) -> None:
    page = open_for(annotator, viewport={"width": 400, "height": 780}, has_touch=True)
    open_workbench(page, project)
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    thumb = page.locator(".thumb")
    for answer in ("good", "neutral", "good"):
        thumb.get_by_role("button", name=answer, exact=True).tap()
    page.get_by_role("button", name="Show the whole problem").tap()
    expect(page.get_by_text("Reference answer")).to_be_visible()
    page.get_by_role("button", name="Guidelines").tap()
    expect(page.get_by_role("region", name="Guidelines")).to_be_visible()
    page.get_by_role("button", name="Close").tap()
    page.get_by_role("button", name="Submit").tap()
    expect(problem_of(page)).to_contain_text("Problem 2:")
    expect(saved(page)).to_be_visible()
    assert Annotation.objects.get().finish_reason == "solution"


@pytest.mark.parametrize(
    ("words", "end"), [("Simplify ", "right"), ("בסט את הביטוי ", "left")], ids=["left to right", "right to left"]
)
def test_a_folded_problem_fades_where_its_line_goes_on(open_for: Callable[..., Page], words: str, end: str) -> None:
    """An ellipsis replaced the letters of a formula that it cut, and left an exponent beside it."""
    item = QueueItemFactory(solution__problem__text="$x$ " + words * 2 + "$(x-1)^2(x-2)^2(x-3)^2(x-4)^2$ " * 3)
    page = open_for(MembershipFactory(project=item.project).user, viewport={"width": 400, "height": 780})
    page.goto(f"/p/{item.project.slug}/label/")
    line = page.locator(".first-line .rich")
    expect(line.locator(".katex").first).to_be_visible()
    box, first = line.bounding_box(), line.locator(".katex").first.bounding_box()
    assert abs((first["x"] - box["x"]) - (0 if end == "right" else box["width"] - first["width"])) < 4
    assert line.evaluate(f"element => getComputedStyle(element, '::after').{end}") == "0px"
    assert line.evaluate("element => getComputedStyle(element, '::after').boxShadow") != "none"
    shown = line.evaluate("element => getComputedStyle(element.querySelector('p')).textOverflow")
    assert shown == "clip"


def test_the_thumb_never_rates_a_step_that_its_buttons_hide(open_for: Callable[..., Page]) -> None:
    item = QueueItemFactory(solution__steps=[f"Step {number} is long. " * 12 for number in range(9)])
    page = open_for(
        MembershipFactory(project=item.project).user, viewport={"width": 400, "height": 780}, has_touch=True
    )
    page.goto(f"/p/{item.project.slug}/label/")
    bottom = "element => element.getBoundingClientRect().bottom"
    for number in range(1, 9):
        page.locator(".thumb").get_by_role("button", name="good", exact=True).tap()
        expect(step(page, number + 1)).to_have_class(re.compile("current"))
        foot = page.locator(".action-bar").evaluate("element => element.getBoundingClientRect().top")
        until(lambda: page.locator(".step.current").evaluate(bottom) <= foot)  # noqa: B023


def test_the_map_leads_to_a_step_and_enter_stays_submit(open_for: Callable[..., Page]) -> None:
    item = QueueItemFactory(solution__steps=[f"Step {number} is long. " * 30 for number in range(20)])
    page = open_for(MembershipFactory(project=item.project).user)
    page.goto(f"/p/{item.project.slug}/label/")
    page.locator(".map button").nth(17).click()
    expect(step(page, 18)).to_be_in_viewport()
    expect(step(page, 18)).to_be_focused()


def test_text_of_a_file_is_never_markup(open_for: Callable[..., Page]) -> None:
    text = "<img src=x onerror=alert(1)> $\\href{javascript:alert(1)}{x}$ \\[\\frac{1}{\\] <b>bold</b>"
    item = QueueItemFactory(solution__steps=[text])
    page = open_for(MembershipFactory(project=item.project).user)
    page.goto(f"/p/{item.project.slug}/label/")
    body = page.locator(".shown li.step .body")
    expect(body).to_contain_text("<img src=x onerror=alert(1)>")
    expect(body).to_contain_text("<b>bold</b>")
    expect(body).to_contain_text("\\[\\frac{1}{\\]")
    expect(body.locator("img, a, b")).to_have_count(0)


def test_two_tabs_hand_in_different_labels_and_the_person_chooses_by_keyboard(
    workbench: Page, open_for: Callable[..., Page], project: Project, annotator: User
) -> None:
    elsewhere = open_for(annotator)
    open_workbench(elsewhere, project)
    workbench.keyboard.press("e")
    workbench.keyboard.press("Enter")
    expect(workbench.get_by_text("1 today")).to_be_visible()
    for key in "112":
        elsewhere.keyboard.press(key)
    elsewhere.keyboard.press("Enter")
    versions = elsewhere.get_by_role("region", name=re.compile("You also submitted solution"))
    expect(versions.get_by_role("row", name="Step 1 good bad")).to_be_visible()
    expect(versions.get_by_role("row", name="Result no error error found")).to_be_visible()
    assert Annotation.objects.get().finish_reason == "found_error"
    elsewhere.reload()  # it is written down: nothing typed is lost
    expect(versions).to_be_visible()
    elsewhere.keyboard.press("v")
    expect(elsewhere.get_by_role("button", name="Use this version")).to_be_focused()
    elsewhere.keyboard.press("Enter")
    expect(versions).to_have_count(0)
    expect(saved(elsewhere)).to_be_visible()
    kept = [(one.revision, one.finish_reason) for one in Annotation.objects.order_by("revision")]
    assert kept == [(1, "found_error"), (2, "solution")]


def test_l_leads_to_what_a_reviewer_sent_back(open_for: Callable[..., Page], project: Project, annotator: User) -> None:
    given = AnnotationFactory(solution__project=project, annotator=Membership.objects.get(user=annotator))
    reviewer = MembershipFactory(project=project, role="reviewer").user
    SentBack.objects.create(project=project, annotation=given, by=reviewer, reason="Look at step 2 again.")
    page = open_for(annotator)
    open_workbench(page, project)
    expect(page.get_by_role("link", name="1 sent back to you")).to_have_attribute("aria-keyshortcuts", "l")
    page.keyboard.press("l")
    expect(page).to_have_url(re.compile(r"/my-work/#sent-back$"))
    expect(page.get_by_text("Look at step 2 again.")).to_be_in_viewport()


def test_ones_own_label_is_opened_from_the_list_and_changed(workbench: Page, project: Project) -> None:
    workbench.keyboard.press("j")
    workbench.keyboard.press("e")
    workbench.keyboard.press("Enter")
    expect(workbench.get_by_text("1 today")).to_be_visible()
    workbench.goto(f"/p/{project.slug}/labels/")
    workbench.get_by_role("link", name="Change").click()
    expect(problem_of(workbench)).to_contain_text("Problem 1:")
    expect(step(workbench, 2)).to_have_attribute("data-answer", "bad")
    with draft_sent(workbench):
        workbench.get_by_role("button", name="The reference is wrong").click()
        workbench.keyboard.press("j")
        workbench.keyboard.press("4")
    workbench.reload()
    expect(step(workbench, 2)).to_have_attribute("data-answer", "unsure")
    step(workbench, 3).get_by_text("The answer is").click()
    workbench.keyboard.press("1")
    workbench.get_by_role("button", name="Submit").click()
    expect(workbench.get_by_role("heading", name="Your change is submitted")).to_be_visible()
    expect(workbench.get_by_role("link", name="Back to your labels")).to_be_visible()
    expect(saved(workbench)).to_be_visible()
    latest = Annotation.objects.get(revision=2)
    assert ratings(latest) == [("rated", 1), ("unsure", None), ("rated", 1)]
    assert latest.dispute.state == "open"


def test_a_browser_that_stores_nothing_says_so_and_still_delivers(
    open_for: Callable[..., Page], project: Project, annotator: User
) -> None:
    page = open_for(annotator)
    page.add_init_script(LOCAL_STORAGE_FULL)
    page.add_init_script(
        "IDBObjectStore.prototype.put = () => { throw new DOMException('full', 'QuotaExceededError') }"
    )
    open_workbench(page, project)
    expect(next_in_hand(page)).to_be_visible()
    page.context.set_offline(True)
    page.keyboard.press("e")
    page.keyboard.press("Enter")
    expect(page.get_by_text("This browser cannot store your work")).to_be_visible()
    page.context.set_offline(False)
    expect(page.get_by_text("1 today")).to_be_visible()
    assert Annotation.objects.count() == 1


@pytest.mark.parametrize("fault", [LOCAL_STORAGE_FULL, "Object.defineProperty(window, 'indexedDB', { value: null })"])
def test_where_one_of_the_browsers_stores_fails_the_other_keeps_the_work(
    open_for: Callable[..., Page], project: Project, annotator: User, fault: str
) -> None:
    page = open_for(annotator)
    page.add_init_script(fault)
    open_workbench(page, project)
    expect(next_in_hand(page)).to_be_visible()
    page.context.set_offline(True)
    page.keyboard.press("e")
    page.keyboard.press("Enter")
    page.keyboard.press("2")
    until(lambda: len(kept_in_browser(page)) == 2)
    expect(page.get_by_text("Your work on 1 solution is stored in this browser")).to_be_visible()
    expect(page.get_by_text("This browser cannot store your work")).to_have_count(0)
    page.close()
    page.context.set_offline(False)
    again = page.context.new_page()
    open_workbench(again, project, problem=2)
    expect(step(again, 1)).to_have_attribute("data-answer", "neutral")
    expect(again.get_by_text("1 today")).to_be_visible()
    assert Annotation.objects.get().revision == 1
