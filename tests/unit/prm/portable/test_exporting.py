"""An exported folder loads with plain transformers, and its README's code gives our scores without this library."""

import json
import re
import subprocess
import sys

import pytest
import torch
from transformers import AutoModel, AutoModelForCausalLM, AutoTokenizer

from prm.config import TrainConfig
from prm.encoding import render_step
from prm.errors import ModelFileError
from prm.portable.exporting import export_folder
from prm.portable.importing import adopt
from prm.scoring import Scorer
from prm.traces import Step, Trace, write_traces
from prm.training import train
from tests.unit.prm.small_world import make_traces

AWKWARD = [
    Trace(id="one", problem="One step.", steps=[Step("It is 1.")]),
    Trace(id="empty", problem="Nothing in between.", steps=[Step("a"), Step(""), Step("b" * 40), Step("", "answer")]),
    Trace(id="kinds", problem="Call a tool <step>.", steps=[Step("look(1)", "tool_call"), Step("7", "observation")]),
    Trace(id="long", problem="Too long.", steps=[Step("so " * 60)] * 9),
]


def trained(folder, base, **choices):
    data = folder / "data.jsonl"
    write_traces(data, make_traces(24, seed=3))
    config = TrainConfig(base=str(base), heads=3, hidden=8, epochs=1, **choices)
    train(data=data, out=folder / "model", config=config, report=lambda progress: None)
    return folder / "model"


def by_the_readme(folder, traces):
    """What the README's code says in a process that does not see this library."""
    code = re.search(r"```python\n(.*?)```", (folder / "README.md").read_text(), re.DOTALL)[1].partition("if __name__")[
        0
    ]
    asked = [(trace.problem, [render_step(step) for step in trace.steps]) for trace in traces]
    script = (
        f"{code}\nimport sys\nloaded = load({str(folder)!r})\n"
        f"answers = [score(loaded, *one) for one in {asked!r}]\n"
        "assert not [name for name in sys.modules if name.split('.')[0] == 'prm']\nprint(json.dumps(answers))\n"
    )
    run = subprocess.run([sys.executable, "-c", script], cwd=folder, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout.splitlines()[-1])


@pytest.mark.parametrize(
    ("family", "choices"),
    [
        ("tiny", {"context": 300}),
        ("llama", {"lane": "lora", "classes": 3, "neutral": "negative"}),
        ("qwen2", {"lane": "full", "features": ("last", "statistics"), "context": 200}),
    ],
)
def test_the_readmes_code_gives_our_scores(tmp_path, backbone_folders, family, choices):
    model = trained(tmp_path, "tiny" if family == "tiny" else backbone_folders[family], **choices)
    scorer = Scorer.load(model, device="cpu")
    traces = [*make_traces(6, seed=9), *AWKWARD]
    ours = [[p for p in score.mean if p is not None] for score in scorer.score(traces)]
    out = tmp_path / "out"
    export_folder(model, out)
    for theirs, mine in zip(by_the_readme(out, traces), ours, strict=True):
        assert theirs == pytest.approx(mine, abs=1e-5)
    assert len(ours[-1]) < 9, "one of them does not fit the context"

    # Every way in: the causal LM, the bare model, the tokenizer; and nothing there is code or a pickle.
    AutoTokenizer.from_pretrained(out)
    for kind in (AutoModel, AutoModelForCausalLM):
        _model, found = kind.from_pretrained(out, output_loading_info=True)
        assert not found["missing_keys"]
    assert {path.suffix for path in out.iterdir()} <= {".json", ".safetensors", ".md", ".jinja"}

    # And back in elsewhere, it is the same model.
    adopt(out, tmp_path / "adopted")
    again = list(Scorer.load(tmp_path / "adopted", device="cpu").score(traces))
    for score, mine in zip(again, ours, strict=True):
        assert [p for p in score.mean if p is not None] == pytest.approx(mine, abs=1e-5)
        assert score.spread[0] is not None


def test_weights_that_were_stored_in_half_are_exported_in_half(tmp_path, backbone_folders):
    base = tmp_path / "half"
    AutoModelForCausalLM.from_pretrained(backbone_folders["llama"]).to(torch.bfloat16).save_pretrained(base)
    AutoTokenizer.from_pretrained(backbone_folders["llama"]).save_pretrained(base)
    model = trained(tmp_path, base)
    export_folder(model, tmp_path / "out")
    assert AutoModelForCausalLM.from_pretrained(tmp_path / "out", dtype="auto").dtype == torch.bfloat16
    traces = make_traces(3, seed=9)
    ours = [score.mean for score in Scorer.load(model, device="cpu").score(traces)]
    for theirs, mine in zip(by_the_readme(tmp_path / "out", traces), ours, strict=True):
        assert theirs == pytest.approx(mine, abs=1e-5)
    with pytest.raises(ModelFileError, match="not an empty folder"):
        export_folder(model, tmp_path / "out")
