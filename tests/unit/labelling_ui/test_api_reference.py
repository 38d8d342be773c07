"""The reference of the API shows every request, with its fields and examples."""

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotation.api.reference import read_resources
from annotation.models import Project


@pytest.fixture
def reader(client: Client, people: dict[str, User], project: Project) -> Client:
    client.force_login(people["annotator"])
    return client


def test_the_reference_leads_to_every_resource(reader: Client) -> None:
    page = reader.get("/api-reference/").content.decode()
    for name in read_resources():
        assert f'href="/api-reference/{name}/"' in page
    assert "/api/v1/schema/" in page


@pytest.mark.slow
@pytest.mark.parametrize("name", read_resources())
def test_a_resource_shows_its_requests_and_every_object_that_it_links(reader: Client, name: str) -> None:
    resource = read_resources()[name]
    page = reader.get(f"/api-reference/{name}/").content.decode()
    assert page.count('<article class="card stack">') == len(resource.operations)
    assert set(re.findall(r'href="#(\w+)"', page)) - {"content"} <= set(re.findall(r'id="(\w+)"', page))


def test_a_list_has_its_filters_an_example_and_opens_in_the_browser(reader: Client) -> None:
    page = reader.get("/api-reference/labels/").content.decode()
    for text in (
        'Response 200: <a href="#Page_LabelRow_">',
        "finish_reason",
        "GET /api/v1/projects/algebra/labels/?lane=control",
        "first_error",
        "cursor",
    ):
        assert text in page
    assert 'href="/api/v1/projects/algebra/labels/"' in page
    assert reader.get("/api/v1/projects/algebra/labels/").status_code == 200


def test_an_unknown_resource_is_not_found(reader: Client) -> None:
    assert reader.get("/api-reference/nonsense/").status_code == 404


def test_a_visitor_signs_in_first(client: Client) -> None:
    assert client.get("/api-reference/").status_code == 302
