"""Hints: each score appears when its step is reached, stays, and is recorded with the label."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from annotation.loop.pool.partitions import create_partition, write_scores
from annotation.models import Annotation, Hint, PoolScore, Project
from annotation.work.queue import hint_draw as hints
from tests.browser.workbench import draft_sent, open_workbench, step
from tests.factories import (
    GenerationFactory,
    MembershipFactory,
    ModelVersionFactory,
    ProblemFactory,
    QueueItemFactory,
    SolutionFactory,
)
from tests.waiting import until

pytestmark = pytest.mark.django_db(transaction=True)
SCORES = [0.9321, 0.1234, 0.8127]


def project_with(reveal: str) -> Project:
    """A solution of three steps that the champion has scored."""
    project = GenerationFactory(project__policy={"hints": {"share": 0.5, "reveal": reveal}}).project
    problem = ProblemFactory(project=project, text="Problem 1: what is 2 + 2?")
    solution = SolutionFactory(project=project, problem=problem, steps=["We add.", "2 + 2 = 5.", "It is 5."])
    QueueItemFactory(generation=project.generations.get(), solution=solution)
    champion = ModelVersionFactory(project=project, number=1, state="champion", manifest={"threshold": {"value": 0.4}})
    create_partition(champion)
    score = PoolScore(
        model_version=champion, solution=solution, mean=SCORES, spread=[None] * 3, score=min(SCORES), unscored_steps=0
    )
    write_scores(champion, [score])
    return project


@pytest.fixture
def drawn(open_for: Callable[..., Page], monkeypatch: pytest.MonkeyPatch) -> Callable[[str, float], Page]:
    """The workbench of a person with this draw; below one half, they get a hint."""

    def drawn(reveal: str, lot: float) -> Page:
        monkeypatch.setattr(hints, "lot", lambda *_: lot)
        project = project_with(reveal)
        page = open_for(MembershipFactory(project=project).user)
        open_workbench(page, project)
        return page

    return drawn


def meter(page: Page, number: int) -> Locator:
    return step(page, number).get_by_role("meter", name="The model’s score for this step")


def test_a_score_comes_with_its_step_stays_through_undo_and_reload_and_is_told_with_the_label(
    drawn: Callable[[str, float], Page],
) -> None:
    page = drawn("reached", 0.49)
    expect(meter(page, 1)).to_have_attribute("aria-valuetext", "model: 93\xa0%")
    expect(meter(page, 1)).to_be_visible()
    expect(page.get_by_role("meter")).to_have_count(1)  # what comes later does not pull the eye ahead
    page.keyboard.press("1")
    expect(meter(page, 2)).to_have_attribute("aria-valuetext", "model: 12\xa0%")
    expect(page.get_by_role("meter")).to_have_count(2)

    with draft_sent(page):
        page.keyboard.press("z")
    expect(step(page, 1)).not_to_have_attribute("data-answer", "good")
    expect(page.get_by_role("meter")).to_have_count(2)  # nobody can unsee it
    page.reload()
    expect(meter(page, 2)).to_be_visible()
    expect(page.get_by_role("meter")).to_have_count(2)

    page.keyboard.press("1")
    page.keyboard.press("3")
    page.keyboard.press("Enter")
    until(Annotation.objects.exists)
    hint = Hint.objects.get()
    assert (hint.shown, hint.verdict, hint.seen) == (True, 1, [[0, None], [1, None]])


@pytest.mark.parametrize("reveal", ["reached", "rated", "on_request"])
def test_no_answer_of_the_server_holds_the_score_of_a_later_step(
    drawn: Callable[[str, float], Page], reveal: str
) -> None:
    page = drawn(reveal, 0.0)
    bodies: list[str] = []

    def note(route: Route) -> None:
        answer = route.fetch()
        bodies.append(answer.text())
        route.fulfill(response=answer)

    page.route("**/api/**", note)
    page.route("**/label/", note)
    page.reload()
    expect(step(page, 1)).to_be_visible()
    if reveal == "reached":
        expect(meter(page, 1)).to_be_visible()
    page.keyboard.press("1")
    if reveal == "reached":
        expect(meter(page, 2)).to_be_visible()
    page.keyboard.press("k")
    page.keyboard.press("h")
    expect(meter(page, 1)).to_be_visible()
    assert any('"reveal"' in body for body in bodies), "the claim is among them"
    assert sum(str(SCORES[0]) in body for body in bodies) == 1
    assert any(str(SCORES[1]) in body for body in bodies) is (reveal == "reached")
    assert not any(str(SCORES[2]) in body for body in bodies)


def test_work_goes_on_where_a_score_does_not_come_and_it_comes_with_the_next_visit(
    drawn: Callable[[str, float], Page],
) -> None:
    page = drawn("reached", 0.0)
    expect(meter(page, 1)).to_be_visible()
    page.route("**/hints/1/", lambda route: route.abort())
    page.reload()  # a document that is open already may ask past a route made now
    expect(meter(page, 1)).to_be_visible()
    page.keyboard.press("1")
    page.keyboard.press("1")
    expect(meter(page, 3)).to_be_visible()
    expect(meter(page, 2)).to_have_count(0)
    page.unroute("**/hints/1/")
    page.keyboard.press("k")
    expect(meter(page, 2)).to_be_visible()
    page.keyboard.press("3")
    page.keyboard.press("Enter")
    until(Annotation.objects.exists)
    assert Hint.objects.get().seen == [[0, None], [2, None], [1, 1]]


def test_a_score_on_request_comes_by_its_key_and_tells_what_one_thought_before(
    drawn: Callable[[str, float], Page],
) -> None:
    page = drawn("on_request", 0.0)
    expect(step(page, 1).get_by_role("button", name="Model")).to_be_visible()
    page.keyboard.press("1")
    page.keyboard.press("1")
    page.keyboard.press("k")  # back to the second step
    expect(page.get_by_role("meter")).to_have_count(0)
    page.keyboard.press("h")
    expect(meter(page, 2)).to_be_visible()
    page.keyboard.press("3")
    page.keyboard.press("Enter")
    until(Annotation.objects.exists)
    assert Hint.objects.get().seen == [[1, 1]]


def test_the_blind_arm_shows_and_tells_nothing(drawn: Callable[[str, float], Page]) -> None:
    page = drawn("reached", 0.5)
    page.keyboard.press("1")
    page.keyboard.press("3")
    expect(page.locator("#readiness")).to_contain_text("First error at step 2")
    expect(page.get_by_role("meter")).to_have_count(0)
    page.keyboard.press("Enter")
    until(Annotation.objects.exists)
    hint = Hint.objects.get()
    assert (hint.shown, hint.seen, hint.scores) == (False, [], SCORES)
