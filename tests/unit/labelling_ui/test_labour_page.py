"""The page and the settings of the division of labour."""

from django.contrib.auth.models import User
from django.test import Client

from annotation.models import Project
from tests.unit.labelling_ui.settings_form import as_opened


def test_settings_store_the_cost_of_an_hour_and_refuse_a_wrong_currency(
    client: Client, people: dict[str, User], project: Project
) -> None:
    client.force_login(people["manager"])
    form = as_opened(client, "labour")
    client.post("/p/algebra/settings/labour/", form | {"hour": "36.5", "currency": "CHF"})
    project.refresh_from_db()
    assert (project.policies.costs.hour, project.policies.costs.currency) == (36.5, "CHF")
    wrong = client.post("/p/algebra/settings/labour/", form | {"currency": "francs"})
    assert ["'francs' is not a currency code" in why for why in wrong.context["page"].refusals] == [True]
    client.post("/p/algebra/settings/labour/", form | {"hour": ""})
    project.refresh_from_db()
    assert project.policies.costs.hour is None
