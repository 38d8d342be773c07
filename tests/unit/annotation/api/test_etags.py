"""A program that has the current answer gets 304 without a body."""

import dataclasses

import pytest

from annotation.labels.datasets.snapshots import create_snapshot
from annotation.models import Annotation
from prm.exporters import EXPORTERS
from tests.api_client import api_of
from tests.factories import AnnotationFactory
from tests.stored import snapshot_file

pytestmark = pytest.mark.django_db


@pytest.fixture
def client(manager):
    return api_of(manager)


@pytest.fixture
def snapshot(manager, project):
    AnnotationFactory(solution__project=project)
    return create_snapshot(by=manager, project=project, filters={})


@pytest.mark.parametrize("address", ["labels/", "labels/{label}/", "solutions/", "people/", "agreement/", "snapshots/"])
def test_an_unchanged_answer_has_no_body(client, project, snapshot, address):
    path = f"/api/v1/projects/{project.slug}/{address.format(label=Annotation.objects.get().pk)}"
    first = client.get(path)
    again = client.get(path, headers={"If-None-Match": first["ETag"]})
    assert (first.status_code, again.status_code, again.content) == (200, 304, b"")


def test_a_new_row_changes_the_tag_of_its_list(client, project, snapshot):
    path = f"/api/v1/projects/{project.slug}/labels/"
    tag = client.get(path)["ETag"]
    AnnotationFactory(solution__project=project)
    changed = client.get(path, headers={"If-None-Match": tag})
    assert (changed.status_code, len(changed.json()["results"])) == (200, 2)


def test_a_download_is_not_read_for_one_who_has_it(client, snapshot):
    path = f"/api/v1/snapshots/{snapshot.pk}/download/?format=records"
    first = client.get(path)
    assert first["ETag"].startswith('"'), "a strong tag: the bytes are the same"
    snapshot_file(snapshot).unlink()
    again = client.get(path, headers={"If-None-Match": first["ETag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_the_tag_of_a_download_depends_on_options_and_writer(client, snapshot, monkeypatch):
    path = f"/api/v1/snapshots/{snapshot.pk}/download/?format=csv"
    tags = {client.get(path + more)["ETag"] for more in ("", "&splits=pool")}
    newer = dataclasses.replace(EXPORTERS.get("csv"), version=2)
    monkeypatch.setattr(EXPORTERS, "get", lambda name: newer)
    tags.add(client.get(path)["ETag"])
    monkeypatch.undo()
    assert len(tags) == 3
    assert client.get(f"/api/v1/snapshots/{snapshot.pk}/download/?format=nonsense").json()["code"] == "unknown_format"
