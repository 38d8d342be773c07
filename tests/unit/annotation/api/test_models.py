"""A manager does over the API what the models' pages do; reviewers look, and others do not."""

import pytest
from django.utils import timezone

from annotation.loop.model_jobs.exporting import export_path
from annotation.models import ModelJob, ModelVersion, PoolScoring
from annotation.models.model_job import ImportedFolder
from annotation.models.model_version import Measurement
from tests.api_client import api_of
from tests.factories import MembershipFactory, ModelVersionFactory, ProblemFactory

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def root(settings, tmp_path):
    settings.STATE_ROOT = tmp_path
    return tmp_path


@pytest.fixture
def version():
    manifest = {"base": "tiny", "versions": {"prm": "1.0"}, "config": {"seed": 7}}
    return ModelVersionFactory(number=3, state="champion", manifest=manifest, metrics=Measurement(champion=2))


@pytest.fixture
def call(version):
    """Ask as a member with a role: status, body."""

    def ask(method, address, data=None, role="manager"):
        client = api_of(MembershipFactory(project=version.project, role=role).user)
        answer = (
            client.generic(method, f"/api/v1/{address}")
            if data is None
            else client.post(f"/api/v1/{address}", data, format="json")
        )
        return answer.status_code, answer.json() if answer.headers.get("Content-Type") == "application/json" else answer

    return ask


def test_a_version_is_described_with_its_lineage(version, call):
    status, body = call("GET", f"models/{version.pk}/", role="reviewer")
    assert status == 200
    assert (body["number"], body["project"], body["manifest"]) == (3, version.project.slug, version.manifest)
    assert body["lineage"] == {
        "run": None, "snapshot": None, "snapshot_sha256": None, "imported_from": "", "base": "tiny",
        "base_sha256": None, "code": "1.0", "seed": 7, "measured_against": 2,
    }  # fmt: skip
    assert call("GET", f"models/{version.pk}/", role="annotator")[0] == 403


def test_a_version_without_a_manifest_is_described_too(version, call):
    bare = ModelVersionFactory(project=version.project, number=4)
    assert call("GET", f"models/{bare.pk}/")[1]["lineage"]["base"] is None


def test_pinned_and_unpinned(version, call):
    assert call("PUT", f"models/{version.pk}/pin/", role="reviewer")[0] == 403
    assert call("PUT", f"models/{version.pk}/pin/")[1]["pinned"]
    assert call("GET", f"projects/{version.project.slug}/model-retention/")[1] == {
        "keep_models": 10, "pinned": [3], "due": [], "deleted": [],
    }  # fmt: skip
    assert not call("DELETE", f"models/{version.pk}/pin/")[1]["pinned"]


def test_a_domain_gets_a_champion_and_gives_it_back(version, call):
    ProblemFactory(project=version.project, domain="algebra")
    of_project = f"projects/{version.project.slug}/domain-champions/"
    refused = call("POST", f"models/{version.pk}/serve-domain/", {"domain": "cooking"})
    assert (refused[0], refused[1]["code"]) == (400, "unknown_domain")
    assert call("POST", f"models/{version.pk}/serve-domain/", {"domain": "algebra"})[1]["number"] == 3
    [chosen] = call("GET", of_project, role="reviewer")[1]["results"]
    assert (chosen["domain"], chosen["model_version"]) == ("algebra", version.pk)
    assert call("DELETE", f"{of_project}?domain=algebra")[0] == 204
    assert call("DELETE", f"{of_project}?domain=algebra")[1]["code"] == "no_domain_champion"
    assert call("DELETE", of_project)[1]["code"] == "invalid"


def test_an_export_is_asked_for_watched_and_downloaded(version, call):
    address = f"models/{version.pk}/export/"
    assert call("GET", address)[1] == {"ready": False, "job": None}
    assert call("GET", f"{address}download/")[1]["code"] == "not_exported"
    status, job = call("POST", address)
    assert (status, job["action"], job["state"]) == (202, "export", "queued")
    assert call("POST", address)[1]["code"] == "job_in_progress"
    assert call("GET", f"projects/{version.project.slug}/jobs/model/{job['id']}/", role="reviewer")[1] == job
    export_path(version).mkdir(parents=True)
    (export_path(version) / "README.md").write_text("A model.")
    assert call("GET", address)[1] == {"ready": True, "job": job}
    status, answer = call("GET", f"{address}download/")
    assert (status, answer.headers["Content-Type"]) == (200, "application/x-tar")
    assert b"A model." in b"".join(answer)
    assert call("GET", address, role="reviewer")[0] == 403


def test_a_folder_is_imported(version, call, root):
    of_project = f"projects/{version.project.slug}/"
    (root / "models" / "imports" / "theirs").mkdir(parents=True)
    assert call("GET", f"{of_project}importable-models/")[1] == ["theirs"]
    assert call("POST", f"{of_project}model-imports/", {"folder": "../theirs"})[1]["code"] == "no_such_folder"
    status, job = call("POST", f"{of_project}model-imports/", {"folder": "theirs", "separator": "\n\n", "good": 0})
    assert (status, job["folder"], job["model_version"]) == (202, "theirs", None)
    assert ModelJob.objects.get().source == ImportedFolder("theirs", "\n\n", 0)
    assert call("GET", f"{of_project}model-imports/")[1]["results"] == [job]
    assert call("POST", f"models/{version.pk}/measure/")[1]["code"] == "not_imported"
    ModelVersion.objects.update(origin="imported", weights_deleted_at=timezone.now())
    assert call("POST", f"models/{version.pk}/measure/")[1]["code"] == "weights_deleted"


def test_audits_and_scores_of_the_pool(version, call):
    assert call("POST", f"models/{version.pk}/audit/")[1]["code"] == "no_snapshot"
    address = f"models/{version.pk}/pool-scores/"
    state = call("GET", address, role="reviewer")[1]
    assert (state["wanted"], state["left"], state["cut_at"]) == (0, 0, None)
    PoolScoring.objects.create(project=version.project, model_version=version, wanted=5, error="no weights")
    assert call("GET", address)[1]["error"] == "no weights"
    assert call("POST", address, role="reviewer")[0] == 403
    assert call("POST", address)[1]["error"] == ""


def test_a_manager_confirms_a_model_that_could_not_be_measured(version, call):
    told = call("GET", f"models/{version.pk}/")[1]
    assert (told["measured"], told["answers_programs"], told["confirmed_at"]) == (False, False, None)
    assert call("POST", f"models/{version.pk}/confirm/", role="reviewer")[0] == 403
    status, told = call("POST", f"models/{version.pk}/confirm/")
    assert (status, told["measured"], told["answers_programs"]) == (200, False, True)
    again = call("POST", f"models/{version.pk}/confirm/")
    assert (again[0], again[1]["code"]) == (409, "nothing_to_confirm")
