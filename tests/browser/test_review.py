"""A reviewer works through the review queue by keyboard alone."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Annotation, Critique, PathStep, Solution, StepRating
from tests.factories import AnnotationFactory, MembershipFactory, ProjectFactory, SolutionFactory
from tests.waiting import until

pytestmark = pytest.mark.django_db(transaction=True)


def label(solution: Solution, *ratings: int, marked: list[dict[str, Any]] | None = None) -> Annotation:
    """A new annotator's ratings of the first steps; -1 ends them, with the text that is `marked` there."""
    error = ratings.index(-1) if -1 in ratings else -1
    made = AnnotationFactory(
        solution=solution, first_error=error, finish_reason="found_error" if error >= 0 else "solution"
    )
    for step, rating in zip(solution.steps.all(), ratings, strict=False):
        chosen = None if rating == -1 else step
        PathStep.objects.create(annotation=made, position=step.position, chosen=chosen)
        spans = marked if marked and rating == -1 else []
        StepRating.objects.create(annotation=made, step=step, state="rated", rating=rating, spans=spans)
    return made


def test_one_key_decides_and_a_reviewers_own_ratings_are_one_key_a_step(open_for: Callable[..., Page]) -> None:
    project = ProjectFactory(slug="algebra")
    for text in ("Two and two", "Three and three"):
        solution = SolutionFactory(project=project, problem__text=text)
        label(solution, 1, 1, 1)
        label(solution, 1, -1)
    page = open_for(MembershipFactory(project=project, role="reviewer").user)

    page.goto("/p/algebra/review/")
    page.get_by_role("link", name="Start reviewing").click()
    expect(page.get_by_text("Three and three")).to_be_visible()
    current = page.locator("tr[aria-current=step]")
    expect(current).to_contain_text("2 + 2 = 4.")  # the first difference
    expect(page.get_by_text("We add the numbers.")).to_be_hidden()  # what both say
    page.keyboard.press("o")
    expect(page.get_by_text("We add the numbers.")).to_be_visible()
    expect(page.get_by_role("button", name="Use your ratings")).to_be_disabled()

    page.keyboard.press("b")
    expect(page.get_by_text("is decided: first error at step 2")).to_be_visible()
    expect(page.get_by_text("Two and two")).to_be_visible()
    expect(current).to_contain_text("2 + 2 = 4.")  # the page has its keys
    page.keyboard.press("1")
    expect(current).to_contain_text("The answer is 4.")
    page.get_by_label("Reason").press("Enter")  # not yet: the last step has no rating
    expect(page.get_by_text("Two and two")).to_be_visible()
    current.focus()
    page.keyboard.press("3")
    page.keyboard.press("Enter")
    expect(page.get_by_text("is decided: first error at step 3")).to_be_visible()
    expect(page.get_by_text("No items to review")).to_be_visible()

    page.get_by_role("link", name="Change the decision").click()
    expect(current).to_contain_text("2 + 2 = 4.")
    page.keyboard.press("3")
    page.keyboard.press("Enter")
    expect(page.get_by_text("is decided: first error at step 2")).to_be_visible()
    decided = Annotation.objects.filter(adjudicates=True).order_by("pk")
    assert list(decided.values_list("first_error", "revision")) == [(1, 1), (2, 1), (1, 2)]


def test_what_is_folded_is_counted_and_a_button_opens_it_on_a_phone(open_for: Callable[..., Page]) -> None:
    """Only a key in a closed list opened the steps, and a phone has no keys."""
    project = ProjectFactory(slug="algebra")
    solution = SolutionFactory(project=project, steps=["Look it up.", "Paris: 2.1 million", "So 2.", "It is 3."])
    solution.steps.filter(position=1).update(kind="observation")
    label(solution, 1, 1, 1, 1)
    label(solution, 1, 1, 1, -1)
    page = open_for(MembershipFactory(project=project, role="reviewer").user, viewport={"width": 400, "height": 800})
    page.goto(f"/p/algebra/review/{solution.pk}/")
    expect(page.get_by_text("Paris: 2.1 million")).to_be_hidden()
    expect(page.get_by_text("Everyone agrees on 3 steps")).to_contain_text("1 of them is tool output.")
    show = page.get_by_role("button", name="Show 3 hidden steps")
    expect(show).to_have_attribute("aria-expanded", "false")
    show.click()
    expect(page.get_by_text("Paris: 2.1 million")).to_be_visible()
    page.get_by_role("button", name="Hide 3 steps").click()
    expect(page.get_by_text("Paris: 2.1 million")).to_be_hidden()
    page.keyboard.press("o")
    expect(page.get_by_role("button", name="Hide 3 steps")).to_be_visible()


def test_a_reviewer_says_what_is_wrong_by_the_projects_own_keys(open_for: Callable[..., Page]) -> None:
    """The key of a rating never decides; `m` marks the selection, or opens the step's questions."""
    scheme = {
        "keys": {"good": "a", "mark": "u", "bad": "q", "go_to": "5"},
        "error_types": ["slip"],
        "critique": "given",
    }
    project = ProjectFactory(slug="algebra", scheme=scheme)
    solution = SolutionFactory(project=project)
    label(solution, 1, 1, 1)
    label(solution, 1, -1, marked=[{"start": 4, "end": 5, "error_type": "", "comment": "why?"}])
    for n, text in enumerate(("Two is no number.", "Three is asked for.")):
        Critique.objects.create(step=solution.steps.get(position=1), ordinal=n, text=text)
    page = open_for(MembershipFactory(project=project, role="reviewer").user)
    page.goto(f"/p/algebra/review/{solution.pk}/")
    lit = "() => [...CSS.highlights.get('marked') ?? []].map(String)"
    until(lambda: page.evaluate(lit) == ["2"])
    current = page.locator("tr[aria-current=step]")
    expect(page.get_by_role("button", name="Accept B")).to_be_visible()  # a is taken: letters begin with b
    page.keyboard.press("a")
    expect(current).to_contain_text("The answer is 4.")
    page.keyboard.press("k")
    page.keyboard.press("q")
    current.get_by_text("2 + 2 = 4.").dblclick(position={"x": 3, "y": 8})
    page.keyboard.press("m")
    expect(current.get_by_role("textbox", name="What is wrong here?")).to_be_focused()
    page.keyboard.type("not two")
    page.keyboard.press("Escape")
    expect(current).to_be_focused()
    assert page.evaluate(lit) == ["2", "2"], "what the annotator marked, and the reviewer"
    page.keyboard.press("m")
    current.get_by_role("group", name="Explanation 1").get_by_role("radio").first.focus()
    page.keyboard.press("3")
    expect(current.get_by_role("group", name="Explanation 2").get_by_role("radio").first).to_be_focused()
    page.keyboard.press("1")
    expect(current).to_be_focused()
    current.get_by_label("Type of error").last.select_option("slip")
    current.get_by_label("What is wrong with the step").fill("It is given as three.")
    page.keyboard.press("Escape")
    page.keyboard.press("Enter")
    expect(page.get_by_text("is decided: first error at step 2")).to_be_visible()
    wrong = Annotation.objects.get(adjudicates=True).ratings.get(rating=-1)
    said = {"critique": "It is given as three.", "critique_ratings": [-1, 1]}
    assert (wrong.error_type, wrong.dimensions) == ("slip", said)
    assert wrong.spans == [{"start": 0, "end": 1, "error_type": "", "comment": "not two"}]


def test_what_a_reviewer_entered_is_there_until_it_is_sent(open_for: Callable[..., Page]) -> None:
    """A reload, another page or a lost connection cleared the ratings and texts of a case without asking."""
    project = ProjectFactory(slug="algebra")
    solution = SolutionFactory(project=project)
    label(solution, 1, 1, 1)
    label(solution, 0, -1)
    reviewer, other = (MembershipFactory(project=project, role="reviewer").user for _ in range(2))
    page, case = open_for(reviewer), f"/p/algebra/review/{solution.pk}/"
    restored = page.get_by_text("They are not sent yet")
    page.goto(case)
    expect(restored).to_be_hidden()
    page.locator("#steps").get_by_text("2 + 2 = 4.").dblclick(position={"x": 3, "y": 8})
    page.keyboard.press("m")
    page.keyboard.type("not two")
    page.keyboard.press("Escape")
    page.keyboard.press("e")
    page.get_by_label("Reason").fill("Both overlooked it.")
    accepted = page.locator("[name^=accepted-]").evaluate_all("(fields) => fields.map(({ value }) => value)")
    assert accepted == ["yes", "", ""]

    def there() -> None:
        expect(page.locator("[name^=word-][value='-1']:checked")).to_have_count(1)
        expect(page.get_by_role("textbox", name="What is wrong here?")).to_have_value("not two")
        expect(page.get_by_label("Reason")).to_have_value("Both overlooked it.")
        assert page.locator("[name^=accepted-]").evaluate_all("(all) => all.map(({ value }) => value)") == accepted
        assert page.evaluate("() => [...CSS.highlights.get('marked') ?? []].map(String)") == ["2"]
        expect(restored).to_be_visible()

    page.reload()
    there()
    page.goto("/p/algebra/review/")
    page.goto(case)
    there()
    page.route("**/decide/", lambda route: route.fulfill(status=502, body="Bad gateway"))
    page.keyboard.press("Enter")
    expect(page.get_by_text("Bad gateway")).to_be_visible()
    page.unroute("**/decide/")
    page.goto(case)
    there()

    elsewhere = open_for(other)
    elsewhere.goto(case)
    expect(elsewhere.get_by_label("Reason")).to_have_value("")
    page.keyboard.press("Enter")
    expect(page.get_by_text("is decided: first error at step 2")).to_be_visible()
    assert Annotation.objects.get(adjudicates=True).ratings.filter(accepted=True).count() == 1
    page.goto(case)
    expect(page.get_by_label("Reason")).to_have_value("")
    expect(restored).to_be_hidden()
    page.get_by_label("Reason").fill("On reflection")
    page.reload()
    page.get_by_role("button", name="Discard").click()
    expect(page.get_by_label("Reason")).to_have_value("")
    page.reload()
    expect(restored).to_be_hidden()


def test_e_finds_good_in_a_case_only_what_the_reviewer_has_seen(open_for: Callable[..., Page]) -> None:
    project = ProjectFactory(slug="algebra")
    solution = SolutionFactory(project=project, steps=[f"Step {n} takes one away." for n in range(1, 31)])
    label(solution, *[1] * 30)
    label(solution, *[0] * 30)
    page = open_for(MembershipFactory(project=project, role="reviewer").user)
    page.goto(f"/p/algebra/review/{solution.pk}/")
    row, chosen = page.locator("table.case tbody tr"), page.locator("[name^=word-]:checked")
    expect(row.first).to_have_attribute("aria-current", "step")

    def mark() -> bool:
        """The key scrolls to the first unread step. Once every step is read, it marks the error."""
        row.nth(24).focus()
        page.keyboard.press("e")
        return chosen.count() > 0

    assert not mark()
    expect(page.get_by_text("Read on: you have not seen all of step")).to_be_visible()
    until(mark)
    expect(page.get_by_text("Read on")).to_have_count(0)
    assert chosen.evaluate_all("all => all.map(one => one.value)") == [*["1"] * 24, "-1"]
    row.nth(1).focus()
    page.keyboard.press("1")
    together = page.locator("[name^=accepted-]").evaluate_all("all => all.map(one => one.value)")
    assert together == ["yes", "", *["yes"] * 22, *[""] * 6], "but for those rated by a key of their own"
