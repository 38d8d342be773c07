"""The preview shows every choice that was detected, and each can be overridden."""

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from annotation.models import Problem, Project, Solution

pytestmark = pytest.mark.django_db

REACT = "Thought: I look it up.\nAction: price[tea]\nObservation: 3\nThought: So it is 3.\nFinal Answer: 3"


@pytest.fixture
def client(people):
    client = Client()
    client.force_login(people["manager"])
    return client


def lines(*values):
    return "\n".join(map(json.dumps, values))


def shown(client, address, content, **fields):
    head = SimpleUploadedFile("head", content.encode())
    posted = {"source": "file", "head": head, "whole": "true", "filename": "a.jsonl", **fields}
    page = client.post(address, posted).content.decode()
    return " ".join(page.split())


NEW = "/projects/new/preview/"


@pytest.mark.parametrize("address", [NEW, "/p/algebra/import/preview/"])
def test_the_rule_that_automatic_splitting_chose_is_shown(client, project, address):
    content = lines({"problem": "p", "solution": REACT}, {"problem": "q", "solution": "a\n\nb"})
    page = shown(client, address, content, decomposition="automatic")
    assert "1 solution: at the turns of an agent" in page
    assert "1 solution: at blank lines" in page
    assert "Tool call" in page
    chosen = shown(client, address, content, decomposition="lines")
    assert "1 solution: at" not in chosen


@pytest.mark.parametrize(
    ("content", "fields"),
    [
        (lines({"problem": "p", "steps": ["a"]}), {"format"}),
        (lines({"problem": "p", "solution": "a\n\nb"}), {"format", "decomposition"}),
        (lines({"problem": "p", "solution": "<think>x</think>a\n\nb"}), {"format", "decomposition", "thinking"}),
        (lines({"problem": "p", "steps": ["a", ""]}), {"format", "empty_steps"}),
        (lines({"problem": "p", "steps": ["a"], "label": 0}), {"format", "labelled_by"}),
        (lines({"problem": "p", "answer": "4"}), {"format", "no_solution"}),
        ("nothing that is known", {"format"}),
    ],
    ids=["steps", "solution", "thinking", "empty step", "label", "problem", "unknown"],
)
def test_a_new_projects_preview_has_a_field_for_each_detected_choice(client, content, fields):
    page = shown(client, NEW, content)
    choices = {"format", "decomposition", "thinking", "empty_steps", "labelled_by", "no_solution"}
    assert {name for name in choices if f'name="{name}"' in page} == fields


def test_a_record_that_is_too_long_for_a_preview_is_no_error(client, project):
    page = shown(client, "/p/algebra/import/preview/", lines({"problem": "p", "steps": ["word " * 420_000]}))
    assert '<p class="note" data-status="The first record is longer than 2 MB, so there is no preview.' in page
    assert "message error" not in page


def test_a_new_project_reads_its_file_as_the_fields_of_the_preview_say(client):
    content = lines({"problem": "p", "answer": "4"}, {"problem": "q", "solution": "<think>x</think>a"})
    file = SimpleUploadedFile("a.jsonl", content.encode())
    fields = {"source": "file", "name": "Own", "format": "plain", "no_solution": "keep", "thinking": "keep"}
    client.post("/projects/new/", {"file": file, "decomposition": "lines", **fields})
    assert Problem.objects.filter(project=Project.objects.get(name="Own")).count() == 2
    assert list(Solution.objects.values_list("steps__text", flat=True).order_by("steps__position")) == ["x", "a"]


def test_a_new_project_of_problems_leads_to_sampling(client):
    file = SimpleUploadedFile("a.jsonl", lines({"problem": "p", "answer": "4"}).encode())
    fields = {"source": "file", "name": "Own", "no_solution": "keep"}
    answer = client.post("/projects/new/", {"file": file, **fields}, follow=True)
    assert answer.redirect_chain[-1][0] == "/p/own/sample/"
    assert "problems without solutions" in answer.content.decode()


def test_the_detected_delimiter_is_shown(client, project):
    page = shown(client, "/p/algebra/import/preview/", "problem;steps\np;a|b\nq;a|b\n", filename="a.csv")
    assert "detect from the file (semicolons)" in page
