"""The migrations make the tables that the models describe, and can be taken back."""

import pytest
from django.core.management import call_command
from django.db import connection


@pytest.mark.django_db
def test_nothing_is_left_to_migrate(capsys):
    call_command("makemigrations", check=True, dry_run=True)
    assert "No changes detected" in capsys.readouterr().out


@pytest.mark.django_db(transaction=True)
def test_the_invariants_can_be_taken_back_and_put_again():
    for target in ("0001_domain", "0002_invariants"):
        call_command("migrate", "annotation", target, verbosity=0)
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_trigger WHERE tgname LIKE 'annotation_%%_immutable'")
        assert cursor.fetchone() == (5,)
    call_command("migrate", "annotation", verbosity=0)
