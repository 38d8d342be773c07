"""A download resumes: a request for the rest of a file gets the rest of the same file."""

import pytest
from django.urls import reverse

from annotation.labels.datasets.snapshots import create_snapshot
from tests.api_client import api_of
from tests.factories import AnnotationFactory, SolutionFactory

pytestmark = pytest.mark.django_db
SPLITS = "splits=pool&splits=holdout&splits=calibration"
FORMATS = ["records", "prm800k", "csv", "parquet", "huggingface"]


@pytest.fixture(params=["api", "page"])
def get(request, manager, project, client):
    """A function that downloads a snapshot in a format with these headers, and returns the response and its body."""
    for solution in SolutionFactory.create_batch(3, project=project):
        AnnotationFactory(solution=solution)
    snapshot = create_snapshot(by=manager, project=project, filters={})
    if request.param == "api":
        client = api_of(manager)
    else:
        client.force_login(manager)
    address = f"/api/v1/snapshots/{snapshot.pk}/download/?{SPLITS}&format="

    def get(format="records", **headers):
        page = reverse("snapshot-download", args=[project.slug, snapshot.pk, format])
        path = f"{address}{format}" if request.param == "api" else f"{page}?{SPLITS}"
        response = client.get(path, headers={name.replace("_", "-"): value for name, value in headers.items()})
        return response, response.getvalue()

    return get


@pytest.mark.slow
@pytest.mark.parametrize("format", FORMATS)
def test_the_rest_of_an_interrupted_download_completes_it(get, format):
    first, whole = get(format)
    assert (first.status_code, first["Accept-Ranges"]) == (200, "bytes")
    rest, content = get(format, Range=f"bytes={len(whole) // 3}-", If_Range=first["ETag"])
    assert (rest.status_code, rest["ETag"], rest["Content-Type"]) == (206, first["ETag"], first["Content-Type"])
    assert rest["Content-Range"] == f"bytes {len(whole) // 3}-{len(whole) - 1}/{len(whole)}"
    assert rest["Content-Length"] == str(len(content))
    assert whole[: len(whole) // 3] + content == whole


@pytest.mark.parametrize(
    ("stated", "begin", "end"),
    [("bytes=0-0", 0, 1), ("bytes=5-9", 5, 10), ("bytes=-7", -7, None), ("Bytes = 5 - 999999", 5, None)],
)
def test_a_range_has_its_first_and_its_last_byte(get, stated, begin, end):
    _, whole = get()
    part, content = get(Range=stated)
    assert (part.status_code, content) == (206, whole[begin:end])


def test_a_suffix_longer_than_the_file_is_the_file(get):
    _, whole = get()
    assert get(Range=f"bytes=-{len(whole) + 5}")[1] == whole


@pytest.mark.parametrize("stated", ["bytes=SIZE-", "bytes=SIZE-999999", "bytes=-0"])
def test_a_range_beyond_the_end_is_refused_with_the_size(get, stated):
    _, whole = get()
    refused, content = get(Range=stated.replace("SIZE", str(len(whole))))
    assert (refused.status_code, refused["Content-Range"], content) == (416, f"bytes */{len(whole)}", b"")


@pytest.mark.parametrize(
    "headers",
    [
        {"Range": "bytes=3-", "If_Range": '"another"'},
        {"Range": "bytes=3-", "If_Range": "Mon, 23 Nov 2026 23:00:00 GMT"},
        {"Range": "bytes=0-1,4-5"},
        {"Range": "bytes=9-5"},
        {"Range": "bytes=-"},
        {"Range": "lines=1-2"},
        {"Range": "bytes=x-"},
    ],
)
def test_another_tag_or_a_range_that_is_not_served_gets_the_whole_file(get, headers):
    _, whole = get()
    response, content = get(**headers)
    assert (response.status_code, content) == (200, whole)
    assert "Content-Range" not in response
