"""The admin, where the audit log is read, speaks English."""

import re

from django.apps import apps
from django.contrib.auth.models import User
from django.test import Client


def test_every_model_has_a_plural() -> None:
    plurals = [model._meta.verbose_name_plural for model in apps.get_app_config("annotation").get_models()]
    assert [plural for plural in plurals if re.search("([^aeiou]y|ch|sh|x)s$", str(plural))] == []


def test_the_audit_log_opens_under_our_name(client: Client, people: dict[str, User]) -> None:
    client.force_login(people["superuser"])
    page = client.get("/admin/annotation/auditentry/").content.decode()
    assert "Stepmark" in page
    assert "Audit entries" in page
