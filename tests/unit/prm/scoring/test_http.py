"""Scores over HTTP are those of the scorer, in the words of the platform's API; what cannot be scored is refused."""

from collections.abc import Iterator
from threading import Thread

import httpx2
import pytest

from annotation.api.scores import SolutionScore
from prm.__main__ import main
from prm.scoring import Scorer
from prm.scoring.http import scoring_server
from prm.traces import Step, Trace

STEPS = ["2 + 2 = 5.", {"text": "So 5.", "kind": "answer"}]


@pytest.fixture(scope="module")
def scorer() -> Scorer:
    return Scorer.for_base("tiny")


@pytest.fixture(scope="module")
def client(scorer: Scorer) -> Iterator[httpx2.Client]:
    with scoring_server(scorer) as server:
        Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        with httpx2.Client(base_url=f"http://127.0.0.1:{server.server_address[1]}") as client:
            yield client
        server.shutdown()


def test_one_solution_and_several_have_the_scores_of_the_scorer(client: httpx2.Client, scorer: Scorer) -> None:
    [expected] = scorer.score([Trace("", "What is 2 + 2?", [Step("2 + 2 = 5."), Step("So 5.", "answer")])])
    solution = {"problem": "What is 2 + 2?", "steps": STEPS}
    one = client.post("/api/v1/score", json=solution | {"project": "is ignored"}).json()
    many = client.post("/api/v1/score", json={"solutions": [solution, solution], "aggregate": "min"}).json()
    assert [step["mean"] for step in one["results"][0]["steps"]] == pytest.approx(expected.mean)
    assert one["results"][0]["score"] == pytest.approx(expected.solution)
    assert [result["score"] for result in many["results"]] == pytest.approx([min(expected.mean)] * 2)
    assert tuple(one["results"][0]) == SolutionScore.__struct_fields__


@pytest.mark.parametrize(
    ("path", "body", "status", "message"),
    [
        ("/api/v1/score", b"nope", 400, "JSON is malformed"),
        ("/api/v1/score", b'{"problem": "x"}', 400, "missing required field `steps`"),
        ("/api/v1/score", b'{"solutions": [{"problem": 1, "steps": []}]}', 400, "solutions[0].problem"),
        ("/api/v2/score", b"{}", 404, "POST /api/v1/score"),
        ("/api/v1/score", iter([b"{}"]), 413, "with their number as Content-Length"),
    ],
)
def test_other_requests_are_refused_with_the_reason(
    client: httpx2.Client, path: str, body: bytes | Iterator[bytes], status: int, message: str
) -> None:
    answer = client.post(path, content=body)
    assert answer.status_code == status
    assert message in answer.json()["message"]
    assert client.get("/healthz").json() == {"status": "ok"}


def test_an_invalid_field_is_named_as_on_the_platform(client: httpx2.Client) -> None:
    solution = {"problem": "p", "steps": ["s"]}
    assert client.post("/api/v1/score", json=solution | {"aggregate": "max"}).json() == {
        "code": "invalid",
        "message": "aggregate: Expected one of last, mean, min, product, got 'max'",
        "extra": {"field": "aggregate"},
    }
    missing = client.post("/api/v1/score", json={"solutions": [solution, {"problem": "p"}]}).json()
    assert missing["extra"] == {"field": "solutions[1].steps"}


def test_an_address_that_is_taken_is_named(client: httpx2.Client, capsys: pytest.CaptureFixture[str]) -> None:
    port = client.base_url.port
    assert main(["serve", "--model", "zero:tiny", "--port", str(port)]) == 2
    assert capsys.readouterr().err == f"127.0.0.1:{port} cannot be used: Address already in use\n"
    with pytest.raises(SystemExit, match="2"):
        main(["serve", "--model", "zero:tiny", "--port", "80000"])
    assert "'80000' is not a port from 0 to 65535" in capsys.readouterr().err
