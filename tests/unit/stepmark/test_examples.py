"""What an example of the client says if the server refuses or does not answer."""

import httpx2
import pytest

from examples import post_solutions
from tests.unit.stepmark.test_client import client_of

MISSING = {"code": "project_not_found", "message": "There is no such project.", "extra": {}}


@pytest.mark.parametrize(
    ("response", "said"),
    [
        (httpx2.Response(404, json=MISSING), "There is no such project."),
        (httpx2.Response(401, json=MISSING | {"message": "Invalid token."}), "Invalid token."),
        (httpx2.ConnectError("refused"), "does not respond: refused"),
    ],
    ids=["unknown project", "wrong token", "no answer"],
)
def test_a_refusal_is_one_line(monkeypatch, response, said):
    monkeypatch.setenv("STEPMARK_TOKEN", "t")
    monkeypatch.setattr("sys.argv", ["post_solutions", "http://labels.example.org", "none"])
    monkeypatch.setattr(post_solutions, "samples", lambda problems, each: iter([{"problem": "p"}]))
    monkeypatch.setattr(post_solutions, "Client", lambda url, token: client_of(response, retries=0))
    with pytest.raises(SystemExit) as ended:
        post_solutions.main()
    assert said in ended.value.code
    assert "\n" not in ended.value.code


def test_a_missing_token_is_said(monkeypatch, capsys):
    monkeypatch.delenv("STEPMARK_TOKEN", raising=False)
    monkeypatch.setattr("sys.argv", ["post_solutions", "http://labels.example.org", "none"])
    with pytest.raises(SystemExit):
        post_solutions.main()
    assert "STEPMARK_TOKEN" in capsys.readouterr().err
