"""An exported folder loads with plain transformers, and its README's code gives our scores without this library."""

import json
import re
import subprocess
import sys

import pytest
import torch
from transformers import AutoModel, AutoModelForCausalLM, AutoTokenizer, MixtralConfig, MixtralForCausalLM

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


FAMILIES = {
    "tiny": {"context": 300},
    "llama": {"lane": "lora", "classes": 3, "neutral": "negative"},
    "qwen2": {"lane": "full", "features": ("last", "statistics"), "context": 200},
    "half": {},
    "mixtral": {"lane": "lora", "context": 300},  # a mixture of experts, whose adapters peft nests
}
TRACES = [*make_traces(6, seed=9), *AWKWARD]


@pytest.fixture(scope="module")
def root(tmp_path_factory, backbone_folders):
    """A folder for each family, with a trained `model` and what was exported of it in `out`."""
    root = tmp_path_factory.mktemp("exported")
    AutoModelForCausalLM.from_pretrained(backbone_folders["llama"]).to(torch.bfloat16).save_pretrained(root / "base")
    tokenizer = AutoTokenizer.from_pretrained(backbone_folders["llama"])
    tokenizer.save_pretrained(root / "base")
    torch.manual_seed(0)
    shape = {"vocab_size": len(tokenizer), "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2}
    experts = MixtralConfig(num_attention_heads=2, num_key_value_heads=1, num_local_experts=4, **shape)
    MixtralForCausalLM(experts).save_pretrained(root / "experts")
    tokenizer.save_pretrained(root / "experts")
    bases = {"tiny": "tiny", "half": root / "base", "mixtral": root / "experts"}
    for family, choices in FAMILIES.items():
        folder = root / family
        folder.mkdir()
        write_traces(folder / "data.jsonl", make_traces(24, seed=3))
        base = bases.get(family) or backbone_folders[family]
        config = TrainConfig(base=str(base), heads=3, hidden=8, epochs=1, **choices)
        train(data=folder / "data.jsonl", out=folder / "model", config=config, report=lambda progress: None)
        export_folder(folder / "model", folder / "out")
    return root


@pytest.fixture(scope="module")
def readme_scores(root):
    """What each README's code says, by family, in a process that does not see this library."""
    solutions = [(trace.problem, [render_step(step) for step in trace.steps]) for trace in TRACES]
    script = ["import json, sys", "scores = {}"]
    for family in FAMILIES:
        out = root / family / "out"
        readme = (out / "README.md").read_text()
        code = re.search(r"```python\n(.*?)```", readme, re.DOTALL)[1].partition("if __name__")[0]
        names = f"names = {{}}\nexec({code!r}, names)\nloaded = names['load']({str(out)!r})"
        script += [names, f"scores[{family!r}] = [names['score'](loaded, *one) for one in {solutions!r}]"]
    script.append("assert not [name for name in sys.modules if name.split('.')[0] == 'prm']\nprint(json.dumps(scores))")
    run = subprocess.run([sys.executable, "-c", "\n".join(script)], cwd=root, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout.splitlines()[-1])


def scores_of(model):
    return [[p for p in score.mean if p is not None] for score in Scorer.load(model, device="cpu").score(TRACES)]


@pytest.mark.parametrize("family", FAMILIES)
def test_the_readmes_code_gives_our_scores(root, readme_scores, family):
    ours = scores_of(root / family / "model")
    for theirs, mine in zip(readme_scores[family], ours, strict=True):
        assert theirs == pytest.approx(mine, abs=1e-5)
    assert len(ours[-1]) < 9, "one of them does not fit the context"

    # Every way in: the causal LM, the bare model, the tokenizer; and nothing there is code or a pickle.
    out = root / family / "out"
    AutoTokenizer.from_pretrained(out)
    for kind in (AutoModel, AutoModelForCausalLM):
        _model, found = kind.from_pretrained(out, output_loading_info=True)
        assert not found["missing_keys"]
    assert {path.suffix for path in out.iterdir()} <= {".json", ".safetensors", ".md", ".jinja"}

    # And back in elsewhere, it is the same model.
    adopt(out, root / family / "adopted")
    again = list(Scorer.load(root / family / "adopted", device="cpu").score(TRACES))
    for score, mine in zip(again, ours, strict=True):
        assert [p for p in score.mean if p is not None] == pytest.approx(mine, abs=1e-5)
        assert score.spread[0] is not None


def test_weights_that_were_stored_in_half_are_exported_in_half(root):
    assert AutoModelForCausalLM.from_pretrained(root / "half" / "out", dtype="auto").dtype == torch.bfloat16


def test_an_export_replaces_nothing(root):
    with pytest.raises(ModelFileError, match="not an empty folder"):
        export_folder(root / "llama" / "model", root / "llama" / "out")
