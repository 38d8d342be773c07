"""Creating a project on one screen, from data to the first label."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Locator, Page, expect

from annotation.models import Annotation, Membership, Project
from tests import manager_world
from tests.browser.axe import violations
from tests.browser.workbench import step

pytestmark = pytest.mark.django_db(transaction=True)

TEXT = "What is $\\frac{1}{2} + 1$?\n\nWe add: $\\frac{1}{2} + 1 = \\frac{3}{2}$.\n\nSo it is $1.5$."
RECORDS = [
    {"problem": "What is $3 \\cdot 4$?", "solution": "We multiply.\n\nIt is $3 \\cdot 4 = 12$.", "answer": "12"},
    {"problem": "What is $2 + 2$?", "solution": "We add.\n\nIt is $5$.", "answer": "4"},
]


@pytest.fixture
def manager() -> User:
    return manager_world.create_people()["manager"]


@pytest.fixture
def page(page_for: Callable[..., Page], manager: User) -> Page:
    page = page_for(manager, reduced_motion="reduce")
    page.goto("/projects/new/")
    return page


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "own_runs.jsonl"
    path.write_text("\n".join(json.dumps(record) for record in RECORDS))
    return path


def shown(page: Page) -> Locator:
    return page.locator("#import-preview")


def template(page: Page, name: str) -> Locator:
    return page.locator(f"[name=template][value={name}]")


def create(page: Page) -> None:
    page.get_by_role("button", name="Create and label").click()


def workbench_opens(page: Page, slug: str) -> None:
    """Wait until a solution is shown, so that no claim is still running when the test ends."""
    page.wait_for_url(f"**/p/{slug}/label/")
    expect(step(page, 1)).to_be_visible()


def label_the_first_step(page: Page, slug: str) -> None:
    """Open the workbench, mark the first step as the first error, and submit."""
    workbench_opens(page, slug)
    page.keyboard.press("e")
    page.get_by_role("button", name="Submit").click()


def test_a_file_becomes_a_project_and_its_first_label(page: Page, file: Path) -> None:
    page.get_by_label("Choose a file, or drop it here").set_input_files(file)
    expect(shown(page).locator(".step-cards").first.get_by_role("listitem")).to_have_count(2)
    expect(shown(page).locator(".katex").first).to_be_visible()
    expect(page.get_by_label("Name")).to_have_value("own runs")
    assert not violations(page)
    create(page)
    label_the_first_step(page, "own-runs")
    expect(page.get_by_text("1 today")).to_be_visible()
    project = Project.objects.get()
    assert (project.slug, project.scheme, project.solutions.count()) == ("own-runs", {}, 2)
    assert "Stop at the first bad step" in project.current_guidelines.text
    assert Annotation.objects.get().annotator.user.username == "manager"


def test_the_browsers_back_button_returns_the_file_with_its_preview(page: Page, file: Path) -> None:
    page.set_input_files("[name=file]", file)
    expect(shown(page)).to_contain_text("We multiply.")
    page.goto("/")
    page.go_back()
    expect(shown(page)).to_contain_text("We multiply.")


def test_a_pasted_text_is_shown_while_it_is_typed_and_split_as_asked(page: Page) -> None:
    page.get_by_label("Pasted text").check()
    page.get_by_label("A problem, a blank line, and its solution").fill(TEXT)
    cards = shown(page).locator(".step-cards").get_by_role("listitem")
    expect(cards).to_have_count(2)
    expect(cards.first.locator(".katex").first).to_be_visible()
    page.get_by_label("Split solutions into steps").select_option("lines")
    expect(cards).to_have_count(2)
    page.get_by_label("Name").fill("Halves")
    page.locator("summary", has_text="Guidelines").click()
    page.get_by_role("textbox", name="Guidelines").fill("Be **fair**.")
    template(page, "every_step").check()
    create(page)
    workbench_opens(page, "halves")
    project = Project.objects.get()
    assert (project.current_guidelines.text, project.scheme) == ("Be **fair**.", {"stop_at_first_error": False})


@pytest.mark.parametrize(
    ("example", "suggested", "steps"), [("Agent runs", "agent_run", 7), ("Candidate steps", "prm800k_phase_1", 3)]
)
def test_an_example_chooses_its_template_until_a_person_does(
    page: Page, example: str, suggested: str, steps: int
) -> None:
    page.get_by_label("An example").check()
    page.get_by_label(example, exact=True).check()
    expect(template(page, suggested)).to_be_checked()
    expect(shown(page).locator("article").first.locator(".step-cards > li")).to_have_count(steps)
    template(page, "policy_rubric").check()
    page.get_by_label("Code changes", exact=True).check()
    expect(shown(page)).to_contain_text("ZeroDivisionError")
    expect(template(page, "policy_rubric")).to_be_checked()
    page.get_by_role("textbox", name="Clauses of your policy").fill("2.1 | Never delete without asking.")
    create(page)
    workbench_opens(page, "code-changes")
    project = Project.objects.get()
    assert project.label_scheme.clause_names == ["2.1"]
    assert "clauses of the policy" in project.current_guidelines.text


def test_a_dropped_file_of_a_wrong_type_gets_one_sentence_and_the_next_one_is_read(page: Page) -> None:
    page.get_by_label("Pasted text").check()
    drop(page, "report.pdf", "%PDF-1.4\n\0")
    sentence = "Stepmark cannot read report.pdf. Use JSON Lines, a JSON array, CSV, Parquet or plain text (.txt)."
    expect(shown(page)).to_have_text(sentence)
    expect(page.locator("#preview-status")).to_have_text(sentence)
    expect(page.get_by_label("A file", exact=True)).to_be_checked()
    create(page)
    expect(page.get_by_role("alert")).to_contain_text(sentence)
    assert not Project.objects.exists()
    drop(page, "own.txt", TEXT)
    expect(shown(page).locator(".step-cards").get_by_role("listitem")).to_have_count(2)


def drop(page: Page, name: str, content: str) -> None:
    page.evaluate(
        """([name, content]) => {
            const data = new DataTransfer();
            data.items.add(new File([content], name));
            const carried = { dataTransfer: data, bubbles: true, cancelable: true };
            for (const type of ["dragenter", "dragover", "drop"])
                document.body.dispatchEvent(new DragEvent(type, carried));
        }""",
        [name, content],
    )


def test_a_failed_import_creates_nothing_and_keeps_what_was_typed(page: Page, tmp_path: Path) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"problem": "p", "steps": "one"}\n')
    page.get_by_label("Choose a file, or drop it here").set_input_files(bad)
    expect(shown(page)).to_contain_text("Expected a list")
    page.get_by_label("Name").fill("Mine")
    page.get_by_label("Invite people").fill("ana, ben")
    page.locator("summary", has_text="Guidelines").click()
    page.get_by_role("textbox", name="Guidelines").fill("Be strict.")
    create(page)
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("Nothing in bad.jsonl can be imported. Record 1: steps: Expected a list")
    expect(alert).to_be_focused()
    assert not Project.objects.exists()
    assert not User.objects.filter(username__in=["ana", "ben"]).exists()
    expect(page.get_by_label("Name")).to_have_value("Mine")
    expect(page.get_by_label("Invite people")).to_have_value("ana, ben")
    expect(page.get_by_role("textbox", name="Guidelines")).to_have_value("Be strict.")
    assert page.get_by_label("Choose a file, or drop it here").evaluate("input => input.files[0].name") == "bad.jsonl"
    bad.write_text('{"problem": "p", "steps": ["one"]}\n')
    page.get_by_label("Choose a file, or drop it here").set_input_files(bad)
    create(page)
    expect(page.get_by_role("heading", name="Mine is ready")).to_be_visible()
    assert page.locator("code.secret").count() == 2
    page.get_by_role("link", name="Continue").click()
    workbench_opens(page, "mine")
    members = Membership.objects.filter(project__slug="mine").values_list("user__username", "role")
    assert set(members) == {("manager", "manager"), ("ana", "annotator"), ("ben", "annotator")}


def test_without_its_scripts_the_form_makes_the_project(
    page_for: Callable[..., Page], manager: User, file: Path
) -> None:
    page = page_for(manager, java_script_enabled=False)
    page.goto("/projects/new/")
    template(page, "agent_run").check()
    create(page)
    expect(page.get_by_role("alert")).to_contain_text("Choose a file.")
    expect(template(page, "agent_run")).to_be_checked()
    page.get_by_label("Choose a file, or drop it here").set_input_files(file)
    create(page)
    page.wait_for_url("**/p/own-runs/label/")
    project = Project.objects.get()
    assert project.label_scheme.recovery
    assert "Read an agent's run" in project.current_guidelines.text


def test_a_detected_format_can_be_overridden_and_the_next_file_is_detected_anew(page: Page, tmp_path: Path) -> None:
    """The field is part of the preview, which is replaced when the format changes."""
    first, second = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    first.write_text('{"problem": "What is 2 + 2?", "steps": ["It is 4."], "label": 0}\n')
    second.write_text('{"problem": "What is 2 + 3?", "steps": ["It is 5."]}\n')
    page.locator("input[type=file]").set_input_files(first)
    expect(shown(page)).to_contain_text("Read as: ProcessBench")
    page.get_by_label("Format").select_option("plain")
    expect(shown(page)).to_contain_text("Read as: problems with solutions or steps")
    expect(page.get_by_label("Format")).to_have_value("plain")
    page.locator("input[type=file]").set_input_files(second)
    expect(shown(page)).to_contain_text("What is 2 + 3?")
    expect(page.get_by_label("Format")).to_have_value("auto")
