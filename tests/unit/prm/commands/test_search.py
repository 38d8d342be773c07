"""`search` over a file of problems: what is solved is kept, and only what is missing is asked again."""

import json
import time
from pathlib import Path

import pytest

from prm.__main__ import main
from prm.commands import common, search
from prm.errors import PolicyError
from prm.messages import Message
from prm.search.choosing import SearchResult
from prm.search.endpoint import Cost
from prm.traces import Step

SOLVED = SearchResult([Step("The answer is 2.")], "2", 0.9, [0.9], True, 1, 1, Cost(calls=1, completion_tokens=5))
AWAY = Message("server_timed_out", url="http://policy", path="/v1", timeout=3)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The problems asked; one that says "fail" fails until it is taken off."""
    problems: list[str] = []

    def one(problem: str, seed: int) -> SearchResult:
        problems.append(problem)
        if "fail" in problem:
            time.sleep(0.02)
            raise PolicyError(AWAY)
        return SOLVED

    monkeypatch.setattr(search, "_search", lambda *_: one)
    monkeypatch.setattr(search, "_verifier", lambda options: None)
    return problems


def run(folder: Path, problems: list[str], *more: str, content: str = "") -> int:
    lines = [json.dumps({"problem": one, "id": f"id of {one}"}) for one in problems]
    (folder / "problems.jsonl").write_text(content or "\n".join(lines))
    arguments = [
        "search",
        "best-of-n",
        "--endpoint",
        "http://127.0.0.1:9/v1",
        "--model",
        "m",
        "--verifier",
        "zero:tiny",
    ]
    arguments += ["--problems", str(folder / "problems.jsonl"), "--out", str(folder / "solved.jsonl")]
    return main([*arguments, *more])


def solved(folder: Path) -> list[str]:
    return [json.loads(line)["problem"] for line in (folder / "solved.jsonl").read_text().splitlines()]


@pytest.mark.parametrize(
    ("more", "fault"),
    [
        (["--endpoint", "127.0.0.1:9"], "must begin with http:// or https://"),
        (["--prompt", "Solve it."], "the policy would not see the problem"),
    ],
)
def test_options_that_no_policy_can_follow_are_invalid_input(tmp_path, capsys, more: list[str], fault: str) -> None:
    assert run(tmp_path, ["p"], *more) == 2
    assert fault in capsys.readouterr().err
    assert not (tmp_path / "solved.jsonl").exists()


@pytest.mark.parametrize(
    "content", ['[{"problem": "p"}, {"problem": "q"}]', "id,problem,reference_answer\n1,p,\n2,q,\n"]
)
def test_problems_may_be_an_array_or_csv(tmp_path, asked, content: str) -> None:
    assert run(tmp_path, [], content=content) == 0
    assert sorted(asked) == ["p", "q"]
    lines = (tmp_path / "solved.jsonl").read_text().splitlines()
    assert [json.loads(line)["correct"] for line in lines] == [None, None]


def test_the_folder_of_the_results_is_created(tmp_path, asked) -> None:
    assert run(tmp_path, ["p"], "--out", str(tmp_path / "new" / "solved.jsonl")) == 0
    assert (tmp_path / "new" / "solved.jsonl").read_text().count("\n") == 1


def test_progress_is_shown_while_problems_are_solved(tmp_path, asked, capsys, monkeypatch) -> None:
    monkeypatch.setattr(common, "PROGRESS_SECONDS", -1)
    assert run(tmp_path, ["p", "q"]) == 0
    assert capsys.readouterr().err == "1 of 2 problems solved\n2 of 2 problems solved\n"


def test_a_file_without_problems_is_refused(tmp_path, asked, capsys) -> None:
    assert run(tmp_path, [], content="problem\n") == 2
    assert "problems.jsonl: no records" in capsys.readouterr().err


def test_one_problem_that_fails_loses_none_of_the_others(tmp_path, asked, capsys, monkeypatch) -> None:
    problems = [f"problem {k}" for k in range(40)]
    problems[7] = "fail 7"
    assert run(tmp_path, problems) == 1
    assert solved(tmp_path) == [one for one in problems if one != "fail 7"]
    [failed] = (tmp_path / "solved.failed.jsonl").read_text().splitlines()
    assert json.loads(failed) == {"problem_id": "id of fail 7", "problem": "fail 7", "error": str(AWAY)}
    said = capsys.readouterr().err
    assert f"1 problem failed: id of fail 7 ({AWAY})." in said
    assert "Run the same command again" in said

    asked.clear()
    monkeypatch.setattr(search, "_search", lambda *_: lambda problem, seed: asked.append(problem) or SOLVED)
    assert run(tmp_path, problems) == 0
    assert asked == ["fail 7"]
    assert solved(tmp_path) == problems
    assert not (tmp_path / "solved.failed.jsonl").exists()


def test_what_a_killed_run_wrote_is_gone_on_from(tmp_path, asked) -> None:
    problems = ["a", "b", "c"]
    assert run(tmp_path, problems) == 0
    whole = (tmp_path / "solved.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "solved.jsonl").write_text(whole[2] + whole[0][:30])
    asked.clear()
    assert run(tmp_path, problems) == 0
    assert sorted(asked) == ["a", "b"]
    assert (tmp_path / "solved.jsonl").read_text() == "".join(whole)


def test_a_policy_that_is_away_is_not_asked_about_every_problem(tmp_path, asked, capsys) -> None:
    assert run(tmp_path, [f"fail {k}" for k in range(40)], "--concurrency", "1") == 1
    assert len(asked) < 20
    assert "10 problems failed" in capsys.readouterr().err


@pytest.mark.parametrize("more", [["--n", "4"], ["--seed", "1"], ["--temperature", "0.1"]])
def test_the_result_of_other_settings_is_not_mixed_in(tmp_path, asked, capsys, more) -> None:
    assert run(tmp_path, ["a"]) == 0
    before = (tmp_path / "solved.jsonl").read_bytes()
    assert run(tmp_path, ["a", "b"], *more) == 2
    assert "choose another --out" in capsys.readouterr().err
    assert (tmp_path / "solved.jsonl").read_bytes() == before
