"""The references that triggers check for each statement promise what a foreign key promises."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from django.db import IntegrityError, NotSupportedError, connection, transaction

from annotation.models import ImportJob, PathStep, Problem, Solution, SolutionWords, Step, StepRating
from tests.factories import AnnotationFactory, SolutionFactory, index_words
from tests.waiting import until

NOWHERE = 2**62
REFERENCES = [
    (Step, "solution_id"),
    (SolutionWords, "solution_id"),
    (Solution, "project_id"),
    (Solution, "import_job_id"),
    (Problem, "project_id"),
    (PathStep, "annotation_id"),
    (PathStep, "chosen_id"),
    (StepRating, "annotation_id"),
    (StepRating, "step_id"),
]
INSERT = (
    "INSERT INTO annotation_step (solution_id, position, alternative, text, kind) "
    "SELECT solution, position, 0, '', 'reasoning' FROM unnest(%s::bigint[]) solution, generate_series(50, 52) position"
)
DELETE = "DELETE FROM annotation_solution WHERE id = %s"
ERASING = "SET LOCAL stepmark.erasing = 'on'"  # labels can only change in such a transaction


def imported():
    """A solution with everything that an import adds."""
    solution = SolutionFactory()
    solution.import_job = ImportJob.objects.create(project=solution.project, filename="f", path="f")
    solution.save()
    index_words(solution.project)
    return solution


def labelled():
    """The same with a label."""
    solution = imported()
    annotation, step = AnnotationFactory(solution=solution), solution.steps.first()
    PathStep.objects.create(annotation=annotation, position=0, chosen=step)
    StepRating.objects.create(annotation=annotation, step=step, state="rated", rating=1)
    return solution


@pytest.mark.django_db
@pytest.mark.parametrize(("model", "field"), REFERENCES)
def test_a_row_refers_to_a_row_that_exists(model, field):
    labelled()
    run_all(ERASING)
    with pytest.raises(IntegrityError, match=f"{field}: there is no row {NOWHERE}"), transaction.atomic():
        model.objects.update(**{field: NOWHERE})


@pytest.mark.django_db
def test_one_bad_row_of_many_is_noticed():
    known = SolutionFactory().pk
    with connection.cursor() as cursor:
        cursor.execute(INSERT, [[known]])
        with pytest.raises(IntegrityError, match="annotation_step solution_id"), transaction.atomic():
            cursor.execute(INSERT.replace("50", "60").replace("52", "62"), [[known, NOWHERE]])
        with pytest.raises(IntegrityError, match="annotation_step solution_id"), transaction.atomic():
            copy_steps(known, NOWHERE)


def copy_steps(*solutions):
    statement = "COPY annotation_step (solution_id, position, alternative, text, kind) FROM STDIN"
    with connection.cursor() as cursor, connection.wrap_database_errors, cursor.copy(statement) as rows:
        for solution in solutions:
            rows.write_row((solution, 70, 0, "", "reasoning"))


@pytest.mark.django_db
def test_an_unknown_job_is_no_reference():
    solution = imported()
    Solution.objects.filter(pk=solution.pk).update(import_job=None)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("model", "field"), REFERENCES)
def test_what_is_referred_to_is_not_deleted(model, field):
    solution = labelled()
    parent = model._meta.get_field(field.removesuffix("_id")).related_model._meta.db_table
    row = model.objects.values_list(field, flat=True).first()
    # Other tables may refer to the row, too: only this reference is checked.
    check = f"SET CONSTRAINTS {model._meta.db_table}_{field}_on_delete IMMEDIATE"
    with pytest.raises(IntegrityError, match=f"{model._meta.db_table} still refers to row {row} of {parent}"):
        run_all(ERASING, f"DELETE FROM {parent} WHERE id = {row}", check)
    assert Solution.objects.filter(pk=solution.pk).exists()


@pytest.mark.django_db(transaction=True)
def test_a_transaction_may_delete_in_any_order_but_only_what_it_sees():
    imported()
    deletions = [f"DELETE FROM annotation_{table}" for table in ("solution", "step", "solutionwords")]
    run_all(*deletions)
    assert not Solution.objects.exists()
    SolutionFactory()
    with pytest.raises(NotSupportedError, match="READ COMMITTED"):
        run_all("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ", *deletions)
    assert Step.objects.exists()


def run_all(*statements):
    """Run the statements in one transaction."""
    with transaction.atomic(), connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


@contextmanager
def another_transaction():
    """A cursor of a connection of its own, whose block is one transaction."""
    other = connection.copy()
    try:
        with other.cursor() as cursor:
            cursor.execute("BEGIN")
            yield cursor
    finally:
        other.close()


def waits():
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
        )
        return cursor.fetchone()[0] == 1


@pytest.fixture
def bare():
    """A solution without steps."""
    solution = SolutionFactory()
    Step.objects.all().delete()
    return solution.pk


def run(cursor, statement, value):
    """Run a statement and commit; returns the error."""
    try:
        cursor.execute(statement, [value])
        cursor.execute("COMMIT")
    except IntegrityError as error:
        return str(error)
    return None


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("end", ["COMMIT", "ROLLBACK"])
def test_a_deletion_waits_for_steps_that_are_being_added(bare, end):
    with another_transaction() as adding, another_transaction() as deleting, ThreadPoolExecutor(1) as thread:
        adding.execute(INSERT, [[bare]])
        deletion = thread.submit(run, deleting, DELETE, bare)
        until(waits)
        adding.execute(end)
        refused = deletion.result(timeout=20)
    if end == "COMMIT":
        assert f"annotation_step still refers to row {bare}" in refused
        assert (Solution.objects.count(), Step.objects.count()) == (1, 3)
    else:
        assert refused is None
        assert (Solution.objects.count(), Step.objects.count()) == (0, 0)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("end", ["COMMIT", "ROLLBACK"])
def test_steps_wait_for_a_deletion_of_their_solution(bare, end):
    with another_transaction() as adding, another_transaction() as deleting, ThreadPoolExecutor(1) as thread:
        deleting.execute(DELETE, [bare])
        addition = thread.submit(run, adding, INSERT, [bare])
        until(waits)
        deleting.execute(end)
        refused = addition.result(timeout=20)
    if end == "COMMIT":
        assert f"there is no row {bare} in annotation_solution" in refused
        assert (Solution.objects.count(), Step.objects.count()) == (0, 0)
    else:
        assert refused is None
        assert (Solution.objects.count(), Step.objects.count()) == (1, 3)
