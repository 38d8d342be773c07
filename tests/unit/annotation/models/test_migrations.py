"""The initial migration makes the tables that the models describe; an earlier development database is refused."""

from importlib import import_module

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

initial = import_module("annotation.migrations.0001_baseline")
IMMUTABLE = {
    "annotation_annotation", "annotation_auditentry", "annotation_pathstep", "annotation_practiceanswer",
    "annotation_screeningdecision", "annotation_shadowcomparison", "annotation_snapshot", "annotation_steprating",
}  # fmt: skip


@pytest.mark.django_db
def test_nothing_is_left_to_migrate(capsys):
    call_command("makemigrations", check=True, dry_run=True)
    assert "No changes detected" in capsys.readouterr().out


@pytest.mark.django_db
def test_what_models_cannot_express_is_in_the_database():
    triggers = {name for (name,) in rows("SELECT tgname FROM pg_trigger WHERE NOT tgisinternal")}
    assert {f"{table}_immutable" for table in IMMUTABLE} <= triggers
    assert {"queueitem_tally_insert", "queueitem_tally_update", "queueitem_tally_delete"} <= triggers
    assert "queueitem_reopen" in triggers
    constraints = {name for (name,) in rows("SELECT conname FROM pg_constraint")}
    assert {"solution_split_is_problems", "queue_item_split_is_solutions"} <= constraints
    assert rows("SELECT partstrat::text FROM pg_partitioned_table WHERE partrelid = 'annotation_poolscore'::regclass")


@pytest.mark.django_db
def test_a_database_of_an_earlier_development_version_is_refused_with_what_to_do():
    with (
        connection.schema_editor() as editor,
        pytest.raises(CommandError, match=r"before 0\.1\.0.*Export"),
    ):
        initial.refuse_older_database(None, editor)


def rows(statement):
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return cursor.fetchall()
