"""The preview of an import: texts split into steps; the columns of a table proposed, corrected and shown as steps."""

import json

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from annotation.models import ImportJob
from tests import manager_world

CSV = b"""Question;Chain;Wrong step;Topic
"What is
2+2?";"2+2=4 | so 4";N/A;sums
What is 3+3?;3+3=7 | so 7;1;sums
What is 4+4?;4+4=8 | so 9;2;sums
"""


@pytest.mark.django_db(transaction=True)
def test_a_manager_corrects_what_the_columns_hold(page_for, tmp_path):
    people = manager_world.create_people()
    project = manager_world.create_empty_project(people)
    page = page_for(people["manager"])
    page.goto(reverse("import", args=[project.slug]))
    file = tmp_path / "runs.csv"
    file.write_bytes(CSV)
    page.get_by_label("Files").set_input_files(file)
    page.get_by_label("Format").select_option("table")
    preview = page.locator("#import-preview")
    expect(preview.get_by_text("Choose the column that holds the steps or the solution.")).to_be_visible()
    page.get_by_label("Content of Chain").select_option("steps_separated")
    page.get_by_label("Separator (").fill("|")
    page.get_by_label("Separator (").press("Tab")
    page.get_by_label("Content of Wrong step").select_option("first_error")
    page.get_by_label("Number of the first step").select_option("1")
    page.get_by_label("Value for “no error”").fill("N/A")
    page.get_by_label("Source of the labels").select_option("model_judge")
    page.get_by_label("Name of the annotator or model").fill("judge-1")
    page.get_by_label("Name of the annotator or model").press("Tab")
    second = preview.locator("article").nth(1)
    expect(second.get_by_text("first error: step 1")).to_be_visible()
    expect(second.locator("li")).to_have_count(2)
    page.get_by_role("button", name="Import the files").click()
    page.wait_for_url("**/imports/*/")
    [label] = ImportJob.objects.get().import_options.mapping.labels
    assert (label.base, label.none, label.source.kind, label.source.name) == (1, ["N/A"], "model_judge", "judge-1")


@pytest.mark.django_db(transaction=True)
def test_what_was_selected_is_typed_over_although_the_preview_is_drawn_again(page_for, tmp_path):
    people = manager_world.create_people()
    page = page_for(people["manager"])
    page.goto(reverse("import", args=[manager_world.create_empty_project(people).slug]))
    file = tmp_path / "runs.csv"
    file.write_bytes(CSV)
    page.get_by_label("Files").set_input_files(file)
    page.get_by_label("Format").select_option("table")
    page.get_by_label("Content of Wrong step").select_option("first_error")
    none = page.get_by_label("Value for “no error”")
    expect(none).to_have_value("-1, N/A")
    held = []
    page.route("**/import/preview/", lambda route: held.append(route))
    with page.expect_request("**/import/preview/"):
        page.get_by_label("Number of the first step").select_option("1")
    none.select_text()
    with page.expect_response("**/import/preview/"):
        held.pop().continue_()
    expect(page.get_by_label("Number of the first step").locator("[selected]")).to_have_text("1")
    page.keyboard.insert_text("none")
    expect(none).to_have_value("none")


@pytest.mark.django_db(transaction=True)
def test_the_preview_follows_the_rule_of_splitting(page_for, tmp_path):
    people = manager_world.create_people()
    project = manager_world.create_empty_project(people)
    file = tmp_path / "texts.jsonl"
    file.write_text(
        json.dumps({"problem": "Add <b>1</b> and 2.", "solution": "We add.\nIt is $3$.\n\nSo 3."}) + "\n{broken\n"
    )
    page = page_for(people["manager"])
    page.goto(f"/p/{project.slug}/import/")
    page.get_by_label("File").set_input_files(file)
    preview = page.locator("#import-preview")
    expect(preview.get_by_role("heading")).to_have_text("Preview")
    expect(preview).to_contain_text("Read as: problems with solutions or steps (plain)")
    expect(preview).to_contain_text("Add <b>1</b> and 2.")
    expect(preview).to_contain_text("Line 2: not valid JSON")
    expect(preview.locator(".step-cards > li")).to_have_count(2)
    page.get_by_label("Split solutions into steps").select_option("lines")
    expect(preview.locator(".step-cards > li")).to_have_count(3)
    page.get_by_label("Format").select_option("prm800k")
    expect(preview).to_contain_text("None of the first records can be imported.")
