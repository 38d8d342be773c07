"""A distilled export loads in other tools, with the scores that this library computes from it after `adopt`."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from torch.nn.functional import linear
from transformers import AutoModel, AutoTokenizer, Qwen2Config, Qwen2Model, pipeline

from prm.__main__ import main
from prm.backbones import load_backbone
from prm.cards import FITTED_ON
from prm.config import TrainConfig
from prm.encoding import render_step
from prm.errors import DataError, ModelFileError
from prm.manifest import read_manifest
from prm.portable import classifiers
from prm.portable.classifiers import MARKER, export_classifier
from prm.portable.distilling import distil, lesson_of
from prm.portable.importing import adopt
from prm.scoring import Scorer
from prm.threshold import Threshold
from prm.traces import Step, Trace, write_traces
from prm.training import train
from tests.unit.prm.small_world import make_traces

ROOT = Path(__file__).parents[4]
TOOLS = Path(os.environ.get("STEPMARK_LOADERS", ROOT / "var" / "loaders"))
TRACES = [*make_traces(4, seed=9), Trace(id="kinds", problem="A <step> here.", steps=[Step("look(1)", "tool_call")])]


@pytest.fixture(scope="module")
def root(tmp_path_factory, backbone_folders):
    """A folder with the solutions, and a model of `tiny`, which has separators, and one of Qwen2, which has none."""
    root = tmp_path_factory.mktemp("classifiers")
    write_traces(root / "data.jsonl", make_traces(24, seed=3))
    for family, base in {"tiny": "tiny", "qwen2": str(backbone_folders["qwen2"])}.items():
        config = TrainConfig(base=base, heads=2, hidden=8, epochs=1)
        train(data=root / "data.jsonl", out=root / family, config=config)
    return root


@pytest.fixture(scope="module")
def exported(root):
    """The folders of an export in each layout, and of what `adopt` makes of it."""
    patch = pytest.MonkeyPatch()
    patch.setattr("prm.portable.distilling.EPOCHS", 3)
    folders = {}
    for family in ("tiny", "qwen2"):
        for layout in classifiers.LAYOUTS:
            out, adopted = root / f"{family}-{layout}", root / f"{family}-{layout}-adopted"
            export_classifier(root / family, out, layout=layout, data=root / "data.jsonl")
            adopt(out, adopted)
            folders[family, layout] = out, adopted
    patch.undo()
    return folders


def test_an_adopted_export_says_where_its_threshold_comes_from(exported):
    manifest = read_manifest(exported["tiny", "token_classification"][1])
    assert FITTED_ON[manifest.fitted_on] == "the data of the model that it was distilled from"


def scores_of(model):
    return [score.mean for score in Scorer.load(model, device="cpu").score(TRACES)]


@pytest.mark.parametrize("family", ["tiny", "qwen2"])
def test_the_readmes_code_gives_the_adopted_scores(exported, family):
    out, adopted = exported[family, "token_classification"]
    code = re.search(r"```python\n(.*?)```", (out / "README.md").read_text(), re.DOTALL)[1]
    names = {}
    exec(code, names)
    loaded = names["load"](str(out))
    for trace, mine in zip(TRACES, scores_of(adopted), strict=True):
        theirs = names["score"](loaded, trace.problem, [render_step(step) for step in trace.steps])
        assert theirs == pytest.approx(mine, abs=1e-5)


def test_the_pipeline_of_transformers_reads_the_classifier(exported):
    out, adopted = exported["tiny", "token_classification"]
    text = "".join([TRACES[0].problem, "<problem>", *(f"{step.text}<step>" for step in TRACES[0].steps)])
    tokenizer = AutoTokenizer.from_pretrained(out)
    if tokenizer(text)["input_ids"][0] != tokenizer.bos_token_id:
        text = tokenizer.bos_token + text
    tagged = pipeline("token-classification", model=str(out), tokenizer=tokenizer, ignore_labels=[])(text)
    ends = [token for token in tagged if token["word"] == "<step>"]
    right = [token["score"] if token["entity"] == "right" else 1 - token["score"] for token in ends]
    assert right == pytest.approx(scores_of(adopted)[0], abs=1e-5)


def test_trl_scores_and_trains_the_classifier(exported, tmp_path):
    if not (TOOLS / "trl").exists():
        pytest.skip(f"TRL is not in {TOOLS}: see tests/loaders/requirements.txt")
    out, adopted = exported["tiny", "token_classification"]
    rows = [
        {
            "prompt": trace.problem + "<problem>",
            "completions": [step.text for step in trace.steps],
            "labels": [True] * len(trace.steps),
        }
        for trace in TRACES[:4]
    ]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    quiet = {"HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path), "TRL_EXPERIMENTAL_SILENCE": "1", "PYTHONPATH": str(TOOLS)}
    script = ROOT / "tests" / "loaders" / "continue_in_trl.py"
    done = subprocess.run(
        [sys.executable, str(script), str(out), str(tmp_path / "rows.jsonl")],
        env={**os.environ, **quiet},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    answer = json.loads(done.stdout.splitlines()[-1])
    assert answer["steps"] == 1
    for theirs, mine in zip(answer["scores"], scores_of(adopted)[:4], strict=True):
        assert theirs == pytest.approx(mine, abs=1e-5)


@pytest.mark.parametrize("family", ["tiny", "qwen2"])
def test_vllms_process_reward_model_finds_its_weights_and_configuration(exported, family):
    """It maps `model.*` to a Qwen2 decoder and `score` to Linear, ReLU, Linear; without rope_theta it assumes 1e6."""
    out, adopted = exported[family, "process_reward"]
    tensors, config = load_file(out / "model.safetensors"), json.loads((out / "config.json").read_text())
    assert config["architectures"] == ["Qwen2ForProcessRewardModel"]
    assert "auto_map" not in config
    assert """--pooler-config '{"pooling_type": "ALL"}'""" in (out / "README.md").read_text(), "STEP splits no text"
    with torch.device("meta"):
        decoder = Qwen2Model(Qwen2Config(**config)).state_dict()
    width = config["hidden_size"]
    wanted = {f"model.{name}": tensor.shape for name, tensor in decoder.items()}
    wanted |= {"score.0.weight": (width, width), "score.0.bias": (width,)}
    wanted |= {"score.2.weight": (2, width), "score.2.bias": (2,)}
    assert {name: tuple(tensor.shape) for name, tensor in tensors.items()} == {n: tuple(s) for n, s in wanted.items()}
    assert config["rope_theta"] == config["rope_parameters"]["rope_theta"]
    assert config.get("head_dim", width // config["num_attention_heads"]) == width // config["num_attention_heads"]

    layout = config["stepmark"]
    tokenizer, model = AutoTokenizer.from_pretrained(out), AutoModel.from_pretrained(out).eval()
    for trace, mine in zip(TRACES, scores_of(adopted), strict=True):
        ids, ends = [*layout["start"], *tokens(tokenizer, trace.problem), *layout["problem_end"]], []
        for step in trace.steps:
            ids += tokens(tokenizer, render_step(step)) + layout["step_end"]
            ends.append(len(ids) - 1)
        with torch.no_grad():
            states = model(torch.tensor([ids])).last_hidden_state[0, ends]
            inner = linear(states, tensors["score.0.weight"], tensors["score.0.bias"]).relu()
            logits = linear(inner, tensors["score.2.weight"], tensors["score.2.bias"])
        assert logits.double().softmax(1)[:, 1].tolist() == pytest.approx(mine, abs=1e-5)


def tokens(tokenizer, text):
    return tokenizer(text, add_special_tokens=False, split_special_tokens=True)["input_ids"]


def test_a_vocabulary_without_a_step_token_gets_one_that_reads_as_the_separator(root, exported):
    out, _ = exported["qwen2", "token_classification"]
    tokenizer = AutoTokenizer.from_pretrained(out)
    marker = tokenizer.convert_tokens_to_ids(MARKER)
    assert json.loads((out / "config.json").read_text())["stepmark"]["step_end"] == [marker]
    assert marker not in tokens(tokenizer, f"A step {MARKER} that forges one.")
    before = load_backbone(json.loads((root / "qwen2" / "manifest.json").read_text())["base"], device="cpu")
    embeddings = load_file(out / "model.safetensors")["model.embed_tokens.weight"]
    assert torch.equal(embeddings[marker], before.model.get_input_embeddings().weight[before.layout.step_end[-1]])
    again = json.loads((exported["tiny", "process_reward"][0] / "config.json").read_text())
    assert again["vocab_size"] == 1024, "tiny has a token of its own"


def test_what_a_layout_cannot_hold_is_refused_with_the_reason(tmp_path, root, backbone_folders, capsys):
    for family, reason in {"gpt2": "not gpt2: export the layout token", "mistral": "sliding_window is 24"}.items():
        backbone = load_backbone(str(backbone_folders[family]), device="cpu")
        with pytest.raises(ModelFileError, match=reason):
            classifiers._check_layout("process_reward", backbone)
    command = ["export", "--model", str(root / "tiny"), "--out", str(tmp_path / "out"), "--layout", "process_reward"]
    assert main(command) == 2
    assert "name solutions with --data" in capsys.readouterr().err
    write_traces(tmp_path / "few.jsonl", make_traces(3, seed=1))
    assert main([*command, "--data", str(tmp_path / "few.jsonl")]) == 2
    assert "of 3 problems, but distilling needs 10" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_head_learns_scores_that_its_states_determine():
    """The folded standardisation is exact, and the measured part is of other problems."""
    torch.manual_seed(0)
    traces = [Trace(f"{k}", f"problem {k}", ["a", "b"], first_error=k % 2 - 1) for k in range(200)]
    states = torch.randn(400, 6) * torch.tensor([1, 10, 0.1, 1, 1, 1]) + 3
    scores = torch.sigmoid(states[:, 0] - states[:, 1] / 10).double()
    lesson = lesson_of(traces, states, scores.view(200, 2).tolist())
    for hidden in (False, True):
        layers, loss = distil(lesson, hidden=hidden, threshold=Threshold(0.5))
        assert [weight.shape[0] for weight, _ in layers] == ([6, 2] if hidden else [2])
        assert (loss.learned_from, loss.solutions, loss.steps) == (120, 40, 80)
        assert loss.difference < 0.05
        assert loss.agreement > 0.9
    with pytest.raises(DataError):
        distil(
            lesson_of(traces[:9], states[:18], scores[:18].view(9, 2).tolist()), hidden=False, threshold=Threshold(0.5)
        )
