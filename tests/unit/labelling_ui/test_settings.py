"""The settings pages: each is saved alone, and shows each error at its field."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotation.core.membership.projects import change_project
from annotation.models import Project
from labelling_ui.pages.settings.views import PAGES
from tests.unit.labelling_ui.settings_form import as_opened, errors_of, save_beside_another

pytestmark = pytest.mark.usefixtures("project")
NAMES = [page.name for page in PAGES]
EXAMPLE = {"rating": "bad", "step": "It is 5.", "before": "", "why": ""}


@pytest.mark.parametrize("name", NAMES)
def test_a_page_that_is_saved_as_it_opened_changes_nothing(manager: Client, project: Project, name: str) -> None:
    project.policy = {"rounds": {"cron": "0 3 * * *", "quiet_hours": ["22:00-07:00"]}, "serving": {"log_days": 7}}
    project.scheme = {
        "error_types": ["slip", {"name": "jump", "group": "Reading"}],
        "answers": {"good": {"name": "Sound", "colour": "green"}},
        "keys": {"good": "u", "search": "#"},
    }
    project.save()
    project.guideline_versions.create(number=1, text="Count.", examples=[EXAMPLE])
    before = (project.name, project.label_scheme, project.policies)
    sent = as_opened(manager, name)
    if name == "guidelines":
        example = sent.pop("examples")[0]
        sent |= {"examples-TOTAL_FORMS": 1, "examples-INITIAL_FORMS": 1}
        sent |= {f"examples-0-{field}": value for field, value in example.items()}
    if name == "labour":
        sent |= {"routes-TOTAL_FORMS": 0, "routes-INITIAL_FORMS": 0}
    saved = manager.post(f"/p/algebra/settings/{name}/", sent)
    assert (saved.status_code, saved.headers["Location"]) == (302, f"/p/algebra/settings/{name}/")
    project.refresh_from_db()
    assert (project.name, project.label_scheme, project.policies) == before
    assert project.guideline_versions.get().number == 1


def test_a_page_that_changed_since_it_was_opened_is_saved_on_the_second_press(
    manager: Client, project: Project, people: dict[str, User]
) -> None:
    """The page was saved at once, which reset every other field to its earlier value."""
    address, sent = "/p/algebra/settings/queue/", as_opened(manager, "queue")
    sent["opened"] = manager.get(address).context["page"].stamp
    change_project(by=people["manager"], project=project, policy={"queue": {"lease_minutes": 45}})
    refused = manager.post(address, sent | {"daily_cap": 7})
    assert "Not saved. These settings changed after you opened this page." in refused.content.decode()
    project.refresh_from_db()
    assert (project.policies.queue.lease_minutes, project.policies.queue.daily_cap) == (45, 0)
    assert 'name="daily_cap" value="7"' in refused.content.decode()
    again = manager.post(address, sent | {"daily_cap": 7, "opened": refused.context["page"].stamp})
    assert again.status_code == 302
    project.refresh_from_db()
    assert (project.policies.queue.lease_minutes, project.policies.queue.daily_cap) == (30, 7)


def test_only_what_composes_generations_says_that_the_open_one_is_unchanged(manager: Client, project: Project) -> None:
    for name, later in (("project", False), ("queue", True)):
        saved = manager.post(f"/p/algebra/settings/{name}/", as_opened(manager, name), follow=True)
        assert ("The open generation is unchanged" in saved.content.decode()) == later
        assert "Saved." in saved.content.decode()


def test_every_decision_of_a_project_stands_on_one_page(manager: Client, project: Project) -> None:
    fields = [field for name in NAMES for field in manager.get(f"/p/algebra/settings/{name}/").context["page"].values]
    assert len(fields) == len(set(fields))
    told = {name for page in PAGES for part in page.parts for name in part(None, initial=part.values(project)).fields}
    assert {"name", "guidelines", "stop_at_first_error", "name_good", "key_good", "control", "idle_seconds"} < told


def test_the_old_address_opens_the_first_page_and_an_unknown_one_is_not_there(manager: Client) -> None:
    page = manager.get("/p/algebra/settings/")
    assert (page.status_code, page.context["page"].kind.name) == (200, NAMES[0])
    assert manager.get("/p/algebra/settings/nonsense/").status_code == 404


def test_what_is_wrong_is_named_at_its_field(manager: Client, project: Project) -> None:
    address, data = "/p/algebra/settings/queue/", as_opened(manager, "queue")
    wrong = manager.post(address, data | {"control": "1.5"})
    assert "less than or equal to 1" in errors_of(wrong)["control"][0]
    assert "Not saved. Correct the errors" in wrong.content.decode()
    wrong = manager.post(address, data | {"wanted_control": "0"})
    assert "wanted_control" in errors_of(wrong)
    wrong = manager.post(address, data | {"lease_minutes": "1"})
    assert "heartbeat interval" in errors_of(wrong)["heartbeat_seconds"][0], "a rule about two fields, too"
    wrong = manager.post(address, data | {"generation_budget": "0"})
    assert "greater than or equal to 1" in errors_of(wrong)["generation_budget"][0]
    wrong = manager.post(address, data | {"control": "1.5", "generation_budget": "0", "wanted_overlap": "-1"})
    assert set(errors_of(wrong)) == {"control", "generation_budget", "wanted_overlap"}, "all of them at once"
    saved = manager.post(address, data | {"control": "0.3"})
    assert saved.status_code == 302
    project.refresh_from_db()
    assert project.policies.mix.control == 0.3


def test_all_that_the_domain_refuses_is_named_at_once(manager: Client, project: Project) -> None:
    sent = as_opened(manager, "project") | {"name": "New", "licence": "My own", "languages": "English"}
    assert set(errors_of(manager.post("/p/algebra/settings/project/", sent))) == {"licence", "languages"}
    project.refresh_from_db()
    assert project.name != "New"
    sent = as_opened(manager, "quality") | {"items": "2", "pass_mark": "9"}
    assert len(errors_of(manager.post("/p/algebra/settings/quality/", sent))["pass_mark"]) == 1


def test_a_backbone_that_is_not_listed_is_refused_at_its_field(manager: Client, project: Project) -> None:
    sent = as_opened(manager, "training") | {"backbone": "/etc"}
    refused = manager.post("/p/algebra/settings/training/", sent)
    assert "'/etc' is not a backbone of this server" in errors_of(refused)["backbone"][0]
    project.refresh_from_db()
    assert project.policies.backbone == "tiny"


def test_what_was_typed_is_there_again_when_another_field_is_refused(manager: Client) -> None:
    sent = as_opened(manager, "rounds") | {"cron": "every morning", "quiet_hours": "22:00-07:00"}
    page = manager.post("/p/algebra/settings/rounds/", sent).content.decode()
    assert "22:00-07:00" in page
    assert 'data-unsaved="sent"' in page


def test_error_types_are_lines_and_two_things_never_share_a_key(manager: Client, project: Project) -> None:
    sent = as_opened(manager, "scheme") | {"error_types": "slip\n\njump"}
    assert manager.post("/p/algebra/settings/scheme/", sent).status_code == 302
    refused = manager.post("/p/algebra/settings/answers/", {"key_good": "j"})
    assert errors_of(refused)["key_good"] == [
        "This key is already used for “Next step”. Choose a different key for one of them."
    ]
    manager.post("/p/algebra/settings/answers/", {"key_good": "u", "name_good": "Sound"})
    project.refresh_from_db()
    assert [term.name for term in project.label_scheme.error_types] == ["slip", "jump"]
    assert (project.label_scheme.keys, project.label_scheme.answers.good.name) == ({"good": "u"}, "Sound")


def test_the_live_comparison_is_switched_off_in_the_settings(manager: Client, project: Project) -> None:
    data = as_opened(manager, "training")
    del data["shadow_models"]
    assert manager.post("/p/algebra/settings/training/", data).status_code == 302
    project.refresh_from_db()
    assert not project.policies.shadow_models


@pytest.mark.django_db(transaction=True)
def test_two_pages_saved_in_one_moment_both_count(manager: Client, people: dict[str, User], project: Project) -> None:
    data = as_opened(manager, "training")
    del data["shadow_models"]
    save_beside_another(manager, "/p/algebra/settings/training/", data, by=people["manager"], project=project)
    assert (project.policies.shadow_models, project.policies.generation_budget) == (False, 77)


def test_training_choices_are_checked_where_they_are_made(manager: Client, project: Project) -> None:
    address, data = "/p/algebra/settings/training/", as_opened(manager, "training")
    for choices, reason in {
        '{"epoch": 3}': "unknown field `epoch`",
        "[3]": "Enter a JSON object",
        "{epochs}": "valid JSON",
    }.items():
        wrong = manager.post(address, data | {"training": choices})
        assert reason in errors_of(wrong)["training"][0]
    assert manager.post(address, data | {"training": '{"lane": "lora"}'}).status_code == 302
    project.refresh_from_db()
    assert project.policies.training == {"lane": "lora"}
    assert "&quot;lora&quot;" in manager.get(address).content.decode()
    patch = {"policy": {"training": {"lane": "nonsense"}}}
    refused = manager.patch("/api/v1/projects/algebra/", patch, content_type="application/json")
    assert (refused.status_code, refused.json()["code"]) == (400, "invalid_policy")
    assert "`lane`" in refused.json()["message"]


def test_what_dataset_cards_state_is_set_once_for_the_project(manager: Client, project: Project) -> None:
    sent = as_opened(manager, "project") | {"licence": "cc-by-4.0", "languages": "en, de", "annotator_pay": "15 EUR"}
    assert manager.post("/p/algebra/settings/project/", sent).status_code == 302
    project.refresh_from_db()
    card = project.policies.card
    assert (card.licence, card.languages, card.annotator_pay) == ("cc-by-4.0", ["en", "de"], "15 EUR")
    refused = manager.post("/p/algebra/settings/project/", sent | {"licence": "My own"})
    assert "'My own' is not the identifier of a licence" in errors_of(refused)["licence"][0]
