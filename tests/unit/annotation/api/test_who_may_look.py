"""Who may read what over the API: as on the pages."""

from urllib.parse import quote

import pytest
from rest_framework.test import APIClient

from annotation.models import (
    AnswerCheck,
    AuditEntry,
    ConsensusFit,
    ContaminationCheck,
    ExportJob,
    ImportGroup,
    ImportJob,
    JudgingRun,
    PoolScoring,
    Project,
    SamplingRun,
    Snapshot,
    TrainingRun,
    Webhook,
)
from tests.api_client import api_of
from tests.factories import MembershipFactory, ModelVersionFactory, ProjectFactory, SnapshotFactory, UserFactory

pytestmark = pytest.mark.django_db
OF_A_PROJECT = {
    "": (200, 200, 200),
    "my-progress/": (200, 200, 200),
    "my-work/": (200, 200, 200),
    "practice/": (200, 200, 200),
    "statistics/": (403, 200, 200),
    "generations/": (403, 200, 200),
    "models/": (403, 200, 200),
    "learning/": (403, 200, 200),
    "domain-champions/": (403, 200, 200),
    "importable-models/": (403, 403, 200),
    "model-retention/": (403, 200, 200),
    "policy-endpoints/": (403, 403, 200),
    "samplings/": (403, 403, 200),
    "judgings/": (403, 403, 200),
    "queue/": (403, 200, 200),
    "disputes/": (403, 200, 200),
    "reviews/": (403, 200, 200),
    "sent-back/": (200, 200, 200),
    "runs/": (403, 200, 200),
    "gate/": (403, 200, 200),
    "jobs/": (403, 200, 200),
    "gold/": (403, 200, 200),
    "gold-accuracy/": (403, 200, 200),
    "contrasts/": (403, 200, 200),
    "imports/": (403, 403, 200),
    "import-roots/": (403, 403, 200),
    "uploads/": (403, 403, 200),
    "answer-checks/": (403, 200, 200),
    "snapshots/": (403, 403, 200),
    "webhooks/": (403, 403, 200),
    "solutions/": (403, 200, 200),
    "labels/": (200, 200, 200),
    "consensus/": (403, 200, 200),
    "consensus-fits/": (403, 200, 200),
    "people/": (403, 403, 200),
    "machines/": (403, 403, 200),
    "batches/": (403, 200, 200),
    "agreement/": (403, 200, 200),
    "audit/": (403, 403, 200),
    "exports/": (403, 403, 200),
    "export-roots/": (403, 403, 200),
    "export-schedules/": (403, 403, 200),
}
OF_A_JOB = {
    "run": (403, 200, 200),
    "import": (403, 403, 200),
    "answers": (403, 200, 200),
    "sampling": (403, 403, 200),
    "judging": (403, 403, 200),
    "export": (403, 403, 200),
    "overlap": (403, 403, 200),
    "fit": (403, 200, 200),
    "pool": (403, 200, 200),
}
OF_A_ROW = {
    "import-groups": (403, 403, 200),
    "snapshots": (403, 403, 200),
    "webhooks": (403, 403, 200),
}


@pytest.fixture
def project():
    return ProjectFactory()


@pytest.fixture
def statuses(project):
    """What each role, and then a stranger and a visitor, get from an address."""
    people = [MembershipFactory(project=project, role=role).user for role in ("annotator", "reviewer", "manager")]

    def ask(address):
        found = []
        for user in [*people, UserFactory(), None]:
            client = api_of(user)
            found.append(client.get(f"/api/v1/{address}").status_code)
        return tuple(found)

    return ask


@pytest.mark.slow
@pytest.mark.parametrize("address", OF_A_PROJECT)
def test_what_a_project_shows(project, statuses, address):
    assert statuses(f"projects/{project.slug}/{address}") == (*OF_A_PROJECT[address], 404, 401)


@pytest.mark.parametrize("kind", OF_A_JOB)
def test_what_a_job_shows(project, statuses, kind):
    job = {
        "run": lambda: TrainingRun.objects.create(project=project, number=1, trigger="manual", seed=0),
        "import": lambda: ImportJob.objects.create(project=project, filename="f", path="f"),
        "overlap": lambda: ContaminationCheck.objects.create(
            project=project, snapshot=SnapshotFactory(project=project)
        ),
        "fit": lambda: ConsensusFit.objects.create(project=project, number=1, method="reliability"),
        "export": lambda: ExportJob.objects.create(project=project),
        "answers": lambda: AnswerCheck.objects.create(project=project),
        "sampling": lambda: SamplingRun.objects.create(project=project, endpoint="e", model="m", seed=0),
        "judging": lambda: JudgingRun.objects.create(project=project, method="judge", endpoint="e", model="m", seed=0),
        "pool": lambda: PoolScoring.objects.create(project=project, model_version=ModelVersionFactory(project=project)),
    }[kind]()
    assert statuses(f"projects/{project.slug}/jobs/{kind}/{job.pk}/") == (*OF_A_JOB[kind], 404, 401)


@pytest.mark.parametrize("kind", OF_A_ROW)
def test_what_an_address_without_the_project_shows(project, statuses, kind):
    row = {
        "import-groups": lambda: ImportGroup.objects.create(project=project),
        "snapshots": lambda: Snapshot.objects.create(project=project, sha256="0" * 64, path="f"),
        "webhooks": lambda: Webhook.objects.create(project=project, url="https://a.org/", created_by=UserFactory()),
    }[kind]()
    assert statuses(f"{kind}/{row.pk}/") == (*OF_A_ROW[kind], 404, 401)


def test_nobody_deletes_a_project_and_who_tries_is_on_record(project):
    people = [MembershipFactory(project=project, role=role).user for role in ("annotator", "reviewer", "manager")]
    found = []
    for user in [*people, UserFactory()]:
        client = api_of(user)
        answer = client.delete(f"/api/v1/projects/{project.slug}/")
        found.append((answer.status_code, answer.json()["code"]))

    assert found == [(403, "role_needed"), (403, "role_needed"), (409, "project_kept"), (404, "project_not_found")]
    assert Project.objects.filter(pk=project.pk).exists()
    tried = AuditEntry.objects.filter(project=project, action="project.delete_refused").order_by("pk")
    assert [entry.by for entry in tried] == people


@pytest.mark.parametrize(
    ("page_of", "status", "code"), [("zoë", 200, None), ("ann", 401, "another_person"), (None, 200, None)]
)
def test_a_page_of_one_person_gets_nothing_for_another(page_of, status, code):
    person = MembershipFactory(user=UserFactory(username="zoë"))
    client = APIClient(headers={} if page_of is None else {"X-Stepmark-Person": quote(page_of)})
    client.force_login(person.user)
    answer = client.get(f"/api/v1/projects/{person.project.slug}/my-progress/")
    assert (answer.status_code, answer.json().get("code")) == (status, code)
