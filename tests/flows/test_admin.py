"""The admin shows every model, and cannot change what must not change."""

import pytest
from django.apps import apps
from django.contrib import admin
from django.urls import reverse

from annotation.models import ApiToken, Dispute, Draft, ExportJob, Lease, PoolScore, Snapshot, StepRating
from annotation.work.claiming import claim_next
from tests.factories import AnnotationFactory, ModelVersionFactory, QueueItemFactory, SnapshotFactory, UserFactory

pytestmark = pytest.mark.django_db
# Django's admin takes no model with a composite key.
MODELS = [model for model in apps.get_app_config("annotation").get_models() if model is not PoolScore]


@pytest.fixture
def root(client):
    client.force_login(UserFactory(is_superuser=True, is_staff=True))
    return client


@pytest.fixture(scope="module")
def rows(module_db):
    annotation = AnnotationFactory()
    step = annotation.solution.steps.first()
    StepRating.objects.create(annotation=annotation, step=step, state="rated", rating=1)
    Dispute.objects.create(project=annotation.project, annotation=annotation)
    ModelVersionFactory(project=annotation.project)
    item = QueueItemFactory(generation__project=annotation.project)
    claim_next(by=annotation.annotator.user, project=annotation.project, holding=[])
    Draft.objects.create(lease=Lease.objects.get(), version=1, body={})
    return {model: model.objects.first() for model in MODELS} | {type(item): item}


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_every_model_is_listed_searched_and_shown(root, rows, model):
    assert admin.site.is_registered(model)
    name = f"admin:annotation_{model._meta.model_name}"
    assert root.get(reverse(f"{name}_changelist"), {"q": "1"}).status_code == 200
    assert root.get(reverse(f"{name}_changelist")).status_code == 200
    if rows[model]:
        assert root.get(reverse(f"{name}_change", args=[rows[model].pk])).status_code == 200


@pytest.mark.parametrize(
    "model", [model for model in MODELS if model is not ApiToken], ids=lambda model: model.__name__
)
def test_what_services_keep_is_only_looked_at(root, rows, model):
    name, row = model._meta.model_name, rows[model]
    assert root.get(reverse(f"admin:annotation_{name}_add")).status_code == 403
    if row:
        assert root.post(reverse(f"admin:annotation_{name}_delete", args=[row.pk]), {"post": "yes"}).status_code == 403
        assert root.post(reverse(f"admin:annotation_{name}_change", args=[row.pk]), {}).status_code == 403


def test_snapshots_and_exports_link_their_pages(root):
    snapshot = SnapshotFactory()
    job = ExportJob.objects.create(project=snapshot.project)
    for model, row, page in ((Snapshot, snapshot, "contamination"), (ExportJob, job, "export-job")):
        shown = root.get(reverse(f"admin:annotation_{model._meta.model_name}_changelist")).content.decode()
        assert f'href="{reverse(page, args=[snapshot.project.slug, row.pk])}"' in shown


def test_people_sign_in_where_attempts_are_limited_and_only_staff_get_in(client):
    refused = client.get("/admin/")
    assert (refused.status_code, refused["Location"]) == (302, "/admin/login/?next=/admin/")
    assert client.get(refused["Location"])["Location"].startswith("/accounts/login/")
    client.force_login(UserFactory())
    assert client.get("/admin/", follow=True).status_code == 403
