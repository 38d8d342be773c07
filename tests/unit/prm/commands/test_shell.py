"""What every command does alike: numbers are checked, errors and a wish to stop are one line, results are not lost."""

import argparse
import os
from collections.abc import Iterator

import pytest

from prm.__main__ import main, make_parser
from prm.commands import score
from prm.errors import DataError, ModelFileError
from prm.files import write_json

ONE_MODEL = ["--model", "zero:tiny", "--data", "traces.jsonl"]


def options_of(parser: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.Action]]:
    """Every option and argument of a parser and its commands, with the command line that it belongs to."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield from options_of(command)
        else:
            yield parser.prog, action


def test_the_help_explains_every_option_and_states_its_default_as_it_is_typed(capsys) -> None:
    bare = [(line, action.dest) for line, action in options_of(make_parser()) if not action.help]
    assert bare == []
    with pytest.raises(SystemExit):
        main(["reproduce", "--help"])
    told = " ".join(capsys.readouterr().out.split())
    assert "including random (default: random wrong_answers contradiction)" in told


@pytest.fixture(autouse=True)
def there(tmp_path, monkeypatch) -> None:
    """The file that the commands name."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "traces.jsonl").write_text("{}")


@pytest.mark.parametrize(
    "arguments",
    [
        ["evaluate", *ONE_MODEL, "--bootstrap", "-1"],
        ["audit", *ONE_MODEL, "--out", "audit", "--limit", "-1"],
        ["score", *ONE_MODEL, "--out", "scores.jsonl", "--blocks", "0"],
        ["explain", *ONE_MODEL, "--neighbours", "many"],
        ["probe", "sample", "--policy", "world", "--out", "pool.jsonl", "--samples", "0"],
        ["probe", "faithfulness", "--policy", "tiny", "--data", "traces.jsonl", "--temperature", "nan"],
        ["train", "--data", "traces.jsonl", "--out", "model", "--cache-gigabytes", "0"],
        ["evaluate", *ONE_MODEL, "--threshold", "nan"],
        ["audit", *ONE_MODEL, "--out", "audit", "--threshold", "1.5"],
        ["evaluate", *ONE_MODEL, "--seed", "-1"],
        ["search", "beam", "--endpoint", "http://x", "--model", "m", "--temperature", "-0.5"],
        ["simulate", "--out", "runs", "--noise", "inf"],
    ],
)
def test_a_number_out_of_range_is_wrong_usage(arguments: list[str], capsys) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert f"{arguments[-1]!r} is not a " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("raised", "code"),
    [(DataError("no\ngood"), 2), (ModelFileError("no good"), 2), (OSError("no good"), 1), (KeyboardInterrupt(), 4)],
)
def test_what_goes_wrong_is_one_line_and_an_exit_code(raised: BaseException, code: int, capsys, monkeypatch) -> None:
    def run(options: object) -> None:
        raise raised

    monkeypatch.setattr(score, "run", run)
    assert main(["score", *ONE_MODEL, "--out", "scores.jsonl"]) == code
    assert capsys.readouterr().err == ("stopped\n" if code == 4 else "no good\n")


@pytest.mark.parametrize("name", ["traces.jsonl/scores.jsonl", "traces.jsonl/new/scores.jsonl"])
def test_a_result_that_cannot_be_written_is_refused_before_the_work(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(score, "_scorer", lambda options: pytest.fail("the work began"))
    assert main(["score", *ONE_MODEL, "--out", name]) == 2
    assert "is not a folder that you can write to" in capsys.readouterr().err


def test_a_pipe_is_refused_as_input(tmp_path, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert main(["score", "--model", "zero:tiny", "--data", "pipe", "--out", "scores.jsonl"]) == 2
    assert capsys.readouterr().err == "pipe is a pipe or a device: write the data to a file, and give its path\n"


def test_a_picture_has_a_known_ending(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["probe", "best-of-n", *ONE_MODEL, "--picture", "curve.gif"])
    assert ended.value.code == 2
    assert "'curve.gif' does not end with .svg or .png" in capsys.readouterr().err


def test_results_go_into_a_folder_that_is_not_there_yet(tmp_path) -> None:
    write_json(tmp_path / "new" / "result.json", {"found": 1})
    assert (tmp_path / "new" / "result.json").read_text() == '{\n  "found": 1\n}\n'


def test_help_states_each_default_once(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["train", "--help"])
    text = " ".join(capsys.readouterr().out.split())
    assert "size limit of the cache (default: 8.0)" in text
    assert "None" not in text
