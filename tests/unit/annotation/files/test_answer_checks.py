"""Outcomes by the grader: when solutions come in, and of those that are here already; what was given stays."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError, connection, transaction
from django.test.utils import CaptureQueriesContext

from annotation.core.errors import Conflict, Forbidden
from annotation.core.lifecycle import cancel_job
from annotation.files import answer_checks
from annotation.files.answer_checks import outcomes_of, regrade, run_answer_check, start_answer_check
from annotation.files.answer_grading import grade_records
from annotation.models import AuditEntry, Membership, Solution
from prm.formats.record import Completion, Record
from tests.factories import MembershipFactory, SolutionFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def add(project):
    def solution(reference, last, *, correct=None, source=""):
        return SolutionFactory(
            project=project,
            problem__reference_answer=reference,
            final_answer_correct=correct,
            outcome_source=source,
            steps=["A step before.", last],
        )

    return solution


@pytest.fixture
def check_answers(project, manager):
    def run(**how):
        check = start_answer_check(by=manager, project=project, **how)
        run_answer_check(check.pk)
        check.refresh_from_db()
        return check

    return run


def outcome(solution):
    solution.refresh_from_db()
    return solution.final_answer_correct, solution.outcome_source


def test_outcomes_are_filled_and_a_second_check_changes_nothing(project, manager, check_answers, add):
    right, wrong = add("1/2", r"So it is \boxed{\frac{2}{4}}."), add("3", "The answer is 4.")
    untold, bare = add("Athens", "The answer is Sparta."), add(None, "The answer is 4.")
    check = check_answers()
    assert [outcome(one) for one in (right, wrong, untold, bare)] == [
        (True, "grader"), (False, "grader"), (None, ""), (None, ""),
    ]  # fmt: skip
    assert (check.state, check.total, check.correct, check.wrong, check.unknown, check.changed) == (
        "done",
        3,
        1,
        1,
        1,
        2,
    )
    [row] = AuditEntry.objects.filter(action="outcomes.grade")
    assert row.before[str(right.pk)] == {"correct": None, "source": ""}
    assert row.after[str(wrong.pk)] == {"correct": False, "source": "grader"}
    assert check_answers().changed == 0
    counts = outcomes_of(project)
    assert (counts.correct, counts.wrong, counts.unknown, counts.total) == (1, 1, 2, 4)


@pytest.mark.parametrize("source", ["given", "tests"])
def test_an_outcome_from_elsewhere_stays_and_is_listed(project, manager, check_answers, add, source):
    solution = add("1125", "The answer is 1,125.", correct=False, source=source)
    check = check_answers()
    assert outcome(solution) == (False, source)
    assert check.changed == 0
    [listed] = check.disagreements.all()
    assert (listed.solution, listed.was, listed.was_source, listed.graded) == (solution, False, source, True)
    assert listed.answer == "1,125"
    assert check_answers(overwrite=True).changed == 1
    assert outcome(solution) == (True, "grader")


def test_a_check_that_was_lost_goes_on_where_it_was(project, manager, check_answers, add, monkeypatch):
    monkeypatch.setattr(answer_checks, "CHUNK", 1)
    first, second = add("3", "The answer is 3."), add("4", "The answer is 4.")
    check = start_answer_check(by=manager, project=project)
    keep = answer_checks._store

    def keep_and_die(*given):
        keep(*given)
        raise OperationalError("the database went away")

    monkeypatch.setattr(answer_checks, "_store", keep_and_die)
    with pytest.raises(OperationalError):
        run_answer_check(check.pk)
    assert [outcome(one)[0] for one in (first, second)] == [True, None]
    monkeypatch.setattr(answer_checks, "_store", keep)
    run_answer_check(check.pk)
    check.refresh_from_db()
    assert (check.state, check.done, check.correct) == ("done", 2, 2)


def test_a_cancelled_check_keeps_what_it_graded(project, manager, check_answers, add):
    solution = add("3", "The answer is 3.")
    check = start_answer_check(by=manager, project=project)
    assert cancel_job(by=manager, job=check).state == "cancelled"
    run_answer_check(check.pk)
    assert outcome(solution) == (None, "")
    with pytest.raises(Conflict):
        cancel_job(by=manager, job=check)


def test_only_a_manager_checks_one_at_a_time_and_only_where_there_is_a_reference(project, manager, check_answers, add):
    with pytest.raises(Conflict, match="reference"):
        start_answer_check(by=manager, project=project)
    add("3", "The answer is 3.")
    annotator = MembershipFactory(project=project, role=Membership.Role.ANNOTATOR)
    with pytest.raises(Forbidden):
        start_answer_check(by=annotator.user, project=project)
    start_answer_check(by=manager, project=project)
    with pytest.raises(Conflict, match="already"):
        start_answer_check(by=manager, project=project)


def test_a_check_from_a_shell_says_what_it_found(project, manager, check_answers, add):
    add("3", "The answer is 3.")
    add("4", "The answer is 4.", correct=False, source="given")
    out = StringIO()
    call_command("check_answers", project=project.slug, stdout=out)
    assert "2 correct, 0 wrong, 0 unknown; 1 outcomes changed." in out.getvalue()
    assert "correct" in out.getvalue().splitlines()[-1]


def test_a_check_from_a_shell_waits_for_the_worker_that_is_at_it(project, monkeypatch, add):
    add("3", "The answer is 3.")
    asked = []

    def run_beside_a_worker(check):
        asked.append(check)
        if len(asked) == 2:  # in other hands at first
            run_answer_check(check)

    monkeypatch.setattr("annotation.management.commands.check_answers.run_answer_check", run_beside_a_worker)
    out = StringIO()
    call_command("check_answers", project=project.slug, stdout=out)
    assert "1 correct" in out.getvalue()


def test_a_check_from_a_shell_that_fails_says_why(project, monkeypatch, add):
    add("3", "The answer is 3.")

    def broken(pairs, **limits):
        raise RuntimeError("no algebra today")

    monkeypatch.setattr(answer_checks, "grade_answers", broken)
    with pytest.raises(CommandError, match="no algebra today"):
        call_command("check_answers", project=project.slug, stdout=StringIO())


def test_records_are_graded_where_they_have_a_reference_and_no_outcome():
    def record(**known):
        return Record(problem="?", positions=[[Completion("So x = 3.")], [Completion("The answer is 3.")]], **known)

    records = [
        record(reference_answer="3"),
        record(reference_answer="4"),
        record(reference_answer="3", final_answer_correct=False),
        record(),
        record(reference_answer="3", final_answer="5"),
    ]
    grade_records(records)
    assert [(one.final_answer_correct, one.outcome_source) for one in records] == [
        (True, "grader"), (False, "grader"), (False, None), (None, None), (False, "grader"),
    ]  # fmt: skip


def test_an_import_grades_what_comes_without_an_outcome(import_content):
    lines = [
        {"problem": "One and two?", "steps": ["The answer is 3."], "answer": "3"},
        {"problem": "Two and two?", "steps": ["The answer is 5."], "answer": "4"},
        {"problem": "Two and one?", "steps": ["The answer is 5."], "answer": "3", "final_answer_correct": True},
    ]
    assert import_content(lines).accepted == 3
    outcomes = Solution.objects.order_by("pk").values_list("final_answer_correct", "outcome_source")
    assert list(outcomes) == [(True, "grader"), (False, "grader"), (True, "given")]
    assert import_content(lines).duplicates == 3


def test_a_chunk_takes_as_many_statements_for_one_solution_as_for_many(add, check_answers):
    add("4", "The answer is 4.")
    with CaptureQueriesContext(connection) as one:
        check_answers()
    for _ in range(9):
        add("5", "The answer is 5.")
    with CaptureQueriesContext(connection) as many:
        assert check_answers().changed == 9
    assert len(many) == len(one)


@pytest.mark.django_db(transaction=True)
def test_labels_are_stored_while_solutions_are_graded_again(add, manager, monkeypatch):
    solution = add("3", "The answer is 3.")

    def grade_beside_a_label(answers, **limits):
        other = connection.copy()
        with other.cursor() as cursor:  # the lock of a label's foreign key
            cursor.execute("SET lock_timeout = '1s'")
            cursor.execute("SELECT FROM annotation_solution WHERE id = %s FOR KEY SHARE", [solution.pk])
        other.close()
        return [True]

    monkeypatch.setattr(answer_checks, "grade_answers", grade_beside_a_label)
    with transaction.atomic():
        regrade(solution.problem, by=manager)
    assert outcome(solution) == (True, "grader")
