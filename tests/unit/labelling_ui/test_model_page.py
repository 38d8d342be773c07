"""The page of a model: its confirmation, its history, its audits and its facts."""

import re

import msgspec
import pytest
from django.utils import timezone

from annotation.loop import registry
from annotation.models import AuditEntry, ModelJob, ModelVersion
from annotation.models.model_version import Measurement
from labelling_ui.selectors.model_versions import facts_of, metric_rows
from tests.factories import ModelVersionFactory, ProblemFactory, make_verdict

pytestmark = pytest.mark.django_db
PAGE = "/p/algebra/models/{n}/"


@pytest.fixture
def champion(project):
    return project.model_versions.get(state="champion")


@pytest.fixture
def open_page(client, people):
    """The page at an address as a person with a role sees it."""

    def opened(address, role="manager"):
        client.force_login(people[role])
        return client.get(address).content.decode()

    return opened


def unmeasure(version):
    version.gate = make_verdict(gain=None)
    version.metrics = Measurement()
    version.save()


@pytest.mark.slow
def test_a_manager_confirms_an_unmeasured_champion(client, project, people, champion, open_page):
    page = PAGE.format(n=champion.number)
    assert "needs a manager’s confirmation" not in open_page("/p/algebra/")
    unmeasure(champion)
    assert "needs a manager’s confirmation" in open_page("/p/algebra/")
    assert f'href="{page}"' in open_page("/p/algebra/")
    assert "does not answer programs" in open_page("/p/algebra/serving/")
    assert "not confirmed" in open_page("/p/algebra/models/")
    confirm = f"{page}confirm/"
    assert confirm in open_page(page)
    assert f"did not measure model {champion.number}." in open_page(page), "the page may have its figures"
    assert confirm not in open_page(page, role="reviewer")
    assert client.post(confirm).status_code == 403
    client.force_login(people["manager"])
    assert client.post(confirm).status_code == 302
    champion.refresh_from_db()
    assert champion.answers_programs
    entry = AuditEntry.objects.get(action="model.confirm")
    assert (entry.by, entry.target_id) == (people["manager"], str(champion.pk))
    assert confirm not in open_page(page)
    assert "confirmed without a measurement" in open_page(page)
    assert "does not answer programs" not in open_page("/p/algebra/serving/")
    assert "needs a manager’s confirmation" not in open_page("/p/algebra/")


def test_an_unmeasured_domain_champion_is_confirmed_by_the_choice(project, people, champion):
    ProblemFactory(project=project, domain="geometry")
    other = ModelVersionFactory(project=project, number=2)
    registry.set_domain_champion(by=people["manager"], version=other, domain="geometry")
    other.refresh_from_db()
    assert other.answers_programs


def test_a_rejected_model_that_served_keeps_its_history(project, people, champion, open_page):
    rejected = ModelVersionFactory(
        project=project, number=2, state="rejected", gate=make_verdict(promote=False, gain=-0.1)
    )
    registry.promote_version(by=people["manager"], version=rejected)
    registry.promote_version(by=people["manager"], version=ModelVersion.objects.get(pk=champion.pk))
    assert ModelVersion.objects.get(pk=rejected.pk).state == "retired"
    for address in ("/p/algebra/models/", PAGE.format(n=2)):
        assert "rejected by the gate, promoted manually" in open_page(address)
    shown = open_page(PAGE.format(n=2))
    assert "made champion: chosen by hand" in shown
    assert f"replaced by model {champion.number}" in shown
    assert "rejected by the gate" not in open_page(PAGE.format(n=champion.number))


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ("queued", "An audit is waiting for a worker"),
        ("running", "An audit is running"),
        ("failed", "The last audit failed"),
    ],
)
def test_an_audit_is_shown_in_the_state_that_it_is_in(project, champion, open_page, state, words):
    page = PAGE.format(n=champion.number)
    assert "Not audited yet" in open_page(page)
    ModelJob.objects.create(project=project, kind="audit", model_version=champion, state=state)
    for role in ("manager", "reviewer"):
        assert words in open_page(page, role=role)
        assert "Not audited yet" not in open_page(page, role=role)


def test_neither_page_nor_api_names_a_folder_of_the_server(client, project, people, champion, open_page):
    folder = "/srv/models/llama"
    champion.manifest |= {"base": folder, "config": {"base": folder}}
    champion.save()
    job = ModelJob.objects.create(project=project, kind="audit", model_version=champion, started_at=timezone.now())
    shown = open_page(PAGE.format(n=champion.number))
    assert "llama" in shown
    assert folder not in shown
    told = client.get(f"/api/v1/models/{champion.pk}/").json()
    assert (told["manifest"]["base"], told["manifest"]["config"]["base"], told["lineage"]["base"]) == ("llama",) * 3
    assert client.get(f"/api/v1/projects/{project.slug}/jobs/model/{job.pk}/").status_code == 200


def test_the_page_shows_the_graded_solutions_and_how_often_grades_misled(champion, open_page):
    page = PAGE.format(n=champion.number)
    assert "graded solutions" not in open_page(page)
    rates = {
        "gsm8k": {"right_despite_error": 0.035, "wrong_without_error": 0.02},
        "math": {"right_despite_error": 0.188, "wrong_without_error": 0.01},
    }
    overall = {"right_despite_error": 0.144, "wrong_without_error": 0.015}
    noise = {"overall": overall, "domains": rates, "generators": {}, "right": 300, "wrong": 400}
    champion.manifest["graded"] = {"right": 1000, "wrong": 812, "noise": noise}
    champion.save()
    shown = open_page(page)
    assert "1,000 right, 812 wrong" in shown
    assert "14.4\xa0% (gsm8k: 3.5\xa0%, math: 18.8\xa0%)" in shown


def test_the_page_shows_the_monte_carlo_estimates_and_how_often_they_misled(champion, open_page):
    page = PAGE.format(n=champion.number)
    assert "right rollouts despite an error" not in open_page(page)
    rates = {"right_despite_error": 0.31, "wrong_without_error": 0.042}
    noise = {"overall": rates, "domains": {}, "generators": {}, "right": 300, "wrong": 400}
    champion.manifest["estimated"] = {"solutions": 1200, "steps": 4800, "noise": noise}
    champion.save()
    shown = open_page(page)
    assert "1,200 solutions, 4,800 steps" in shown
    assert "31.0\xa0%" in shown
    assert "4.2\xa0%" in shown


def test_the_facts_state_how_far_the_threshold_holds():
    facts = dict(facts_of(ModelVersion(manifest={"threshold": {"value": 0.8, "steps": 5}})))
    assert facts["first-error threshold"] == "0.800 in solutions of up to 5 steps, lower in longer ones"
    facts = dict(facts_of(ModelVersion(manifest={"threshold": {"value": 0.5}})))
    assert facts["first-error threshold"] == "0.500"


def test_a_comparison_names_the_training_options_that_differ(champion, open_page):
    other = ModelVersionFactory(project=champion.project)
    for version, options in ((champion, {"epochs": 30, "seed": 1}), (other, {"epochs": 5, "seed": 2, "shard": False})):
        version.manifest = {"config": {"learning_rate": 0.003, "optimizer": "adamw", **options}}
        version.save()
    compared = open_page(f"/p/algebra/models/compare/?a={champion.number}&b={other.number}")
    names = re.findall(r'<th scope="row"[^>]*>(\w+)</th>', compared)
    assert names == ["seed", "epochs"]
    assert re.search(r"epochs</th>\s*<td[^>]*>30</td>\s*<td[^>]*><b>5</b>", compared)


@pytest.mark.parametrize(("domains", "named"), [([""], []), (["algebra", ""], ["", "algebra"])])
def test_the_metrics_of_one_domain_are_those_of_all(champion, domains, named):
    report = champion.metrics.challenger
    champion.metrics.challenger = msgspec.structs.replace(report, by_domain=dict.fromkeys(domains, report.overall))
    assert [row["domain"] for row in metric_rows(champion)] == ["all domains", *named]
