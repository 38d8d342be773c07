"""A page of the settings as a browser sends it."""

from typing import Any

from django.test import Client


def as_opened(client: Client, name: str) -> dict[str, Any]:
    """Every field of the page as it opens; boxes that are not ticked are not sent."""
    shown = client.get(f"/p/algebra/settings/{name}/").context["page"].values
    return {field: value for field, value in shown.items() if value is not None and value is not False}


def errors_of(response: Any) -> dict[str, list[str]]:
    """The errors at the fields of the submitted page."""
    return {name: told for part in response.context["page"].parts for name, told in part.errors.items()}
