"""Prepared statements: the same rows as the ORM gives, inside its transactions, with its errors."""

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from annotation.core.statements import columns, fetch_all, fetch_one, instance
from annotation.models import Project

SELECT = f"SELECT {columns(Project)} FROM annotation_project WHERE slug = %(slug)s"


@pytest.mark.django_db
def test_a_row_is_the_model_that_the_orm_gives():
    Project.objects.create(slug="one", name="Eins", policy={"backbone": "tiny", "mix": {"control": 0.5}})

    row = fetch_one(SELECT, {"slug": "one"})

    assert row is not None
    found, expected = instance(Project, row), Project.objects.get(slug="one")
    assert {**vars(found), "_state": None} == {**vars(expected), "_state": None}
    assert not found._state.adding


@pytest.mark.django_db
def test_the_server_plans_a_statement_once_whatever_the_size_of_its_numbers():
    statement = "SELECT id FROM annotation_project WHERE id = %(id)s -- planned once"
    for number in (1, 2**15, 2**31, 2**62):
        fetch_all(statement, {"id": number})

    [(plans,)] = fetch_all(
        "SELECT sum(generic_plans + custom_plans) FROM pg_prepared_statements WHERE statement = %(it)s "
        "GROUP BY parameter_types", {"it": statement.replace("%(id)s", "$1")},
    )  # fmt: skip
    assert plans == 4


@pytest.mark.django_db
def test_it_sees_what_the_running_transaction_has_written_and_is_rolled_back_with_it():
    Project.objects.create(slug="one", name="Eins")
    with transaction.atomic():
        fetch_all("UPDATE annotation_project SET slug = %(slug)s WHERE slug = 'one'", {"slug": "two"})
        assert Project.objects.filter(slug="two").exists()
        transaction.set_rollback(True)

    assert fetch_one(SELECT, {"slug": "two"}) is None


@pytest.mark.django_db
def test_errors_are_those_of_django():
    user = User.objects.create_user("once")
    with pytest.raises(IntegrityError), transaction.atomic():
        fetch_all("UPDATE auth_user SET id = NULL WHERE id = %(id)s", {"id": user.pk})
