"""A page of the settings as a browser sends it."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from django.contrib.auth.models import User
from django.db import connection, transaction
from django.test import Client

from annotation.core.membership.projects import change_project
from annotation.models import Project
from tests.waiting import is_waited_for, until


def as_opened(client: Client, name: str) -> dict[str, Any]:
    """Every field of the page as it opens; boxes that are not ticked are not sent."""
    shown = client.get(f"/p/algebra/settings/{name}/").context["page"].values
    return {field: value for field, value in shown.items() if value is not None and value is not False}


def errors_of(response: Any) -> dict[str, list[str]]:
    """The errors at the fields of the submitted page."""
    return {name: told for part in response.context["page"].parts for name, told in part.errors.items()}


def save_beside_another(client: Client, address: str, data: dict[str, Any], *, by: User, project: Project) -> None:
    """Save the page while another change of the policy is not committed yet: a generation budget of 77."""

    def save() -> int:
        try:
            return client.post(address, data).status_code
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as aside, transaction.atomic():
        change_project(by=by, project=project, policy=project.policy | {"generation_budget": 77})
        saved = aside.submit(save)
        until(lambda: is_waited_for() or saved.done())
    assert saved.result() == 302
    project.refresh_from_db()
