"""The page of the audit log: actions in words, each with a link to its target."""

import ast
import csv
import io
import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

import annotation
from annotation.core import audit
from annotation.models import Job, ModelJob, Preference, Project, TrainingRun
from labelling_ui.pages.audit_log import ACTIONS, changes_of
from prm.messages import Message

ADDRESS = "/p/algebra/audit/"


def actions_in_code() -> Iterator[str]:
    """Whatever looks like an action in the files that write audit rows of a project."""
    for file in Path(annotation.__path__[0]).rglob("*.py"):
        code = file.read_text()
        if "audit.record(" in code or "audit.entry(" in code:
            texts = (node.value for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Constant))
            yield from (text for text in texts if isinstance(text, str) and re.fullmatch(r"[a-z_]+\.[a-z_]+", text))


NO_ACTIONS = re.compile(
    r"annotation(_solution)?\.(webhook|id)|auth_user\..*|(rounds|webhooks)\..*|account\.(language|password)"
)


def listed(client: Client, query: str = "") -> list[str]:
    return [row.action for row in client.get(f"{ADDRESS}{query}").context["listing"].page.object_list]


def test_every_action_has_words() -> None:
    jobs = {*Job.kinds(), *(f"model.{kind}" for kind in ModelJob.Kind.values)} - {"model"}
    ends = {f"{job}.{end}" for job in jobs for end in ("cancel", "resume", "done", "failed", "cancelled")}
    known = {name for name in actions_in_code() if not NO_ACTIONS.fullmatch(name)}
    assert known | ends | {"sent_back.answer", "sent_back.take_back"} <= {*ACTIONS}


def test_a_row_says_who_did_what_to_what(manager: Client, project: Project, people: dict[str, User]) -> None:
    run = TrainingRun.objects.get()
    state = {"reason": "<slow>", "error": Message("worker_died_repeatedly", n=2)}
    audit.record(by=people["manager"], action="run.request", target=run, before={"state": "a", "n": 1}, after=state)
    page = manager.get(ADDRESS)
    shown = page.content.decode()
    assert "Run: requested" in shown
    assert f'<a href="/p/algebra/runs/{run.number}/">Run {run.number}</a>' in shown
    assert "<b>reason</b>: &lt;slow&gt;" in shown
    assert "<b>state</b>: a →" in shown
    assert page.context["listing"].page.object_list[0].action == "run.request", "latest first"
    rows = list(csv.DictReader(io.StringIO(manager.get(ADDRESS, {"download": "csv"}).getvalue().decode())))
    assert rows[0]["action"] == "run.request"
    assert rows[0]["by"] == "manager"
    assert rows[0]["changes"].splitlines() == ["n: 1 →", "state: a →", f"error: {state['error']}", "reason: <slow>"]
    Preference.objects.create(user=people["manager"], language="de")
    german = manager.get(ADDRESS).content.decode()
    assert "Lauf: angefordert" in german
    assert str(state["error"]) not in german, "a message is in the reader's language"


def test_of_an_object_only_what_changed_is_shown(manager: Client, project: Project, people: dict[str, User]) -> None:
    before = {"policy": {"gate": {"least": 20, "most": 1}, "mix": {"gold": 0.1}}, "name": "A"}
    after = {"policy": {"gate": {"least": 30, "most": 1}, "mix": {"gold": 0.1}, "new": [1]}, "name": "A"}
    audit.record(by=people["manager"], action="project.change", target=project, before=before, after=after)
    assert {*changes_of(project.audit_entries.first())} == {
        ("policy.gate.least", "20 → 30"),
        ("policy.new", "[1]"),
        ("name", "A → A"),
    }


def test_it_is_filtered_by_person_action_and_period(manager: Client, project: Project, people: dict[str, User]) -> None:
    run = TrainingRun.objects.get()
    audit.record(by=people["reviewer"], action="run.cancel", target=run)
    audit.record(by=None, action="run.prune", target=run)
    assert listed(manager, "?by=reviewer&action=run.cancel") == ["run.cancel"]
    assert listed(manager, "?by=reviewer&action=run.prune") == []
    assert '<option value="(platform)">Stepmark</option>' in manager.get(ADDRESS).content.decode()
    assert listed(manager, "?by=(platform)&action=run.prune") == ["run.prune"]
    assert listed(manager, "?by=(platform)&action=run.cancel") == []
    assert listed(manager, f"?target_type=trainingrun&target_id={run.pk}") == ["run.prune", "run.cancel"]
    today = timezone.now().date()
    assert "run.prune" in listed(manager, f"?since={today}&until={today}")
    assert listed(manager, f"?since={today + timedelta(days=1)}") == []
    assert listed(manager, f"?until={today - timedelta(days=1)}") == []
    assert "run.prune" in listed(manager, "?since=tomorrow&target_id=")


def test_every_kind_of_target_is_named(
    manager: Client, project: Project, people: dict[str, User], django_assert_max_num_queries: Callable[..., Any]
) -> None:
    manager.get(ADDRESS)
    with django_assert_max_num_queries(24):
        page = manager.get(ADDRESS)
    for row in page.context["listing"]:
        if row.target_type != "problem":
            assert row.page, row.target_type
            assert manager.get(row.page).status_code == 200, row.page
