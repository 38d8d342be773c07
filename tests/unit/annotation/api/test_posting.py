"""Solutions and test results that programs send."""

import json

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from annotation.core.membership.members import add_member
from annotation.core.membership.tokens import issue_token
from annotation.files import posting
from annotation.files.store import LOCK
from annotation.models import Annotation, AuditEntry, LabelSource, Problem, Solution

WHERE = "/api/v1/projects/project/solutions/"
RESULTS = "/api/v1/projects/project/test-results/"


@pytest.fixture
def api(manager, project):
    client = APIClient()
    _, secret = issue_token(by=manager, name="run", scopes=["read", "admin"])
    client.credentials(HTTP_AUTHORIZATION=f"Token {secret}")
    return client


def sample(number, **fields):
    return {"id": f"s{number}", "problem": "What is 2 + 2?", "steps": ["Add.", f"It is {number}."]} | fields


def send(api, *solutions, **fields):
    body = json.dumps({"solutions": solutions, **fields})
    return api.post(WHERE, body, content_type="application/json")


def told(response):
    assert response.status_code == 200, response.content
    return [(one["state"], one["field"]) for one in response.json()["solutions"]]


def test_a_batch_comes_in_with_what_made_it_and_again_adds_nothing(api):
    made = {"policy": "solver@400", "temperature": 0.7, "scaffold": "python", "visibility": "raw", "run": "rl-1"}
    batch = [
        sample(4, outcome="correct", final_answer="4", answer="4"),
        sample(5, outcome="wrong", provenance={"temperature": 1.0}),
        sample(6, outcome="unknown"),
    ]
    first = send(api, *batch, provenance=made)
    assert told(first) == [("accepted", "")] * 3
    found = list(Solution.objects.order_by("external_id"))
    assert [one.origin.temperature for one in found] == [0.7, 1.0, 0.7]
    assert {(one.generator, one.origin.run, one.split) for one in found} == {
        ("solver@400", "rl-1", Problem.objects.get().split)
    }
    assert [(one.final_answer_correct, one.outcome_source) for one in found] == [
        (True, "given"), (False, "given"), (None, ""),
    ]  # fmt: skip
    again = send(api, *batch, provenance=made)
    assert told(again) == [("duplicate", "")] * 3
    assert [one["solution"] for one in again.json()["solutions"]] == [one.pk for one in found]
    assert Solution.objects.count() == 3
    entry = AuditEntry.objects.filter(action="solutions.post").earliest("pk")
    assert entry.after == {"accepted": 3, "runs": ["rl-1"]}


@pytest.mark.parametrize(
    ("fault", "field"),
    [
        ({"id": "s1", "steps": ["Something else."]}, "id"),
        ({"steps": []}, "steps"),
        ({"steps": None}, "steps"),
        ({"temprature": 1}, ""),
        ({"provenance": {"visibility": "hidden"}}, "provenance.visibility"),
        ({"labels": [{"kind": "model_judge", "name": "j", "ratings": [1]}]}, "labels[0].ratings"),
        ({"labels": [{"kind": "model_judge", "name": "j", "first_error": 2}]}, "labels[0].first_error"),
        ({"labels": [{"kind": "model_judge", "name": "j"}]}, "labels[0]"),
        ({"labels": [{"kind": "guess", "name": "j", "first_error": 0}]}, "labels[0].kind"),
        ({"step_scores": [{"kind": "monte_carlo", "name": "j", "scores": [0.5]}]}, "step_scores[0].scores"),
        ({"problem": " "}, "problem"),
        ({"steps": ["a\0b"]}, "steps[0]"),
        ({"steps": ["a\ud800b"]}, ""),
        ({"id": "x" * 201}, "id"),
    ],
)
def test_a_solution_that_cannot_be_taken_is_answered_with_its_fault_and_the_others_are_in(api, fault, field):
    answers = send(api, sample(1), sample(2) | fault, sample(3))
    assert told(answers) == [("accepted", ""), ("rejected", field), ("accepted", "")]
    assert answers.json()["solutions"][1]["reason"]
    assert Solution.objects.count() == 2


def test_what_is_no_solution_at_all(api):
    assert told(send(api, 1, provenance={"run": "r"})) == [("rejected", "")]
    assert send(api, provenance=[]).status_code == 400


def test_lines_are_answered_line_by_line(api):
    lines = [json.dumps(sample(1)), "{broken", json.dumps(sample(2) | {"solution": "both"}), json.dumps([1])]
    response = api.post(WHERE, "\n".join(lines).encode(), content_type="application/x-ndjson")
    assert told(response) == [("accepted", ""), ("rejected", ""), ("rejected", "steps"), ("rejected", "")]
    assert [one["line"] for one in response.json()["solutions"]] == [1, 2, 3, 4]
    text = json.dumps({"problem": "p", "solution": "one\ntwo"}).encode()
    assert told(api.post(WHERE + "?decomposition=lines", text, content_type="application/x-ndjson"))
    assert Solution.objects.get(problem__text="p").steps.count() == 2


def test_labels_keep_their_source_and_scores_stay_scores(api):
    labels = [
        {"kind": "monte_carlo", "name": "solver", "detail": {"rollouts": 16}, "ratings": [1, -1]},
        {"kind": "model_judge", "name": "judge", "first_error": -1},
    ]
    scores = [{"kind": "monte_carlo", "name": "solver", "scores": [0.9, None]}]
    assert told(send(api, sample(5, labels=labels, step_scores=scores))) == [("accepted", "")]
    assert dict(Annotation.objects.values_list("source__kind", "first_error")) == {"monte_carlo": 1, "model_judge": -1}
    assert LabelSource.objects.get(kind="monte_carlo").detail == {"rollouts": 16}
    assert Solution.objects.get().extra == {"step_scores": [scores[0] | {"detail": {}}]}


def test_a_run_need_not_send_the_reference_of_a_problem_that_is_here(api):
    send(api, sample(1, answer="4"))
    label = {"kind": "model_judge", "name": "j", "ratings": [1, 1]}
    send(api, sample(2, labels=[label]))
    assert Problem.objects.get().reference_answer == "4"
    assert Annotation.objects.get().native == {}, "the same reference, not one that differs"


def test_bounds_and_roles(api, manager, project, settings):
    assert send(api, *[sample(n) for n in range(1001)]).status_code == 400
    lines = b"\n".join([json.dumps(sample(1)).encode()] * 1001)
    assert api.post(WHERE, lines, content_type="application/x-ndjson").json()["code"] == "too_many"
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 100
    assert api.post(WHERE, lines, content_type="application/x-ndjson").status_code == 413
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 10**6
    assert api.post(WHERE + "?decomposition=verse", lines, content_type="application/x-ndjson").status_code == 400
    reader = User.objects.create_user("reader")
    add_member(by=manager, project=project, user=reader, role="annotator")
    _, secret = issue_token(by=reader, name="reader", scopes=["read", "admin"])
    api.credentials(HTTP_AUTHORIZATION=f"Token {secret}")
    assert send(api, sample(1)).status_code == 403
    assert api.post(RESULTS, {"results": []}, format="json").status_code == 403
    assert not Solution.objects.exists()


def test_a_project_that_others_add_to_is_busy_and_nothing_waits_for_ever(api, project, monkeypatch):
    monkeypatch.setattr(posting, "LONGEST_WAIT", 1)
    other = connection.copy()
    with other.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s, %s)", [LOCK, project.pk])
        refused = send(api, sample(1))
    other.close()
    assert (refused.status_code, refused.json()["code"], refused["Retry-After"]) == (429, "intake_busy", "1")
    assert told(send(api, sample(1))) == [("accepted", "")]


def results(api, content, content_type):
    response = api.post(RESULTS, content, content_type=content_type)
    assert response.status_code == 200, response.content
    return response.json()


def outcomes():
    found = Solution.objects.order_by("external_id").values_list(
        "external_id", "final_answer_correct", "outcome_source"
    )
    return list(found)


def test_results_set_outcomes_once(api):
    send(api, *[sample(n, outcome="wrong" if n == 1 else "unknown") for n in range(1, 5)])
    lines = [
        {"id": "s1", "passed": 7, "failed": 0},
        {"id": "s2", "passed": 6, "failed": 1},
        {"id": "s3", "passed": 0},
        {"id": "s4", "passed": True, "result": "passed"},
        {"id": "s9", "passed": 1},
        {"passed": 1},
    ]
    content = "\n".join(map(json.dumps, lines)).encode() + b"\n{oops\n"
    said = results(api, content, "application/x-ndjson")
    assert (said["correct"], said["wrong"], said["changed"], said["refused"]) == (2, 1, 3, 4)
    assert [(one["line"], one["id"]) for one in said["shown"]] == [(6, ""), (7, ""), (3, "s3"), (5, "s9")]
    assert outcomes() == [("s1", True, "tests"), ("s2", False, "tests"), ("s3", None, ""), ("s4", True, "tests")]
    assert Solution.objects.get(external_id="s2").extra == {"tests": {"passed": 6, "failed": 1}}
    entry = AuditEntry.objects.get(action="outcomes.tests")
    key = str(Solution.objects.get(external_id="s1").pk)
    assert entry.before[key] == {"correct": False, "source": "given"}
    assert entry.after[key] == {"correct": True, "source": "tests", "passed": 7, "failed": 0}
    assert results(api, content, "application/x-ndjson")["changed"] == 0
    assert AuditEntry.objects.filter(action="outcomes.tests").count() == 1
    assert api.post(RESULTS, {"results": [{"id": "s3", "passed": 1}]}, format="json").json()["changed"] == 1


def test_many_results_are_one_update_and_the_audit_row_says_what_was_before_them(api):
    send(api, sample(1, outcome="wrong"), sample(2), sample(3))
    lines = [{"id": name, "passed": passed} for passed in (1, 2) for name in ("s1", "s2", "s3")]
    with CaptureQueriesContext(connection) as queries:
        results(api, "\n".join(map(json.dumps, lines)).encode(), "application/x-ndjson")
    assert sum('UPDATE "annotation_solution"' in query["sql"] for query in queries) == 1
    key = str(Solution.objects.get(external_id="s1", extra={"tests": {"passed": 2, "failed": 0}}).pk)
    entry = AuditEntry.objects.get(action="outcomes.tests")
    assert (entry.before[key], entry.after[key]["passed"]) == ({"correct": False, "source": "given"}, 2)


JUNIT = b"""<?xml version="1.0"?>
<testsuites>
  <testsuite name="s1"><testcase name="a"/><testcase name="b"/><testcase name="c"><skipped/></testcase></testsuite>
  <testsuite name="pytest">
    <testcase classname="s2" name="a"><failure message="no">trace</failure></testcase>
    <testcase classname="s2" name="b"/>
    <testcase classname="tests.run" name="a">
      <properties><property name="solution" value="s3"/></properties>
    </testcase>
    <testcase classname="tests.run" name="b">
      <properties><property name="solution" value="s4"/></properties><error/>
    </testcase>
    <testcase classname="nobody" name="a"/>
  </testsuite>
</testsuites>"""


def test_a_junit_report_names_its_solutions_by_property_suite_or_class(api):
    send(api, *[sample(n) for n in range(1, 5)])
    said = results(api, JUNIT, "application/xml")
    assert (said["correct"], said["wrong"], said["refused"]) == (2, 2, 1)
    assert [one["id"] for one in said["shown"]] == ["pytest"]
    assert [(name, correct) for name, correct, _ in outcomes()] == [
        ("s1", True), ("s2", False), ("s3", True), ("s4", False),
    ]  # fmt: skip
    assert Solution.objects.get(external_id="s1").extra["tests"] == {"passed": 2, "failed": 0}


LAUGHS = b"""<?xml version="1.0"?><!DOCTYPE t [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]>
<testsuite name="&b;"><testcase name="a"/></testsuite>"""
OUTSIDE = b"""<?xml version="1.0"?><!DOCTYPE t [<!ENTITY x SYSTEM "file:///etc/passwd">]>
<testsuite name="&x;"><testcase name="a"/></testsuite>"""


@pytest.mark.parametrize("content", [LAUGHS, OUTSIDE, JUNIT[:300], b" ", b"<html/>", b"{}", b"\xff\xfe"])
def test_a_report_that_is_hostile_or_none_is_refused(api, content):
    response = api.post(RESULTS, content, content_type="application/xml")
    assert (response.status_code, response.json()["code"]) == (400, "unreadable_results")


def test_results_by_command(api, project, tmp_path, capsys):
    send(api, *[sample(n) for n in range(1, 3)])
    report = tmp_path / "report.xml"
    report.write_bytes(JUNIT)
    call_command("import_test_results", str(report), project="project")
    assert "1 correct, 1 wrong; 2 of them changed; 3 refused." in capsys.readouterr().out
    with pytest.raises(CommandError, match="Choose one of: project"):
        call_command("import_test_results", str(report), project="none")
    with pytest.raises(CommandError, match="cannot be read"):
        call_command("import_test_results", str(tmp_path / "no.xml"), project="project")
