"""vLLM itself computes our scores from each export, with long texts split and the prefix cache on."""

import json
import os
import subprocess
from itertools import product
from pathlib import Path

import pytest
import torch
from transformers import AutoTokenizer, Qwen2Config, Qwen2ForCausalLM

from prm.config import TrainConfig
from prm.encoding import encode
from prm.portable.classifiers import export_classifier
from prm.portable.exporting import export_folder
from prm.portable.importing import adopt
from prm.portable.marking import Marks
from prm.portable.vllm_plugin import ARCHITECTURE
from prm.scoring import Scorer
from prm.traces import write_traces
from prm.training import train
from tests.unit.prm.small_world import make_traces

ROOT = Path(__file__).parents[4]
PYTHON = Path(os.environ.get("STEPMARK_VLLM", ROOT / "var" / "vllm" / "bin" / "python"))
TRACES = make_traces(12, seed=9)
KINDS = {"heads": {}, "lora": {"lane": "lora"}, "full": {"lane": "full"}, "qwen2": {}}
EXPORTS = [*product(KINDS, ["ensemble"]), ("heads", "reward"), ("qwen2", "reward")]
TOLERANCE = 1e-5  # float32 in another order of operations

pytestmark = [
    pytest.mark.skipif(not PYTHON.exists(), reason=f"there is no vLLM at {PYTHON}: see tests/loaders/vllm.txt"),
    pytest.mark.timeout(480),
]


@pytest.fixture(scope="module")
def scored(tmp_path_factory, backbone_folders):
    """By kind of model and layout: the library's scorer, and vLLM's response for the texts of TRACES."""
    root = tmp_path_factory.mktemp("vllm")
    write_traces(root / "data.jsonl", make_traces(24, seed=3))
    bases = {"qwen2": str(blank_line_backbone(root / "base", backbone_folders["qwen2"]))}
    for kind, choices in KINDS.items():
        config = TrainConfig(base=bases.get(kind, "tiny"), heads=2, hidden=8, epochs=1, **choices)
        train(data=root / "data.jsonl", out=root / kind, config=config)
    scorers = {(kind, layout): exported(root, kind, layout) for kind, layout in EXPORTS}
    jobs = [
        {
            "folder": str(root / f"{kind}-{layout}"),
            "texts": [marks_of(scorer).mark(i) if layout == "ensemble" else list(i.ids) for i in encoded(scorer)],
            "architecture": ARCHITECTURE if layout == "ensemble" else None,
        }
        for (kind, layout), scorer in scorers.items()
    ]
    (root / "jobs.json").write_text(json.dumps(jobs))
    quiet = {
        "HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1", "DO_NOT_TRACK": "1", "VLLM_CPU_KVCACHE_SPACE": "1",
        "VLLM_CPU_OMP_THREADS_BIND": "nobind", "VLLM_ENABLE_V1_MULTIPROCESSING": "0", "PYTHONPATH": str(ROOT),
    }  # fmt: skip
    done = subprocess.run(
        [str(PYTHON), str(ROOT / "tests" / "loaders" / "score_in_vllm.py"), str(root / "jobs.json")],
        env={**os.environ, **quiet},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    answers = json.loads(done.stdout.splitlines()[-1])
    return {key: (scorers[key], answer) for key, answer in zip(scorers, answers, strict=True)}


def blank_line_backbone(folder, tokenizer):
    """A random Qwen2 without separators, with a size of head that vLLM computes on a CPU."""
    AutoTokenizer.from_pretrained(tokenizer).save_pretrained(folder)
    vocabulary = len(AutoTokenizer.from_pretrained(tokenizer))
    shape = {"hidden_size": 64, "intermediate_size": 64, "num_attention_heads": 2, "num_key_value_heads": 1}
    torch.manual_seed(0)
    config = Qwen2Config(vocab_size=vocabulary, num_hidden_layers=3, max_position_embeddings=512, **shape)
    Qwen2ForCausalLM(config).save_pretrained(folder)
    return folder


def exported(root, kind, layout):
    """Export a model, and return the scorer that its scores must equal."""
    out = root / f"{kind}-{layout}"
    if layout == "ensemble":
        export_folder(root / kind, out)
        return Scorer.load(root / kind, device="cpu")
    export_classifier(root / kind, out, layout="process_reward", data=root / "data.jsonl")
    adopt(out, root / f"{kind}-adopted")
    return Scorer.load(root / f"{kind}-adopted", device="cpu")


def encoded(scorer):
    return encode(TRACES, scorer.backbone.tokenizer, scorer.backbone.layout, scorer.backbone.context)


def marks_of(scorer):
    return Marks.of(scorer.backbone.layout, scorer.backbone.tokenizer.all_special_ids)


@pytest.mark.parametrize(("kind", "layout"), EXPORTS)
def test_scores_of_vllm_are_ours(scored, kind, layout):
    scorer, answer = scored[kind, layout]
    assert (answer["chunked"], answer["prefixes"]) == (True, True)
    for own, rows, item in zip(scorer.score(TRACES), answer["rows"], encoded(scorer), strict=True):
        if layout == "reward":  # a row for each token
            rows = [rows[end - 1] for _, end in item.spans]
        assert torch.tensor(rows)[:, 1].tolist() == pytest.approx(own.mean, abs=TOLERANCE)
