"""A lab's way through the library, as the ML engineer's guide describes it: public files in, other tools' models out."""

import json
from pathlib import Path

import pytest
import torch
from transformers import AutoModel, AutoModelForCausalLM, AutoModelForTokenClassification

from prm import Scorer, adopt, read_traces
from prm.__main__ import main
from prm.sandbox.world import WorldConfig, generate


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with invented solutions in the files of PRM800K and ProcessBench."""
    monkeypatch.chdir(tmp_path)
    traces = [trace for trace in generate(WorldConfig(), split="pool", n=120, seed=5) if trace.first_error is not None]
    ratings = [[1] * len(t.steps) if t.first_error < 0 else [1] * t.first_error + [-1] for t in traces]
    labelled = [
        {
            "labeler": "x",
            "question": {"problem": trace.problem, "pre_generated_steps": [step.text for step in trace.steps]},
            "label": {
                "steps": [
                    {"completions": [{"text": step.text, "rating": rating, "flagged": False}],
                     "human_completion": None, "chosen_completion": None if rating < 0 else 0}
                    for step, rating in zip(trace.steps, own, strict=False)
                ],
                "total_time": 1000, "finish_reason": "solution" if trace.first_error < 0 else "found_error",
            },
        }
        for trace, own in zip(traces[:60], ratings, strict=False)
    ]  # fmt: skip
    measured = [
        {"id": f"sums-{k}", "problem": t.problem, "steps": [step.text for step in t.steps], "label": t.first_error}
        for k, t in enumerate(traces[60:])
    ]
    (tmp_path / "prm800k.jsonl").write_text("".join(json.dumps(line) + "\n" for line in labelled))
    (tmp_path / "processbench.json").write_text(json.dumps(measured))
    (tmp_path / "quick.json").write_text(json.dumps({"epochs": 2, "heads": 3, "hidden": 8}))
    return tmp_path


def run(line: str) -> None:
    assert main(line.split()) == 0, line


def test_public_files_train_and_the_model_leaves_in_three_layouts(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("prm.portable.distilling.EPOCHS", 5)
    run("train --data prm800k.jsonl --out first --config quick.json")
    run("evaluate --model first --data processbench.json --bootstrap 10 --json all.json")
    run("train --data processbench.json --out second --config quick.json")
    run("evaluate --model second --data processbench.json --bootstrap 10 --json left.json")
    counts = [
        json.loads((folder / name).read_text())[0]["steps"]["overall"]["n_solutions"]
        for name in ("all.json", "left.json")
    ]
    assert counts[0] == len(json.loads((folder / "processbench.json").read_text())) > counts[1] > 0
    run("score --model first --data processbench.json --out scores.jsonl")

    tools = {"ensemble": AutoModelForCausalLM, "token_classification": AutoModelForTokenClassification,
             "process_reward": AutoModel}  # fmt: skip
    traces = list(read_traces("processbench.json"))[:4]
    for layout, tool in tools.items():
        run(f"export --model first --out {layout} --layout {layout} --data prm800k.jsonl")
        _, report = tool.from_pretrained(layout, output_loading_info=True)
        assert not report["missing_keys"]
        adopt(layout, f"{layout}-adopted")
        scores = [score.mean for score in Scorer.load(f"{layout}-adopted").score(traces)]
        assert all(0 < p < 1 for own in scores for p in own)
        if layout == "ensemble":
            ours = [score.mean for score in Scorer.load("first").score(traces)]
            for own, mine in zip(scores, ours, strict=True):
                assert torch.allclose(torch.tensor(own), torch.tensor(mine), atol=1e-5)
    assert "have the same verdict" in capsys.readouterr().out
