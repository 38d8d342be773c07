"""Exports a distilled model in layouts that other tools load: a token classifier, and `Qwen2ForProcessRewardModel`.

Both read the last state of the token that ends a step. If the vocabulary has no special token for this, the export adds
MARKER, whose embedding is that of the token it replaces.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, get_args

import msgspec
import torch
from safetensors.torch import save_file
from torch import nn

from prm.backbones import Backbone
from prm.checkpoint import weights_written
from prm.encoding import Layout, encode
from prm.errors import ModelFileError
from prm.features import compute_features
from prm.files import check_new_folder, new_folder, write_atomic, write_json
from prm.formats.mapping import Mapping
from prm.formats.trace_files import read_traces
from prm.manifest import data_sha256
from prm.messages import Message, write_share
from prm.portable.distilling import Distillation, Layers, Lesson, distil, lesson_of
from prm.portable.exporting import README, card_of, load_trained, restore_weights
from prm.portable.layout import LAYOUT_KEY, StepLayout
from prm.traces import Trace

ClassifierLayout = Literal["token_classification", "process_reward"]
LAYOUTS: tuple[ClassifierLayout, ...] = get_args(ClassifierLayout)
MARKER = "<extra_0>"
REWARD = "Qwen2ForProcessRewardModel"
QWEN_LIKE = ("qwen2", "llama", "mistral")  # decoders that differ from Qwen2 only in the biases of q, k and v
REFERENCE = Path(__file__).parent / "classifier_reference.py"


def export_classifier(
    model: Path | str,
    out: Path | str,
    *,
    layout: ClassifierLayout,
    data: Path | str,
    mapping: Mapping | None = None,
    seed: int = 0,
) -> Distillation:
    """Distil the model of a folder on the solutions of `data`, and write the result to a new or empty folder.

    The solutions need no labels. Returns the measured loss, which the folder's README states too. Raises ModelFileError
    for a backbone that the layout cannot hold, and DataError for too few solutions.
    """
    model, out = Path(model), Path(out)
    check_new_folder(out)
    scorer, manifest, _ = load_trained(model)
    backbone = scorer.backbone
    _check_layout(layout, backbone)
    traces = [trace for trace in read_traces(data, mapping) if trace.steps]
    scores = [[p for p in score.mean if p is not None] for score in scorer.score(traces)]
    restore_weights(backbone, manifest)
    _mark_steps(backbone)
    fresh = data_sha256(Path(data), mapping) != manifest.data_sha256  # the model knows the labels that it learned from
    lesson = _lesson(backbone, traces, scores, manifest.config.token_budget, labelled=fresh)
    layers, loss = distil(lesson, hidden=layout == "process_reward", threshold=manifest.threshold, seed=seed)
    ids = backbone.layout
    placed = StepLayout(ids.start, ids.problem_end, ids.step_end, backbone.context, manifest.threshold)
    write = {"token_classification": _write_classifier, "process_reward": _write_reward_model}[layout]
    with new_folder(out) as folder, weights_written(out):
        write(backbone, layers, folder)
        config = msgspec.json.decode((folder / "config.json").read_bytes())
        write_json(folder / "config.json", config | {LAYOUT_KEY: placed})
        backbone.tokenizer.save_pretrained(folder)
        write_atomic(folder / README, _readme(layout, placed, loss, card_of(model, manifest)).encode())
    return loss


def _check_layout(layout: ClassifierLayout, backbone: Backbone) -> None:
    """Raises ModelFileError with the reason if the layout cannot hold this backbone."""
    from transformers import MODEL_FOR_TOKEN_CLASSIFICATION_MAPPING

    config = backbone.model.config
    if layout == "token_classification":
        if type(config) not in MODEL_FOR_TOKEN_CLASSIFICATION_MAPPING:
            raise ModelFileError(Message("no_token_classifier", family=config.model_type))
        return
    heads, head = config.num_attention_heads, getattr(config, "head_dim", None)
    window = getattr(config, "sliding_window", None)
    if getattr(config, "use_sliding_window", True) is False:
        window = None
    if config.model_type not in QWEN_LIKE:
        raise ModelFileError(Message("not_like_qwen2", family=config.model_type, known=", ".join(QWEN_LIKE)))
    for fault, broken in {
        f"hidden_act is {config.hidden_act}, not silu": config.hidden_act != "silu",
        f"head_dim is {head}, not hidden_size / num_attention_heads": head not in (None, config.hidden_size // heads),
        f"sliding_window is {window}": window is not None and window < config.max_position_embeddings,
    }.items():
        if broken:
            raise ModelFileError(Message("backbone_unlike_qwen2", name=backbone.name, fault=fault))


def _mark_steps(backbone: Backbone) -> None:
    """End steps with one special token, so that no text can contain it and other tools find it."""
    tokenizer, layout = backbone.tokenizer, backbone.layout
    if len(layout.step_end) == 1 and layout.step_end[0] in tokenizer.all_special_ids:
        return
    added = tokenizer.add_tokens([MARKER], special_tokens=True)
    marker = tokenizer.convert_tokens_to_ids(MARKER)
    if marker >= len(backbone.model.get_input_embeddings().weight):
        backbone.model.resize_token_embeddings(marker + 1, mean_resizing=False)
    if added:
        with torch.no_grad():
            embeddings = backbone.model.get_input_embeddings().weight
            embeddings[marker] = embeddings[layout.step_end[-1]]
    backbone.layout = Layout(layout.start, layout.problem_end, (marker,))


def _lesson(
    backbone: Backbone, traces: Sequence[Trace], scores: Sequence[list[float]], token_budget: int, *, labelled: bool
) -> Lesson:
    """The last state of each step that has a score and fits the context, with the score and perhaps the label."""
    encoded = encode(traces, backbone.tokenizer, backbone.layout, backbone.context)
    rows = compute_features(backbone, encoded, token_budget, ("separator",))
    scored = [k < len(own) for own, item in zip(scores, encoded, strict=True) for k in range(len(item.spans))]
    fitting = [own[: len(item.spans)] for own, item in zip(scores, encoded, strict=True)]
    return lesson_of(traces, rows[torch.tensor(scored, dtype=torch.bool)], fitting, labelled=labelled)


def _write_classifier(backbone: Backbone, layers: Layers, out: Path) -> None:
    """The backbone with one linear layer, which `AutoModelForTokenClassification` loads."""
    from transformers import AutoModelForTokenClassification

    config = type(backbone.model.config).from_dict(backbone.model.config.to_dict())
    config.id2label, config.label2id = {0: "wrong", 1: "right"}, {"wrong": 0, "right": 1}
    with torch.device("meta"):  # its own weights are replaced
        classifier = AutoModelForTokenClassification.from_config(config)
    setattr(classifier, classifier.base_model_prefix, backbone.model.base_model)
    [(weight, bias)] = layers
    head = nn.Linear(weight.shape[1], 2, dtype=backbone.model.dtype)
    with torch.no_grad():
        head.weight.copy_(weight)
        head.bias.copy_(bias)
    setattr(classifier, "score" if hasattr(classifier, "score") else "classifier", head)
    classifier.save_pretrained(out)


def _write_reward_model(backbone: Backbone, layers: Layers, out: Path) -> None:
    """The layout of Qwen2.5-Math-PRM, which vLLM loads: `model.*`, and `score.0` and `score.2` with a ReLU between.

    Qwen2 has biases on q, k and v only; for a decoder without them they are zero.
    """
    from transformers import Qwen2Config, Qwen2Model

    source = backbone.model.config.to_dict()
    known = Qwen2Config().to_dict().keys() - {"architectures", "transformers_version", "model_type", "layer_types"}
    config = Qwen2Config(**{name: value for name, value in source.items() if name in known})
    with torch.device("meta"):
        wanted = Qwen2Model(config).state_dict()
    tensors = dict(backbone.model.base_model.state_dict())
    for name, empty in wanted.items():
        if name not in tensors and name.endswith((".q_proj.bias", ".k_proj.bias", ".v_proj.bias")):
            tensors[name] = torch.zeros(empty.shape, dtype=backbone.model.dtype)
    if odd := sorted(tensors.keys() ^ wanted.keys()):
        raise ModelFileError(Message("backbone_unlike_qwen2", name=backbone.name, fault=f"it has {odd[0]}"))
    tensors = {f"model.{name}": tensor.contiguous() for name, tensor in tensors.items()}
    for place, (weight, bias) in zip((0, 2), layers, strict=True):
        tensors |= {f"score.{place}.weight": weight.to(backbone.model.dtype).contiguous()}
        tensors |= {f"score.{place}.bias": bias.to(backbone.model.dtype).contiguous()}
    save_file(tensors, out / "model.safetensors", {"format": "pt"})
    write_json(out / "config.json", _reward_config(config, backbone))


def _reward_config(config: Any, backbone: Backbone) -> dict[str, Any]:
    """`rope_theta` and `rope_scaling` also stand where older readers expect them, who else assume other values."""
    rope = dict(config.rope_parameters)
    scaling = {} if rope.get("rope_type") == "default" else {"rope_scaling": rope}
    return {
        **config.to_dict(),
        "architectures": [REWARD],
        "dtype": str(backbone.model.dtype).removeprefix("torch."),
        "num_labels": 2,
        "rope_theta": rope["rope_theta"],
        "tie_word_embeddings": False,
        **scaling,
    }


def _readme(layout: ClassifierLayout, placed: StepLayout, loss: Distillation, card: str) -> str:
    """The card, the measured loss, and how to score."""
    aurocs = ""
    if loss.model_auroc is not None and loss.head_auroc is not None:
        aurocs = f"| AUROC of wrong steps: the model, this head | {loss.model_auroc:.3f}, {loss.head_auroc:.3f} |\n"
    return f"""---
library_name: transformers
tags: [process-reward-model, stepmark]
---

{card.strip()}

## This layout

The figures above are of the ensemble. This folder has one head, which learned the ensemble's scores from
{loss.learned_from} solutions. It has no spread. Its difference, on {loss.steps} steps of {loss.solutions} solutions of
other problems:

| figure | value |
|---|---|
| mean absolute difference of probabilities | {loss.difference:.4f} |
| divergence from the model, in nats | {loss.divergence:.5f} |
| steps with the same verdict | {write_share(loss.agreement, 1)} |
{aurocs}
## Scoring

{_SERVING if layout == "process_reward" else _LOADING}
A text is the ids {list(placed.start)}, the problem, the ids {list(placed.problem_end)}, and each step followed by the
id {placed.step_end[0]}. Problem and steps are tokenised separately. A step's score is p(right) at its last id.
{placed.threshold.sentence}
"""


_LOADING = f"""`AutoModelForTokenClassification` loads the folder. This code computes the scores:

```python
{REFERENCE.read_text().partition(chr(34) * 3 + chr(10) * 2)[2].strip()}
```
"""
_SERVING = """vLLM loads the folder without remote code:

```sh
vllm serve . --dtype float32 --runner pooling --pooler-config '{"pooling_type": "ALL"}'
```

Send token ids to `/pooling`. The response has a row for each token, and the second number at a step's last id is
p(right). With "STEP" instead of "ALL", vLLM turns off chunked prefill and the prefix cache. Without `--dtype`, it
computes a float32 model in float16.
"""
