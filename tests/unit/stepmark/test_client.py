"""The client alone: pages, retries, errors, and the ratings of a path."""

import subprocess
import sys

import httpx2
import pytest

from config.env import BASE_DIR
from stepmark import ApiError, Client, JobError
from stepmark import client as module
from stepmark.client import rated_path

BUSY = httpx2.Response(429, headers={"Retry-After": "7"}, json={"code": "throttled", "message": "Busy.", "extra": {}})


@pytest.fixture
def waits(monkeypatch):
    """The seconds that the client waited."""
    waited = []
    monkeypatch.setattr(module.time, "sleep", waited.append)
    return waited


def client_of(*answers, seen=None, **options):
    """A client whose server gives these answers in turn; an exception is a lost connection."""
    left = iter(answers)

    def answer(request):
        if seen is not None:
            seen.append(request)
        given = next(left)
        if isinstance(given, Exception):
            raise given
        return given

    client = Client("https://labels.example.org/", "secret", **options)
    client._http = httpx2.Client(transport=httpx2.MockTransport(answer), base_url=client._http.base_url)
    return client


def rows(*names, following=None):
    return httpx2.Response(200, json={"next": following, "results": [{"name": name} for name in names]})


def test_the_package_needs_no_django():
    program = "import sys, stepmark; print({'django', 'celery', 'torch'} & set(sys.modules))"
    outcome = subprocess.run([sys.executable, "-c", program], cwd=BASE_DIR, capture_output=True, text=True, check=True)
    assert outcome.stdout.strip() == "set()"


def test_a_list_follows_its_pages_on_the_same_server():
    seen = []
    first = rows("a", "b", following="http://internal:8000/api/v1/projects/?cursor=x%3Ay&limit=2")
    client = client_of(first, rows("c"), seen=seen)
    assert [row["name"] for row in client.each("projects/", limit=2, kind=["one", "two"], gold=True, q=None)] == [
        *"abc"
    ]
    assert str(seen[0].url) == "https://labels.example.org/api/v1/projects/?limit=2&kind=one&kind=two&gold=true"
    assert str(seen[1].url) == "https://labels.example.org/api/v1/projects/?cursor=x%3Ay&limit=2"


def test_a_resource_may_be_a_list():
    assert client_of(httpx2.Response(200, json=["theirs"])).get("projects/sums/importable-models/") == ["theirs"]


def test_a_busy_server_is_asked_again_after_the_time_it_states(waits):
    assert client_of(BUSY, httpx2.Response(503), httpx2.Response(200, json={"slug": "a"})).project("a") == {"slug": "a"}
    assert waits[0] == 7
    assert len(waits) == 2


def test_a_server_that_stays_busy_is_an_error(waits):
    with pytest.raises(ApiError, match="Busy") as error:
        client_of(*[BUSY] * 3, retries=2).project("a")
    assert (error.value.code, error.value.status, len(waits)) == ("throttled", 429, 2)


def test_a_lost_response_is_only_repeated_where_that_is_safe(waits):
    lost = httpx2.ReadTimeout("late")
    made = httpx2.Response(201, json={"slug": "a"})
    assert client_of(lost, made).post_solutions("a", []) == {"slug": "a"}
    assert client_of(httpx2.ConnectError("down"), made).create_project("a", "A") == {"slug": "a"}
    with pytest.raises(ApiError, match=r"labels\.example\.org.* does not respond: late") as error:
        client_of(lost, made).create_project("a", "A")
    assert error.value.code == "unreachable"


@pytest.mark.parametrize("status", [502, 504])
def test_a_response_that_a_proxy_lost_is_only_repeated_where_that_is_safe(waits, status):
    lost, made = httpx2.Response(status, text="<html>"), httpx2.Response(201, json={"slug": "a"})
    assert client_of(lost, made).post_solutions("a", []) == {"slug": "a"}
    with pytest.raises(ApiError, match=f"status {status}") as error:
        client_of(lost, made).create_project("a", "A")
    assert error.value.code == "unreachable"


def test_errors_have_the_code_and_the_details_of_the_api():
    body = {"code": "slug_taken", "message": "There is already one.", "extra": {"field": "slug"}}
    with pytest.raises(ApiError) as error:
        client_of(httpx2.Response(409, json=body)).create_project("a", "A")
    assert (error.value.code, error.value.message, error.value.extra, error.value.status) == (*body.values(), 409)
    with pytest.raises(ApiError, match="status 500: <html>") as error:
        client_of(httpx2.Response(500, text="<html>")).project("a")
    assert error.value.code == "unexpected_response"


def test_a_job_is_waited_for_and_its_failure_is_an_error(waits):
    job = {"project": "a", "kind": "run", "id": 3, "state": "queued", "failure": "", "error": ""}
    states = [httpx2.Response(200, json=job | {"state": state}) for state in ("running", "done")]
    looks = []
    assert client_of(*states).wait(job, progress=looks.append)["state"] == "done"
    assert [look["state"] for look in looks] == ["running", "done"]
    failed = httpx2.Response(200, json=job | {"state": "failed", "failure": "out_of_memory", "error": "Too large."})
    with pytest.raises(JobError, match="Too large") as error:
        client_of(failed).wait(job)
    assert (error.value.code, error.value.extra["id"]) == ("out_of_memory", 3)
    with pytest.raises(TimeoutError, match="still runs"):
        client_of(*[httpx2.Response(200, json=job)] * 9).wait(job, timeout=0)


def test_a_claim_without_work_is_none_and_a_refusal_is_an_error():
    def answer(reason):
        return httpx2.Response(200, json={"task": None, "reason": reason, "message": "No.", "retry_at": None})

    assert client_of(answer("done")).claim("a") is None
    with pytest.raises(ApiError) as error:
        client_of(answer("paused")).claim("a")
    assert error.value.code == "paused"


def task(*, stops):
    steps = [{"position": at, "alternatives": [{"id": 10 + at}, {"id": 90 + at}]} for at in range(3)]
    return {"solution": {"id": 1, "steps": steps}, "scheme": {"stop_at_first_error": stops}, "lease": {"id": 2}}


def test_the_path_ends_at_the_first_error_if_the_scheme_stops_there():
    path = rated_path(task(stops=True), [1, -1])
    assert [(at["chosen"], at["ratings"][0]["rating"]) for at in path] == [(10, 1), (None, -1)]
    path = rated_path(task(stops=False), [None, -1, 0])
    assert [(at["chosen"], at["ratings"][0]["state"], at["ratings"][0]["rating"]) for at in path] == [
        (10, "unsure", None), (11, "rated", -1), (12, "rated", 0),
    ]  # fmt: skip


@pytest.mark.parametrize(("stops", "ratings"), [(True, [1, 1]), (False, [1, -1]), (True, [1, 1, 1, 1])])
def test_ratings_that_do_not_fit_the_task_are_rejected(stops, ratings):
    with pytest.raises(ValueError, match="The task has 3 positions"):
        rated_path(task(stops=stops), ratings)


def test_a_file_whose_hash_is_wrong_is_not_kept(tmp_path):
    snapshot = {"id": 1, "sha256": "0" * 64}
    with pytest.raises(ApiError) as error:
        client_of(httpx2.Response(200, content=b"{}")).download(snapshot, tmp_path / "labels.jsonl")
    assert error.value.code == "hash_mismatch"
    assert not any(tmp_path.iterdir())
