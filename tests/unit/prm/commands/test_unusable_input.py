"""Every command with every kind of unusable input: one plain line that names the file, exit code 2, nothing written."""

import argparse
from pathlib import Path

import pytest

from prm.__main__ import main, make_parser

LINE = '{"id": "a", "problem": "1 + 1?", "steps": [{"text": "1 + 1 = 2"}], "first_error": -1}\n'
UNUSABLE = {
    "missing": None,
    "a folder": None,
    "empty": b"",
    "blank": b"\n \n",
    "an array of nothing": b"[\n]\n",
    "binary": bytes(range(256)),
    "cut off": LINE.encode()[:40],
    "of another shape": b'{"id": 1, "problem": ["x"], "steps": "y"}\n',
    "Latin-1": '{"id": "a", "problem": "Größe?", "steps": []}\n'.encode("latin-1"),
    "half a surrogate pair": LINE.replace("1 + 1 = 2", "1 + 1 = 2\\ud800").encode(),
    "an array that is cut off": b"[" + LINE.encode(),
    "nested deeply": b"[" * 200_000,
}
COMMAND_LINES = {
    "train": "train --data {bad} --out {out}/model",
    "train config": "train --data {good} --config {bad} --out {out}/model",
    "convert": "convert --data {bad} --to trl --out {out}/converted.jsonl",
    "convert mapping": "convert --data {good} --mapping {bad} --out {out}/converted.jsonl",
    "score": "score --model zero:tiny --data {bad} --out {out}/scores.jsonl",
    "evaluate": "evaluate --model zero:tiny --data {bad} --json {out}/result.json",
    "evaluate scores": "evaluate --scores {bad} --data {good} --json {out}/result.json",
    "evaluate threshold": "evaluate --model zero:tiny --data {good} --threshold-from {bad} --json {out}/result.json",
    "audit": "audit --model zero:tiny --data {bad} --out {out}/audit",
    "card": "card --model {model} --evaluation {bad}",
    "probe best-of-n": "probe best-of-n --model zero:tiny --data {bad} --json {out}/result.json",
    "probe faithfulness": "probe faithfulness --policy tiny --data {bad} --json {out}/result.json",
    "probe cost": "probe cost --model zero:tiny --data {bad} --json {out}/result.json",
    "explain": "explain --model {model} --data {bad} --json {out}/result.jsonl",
    "simulate": "simulate --data {bad} --out {out}/simulation",
    "search": "search best-of-n --endpoint http://127.0.0.1:9/v1 --model any --verifier zero:tiny --problems {bad} "
    "--out {out}/solved.jsonl",
    "serve": "serve --model {bad} --port 0",
    "score model": "score --model {bad} --data {good} --out {out}/scores.jsonl",
    "evaluate model": "evaluate --model {bad} --data {good} --json {out}/result.json",
    "contamination": "contamination --data {bad} --json {out}/result.json",
    "contamination benchmark": "contamination --data {good} --against {bad} --json {out}/result.json",
    "export": "export --model {bad} --out {out}/export",
    "push": "push --source {bad} --to hub:lab/model",
    "adopt": "adopt --source {bad} --out {out}/adopted",
    "calibrate": "calibrate --model {bad} --data {good} --out {out}/calibrated",
    "reproduce": "reproduce --data {bad} --base tiny --out {out}/tables",
}
WRONG_OPTIONS = {
    "train --data {data} --out {out} --cache {data}": "{data} is a file: give the path of a folder",
    "train --data {seven} --out {out}": "{seven}, line 1: first_error is 7, but the solution has 1 step",
}
READS_NO_FILE = {"backbone"}  # it downloads, if its folder is free


def test_every_command_is_tried() -> None:
    (commands,) = (action for action in make_parser()._actions if isinstance(action, argparse._SubParsersAction))
    assert set(commands.choices) - READS_NO_FILE == {line.split()[0] for line in COMMAND_LINES.values()}


@pytest.mark.parametrize("command", WRONG_OPTIONS)
def test_an_option_that_does_not_fit_is_one_plain_line(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = {name: tmp_path / name for name in ("data", "seven", "out")}
    names["data"].write_text(LINE)
    names["seven"].write_text(LINE.replace("-1", "7"))
    assert main(command.format(**names).split()) == 2
    assert capsys.readouterr().err == WRONG_OPTIONS[command].format(**names) + "\n"
    assert not names["out"].exists()


@pytest.mark.slow
@pytest.mark.parametrize("kind", UNUSABLE)
@pytest.mark.parametrize("command", COMMAND_LINES)
def test_unusable_input_is_one_plain_line_and_leaves_nothing_behind(
    command: str, kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad, good, out, model = (tmp_path / name for name in ("bad.jsonl", "good.jsonl", "out", "model"))
    good.write_text(LINE)
    out.mkdir()
    model.mkdir()
    if kind == "a folder":
        bad.mkdir()
    elif kind != "missing":
        bad.write_bytes(UNUSABLE[kind])
    arguments = COMMAND_LINES[command].format(bad=bad, good=good, out=out, model=model).split()
    assert main(arguments) == 2
    said = capsys.readouterr().err
    progress = "scoring" if command == "audit" else " s  "
    lines = [line for line in said.splitlines() if progress not in line]
    assert len(lines) == 1, said
    assert bad.name in said or str(model) in said
    assert not any(word in said for word in ("Traceback", "Error:", "Errno", "codec", "object has no"))
    assert [path for path in out.rglob("*") if path.is_file()] == []
    assert not list(tmp_path.rglob("*.partial"))
