"""Imports a model as a model folder of this library: checked, copied, and with its origin in the manifest.

It reads a model folder of this library, an exported folder, a Hugging Face token classifier on the end of a step,
including the layout of Qwen2.5-Math-PRM, and causal LMs that answer each step with "+" or "-". A classifier that this
library exported names its own text layout. Nothing is unpickled and no code is run: weights must be safetensors, and
only data files are copied.
"""

import shutil
import time
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import msgspec
import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from prm.backbones import Backbone, load_backbone
from prm.checkpoint import save_model, weights_written
from prm.config import TrainConfig
from prm.encoding import Layout, token_ids
from prm.errors import ModelFileError
from prm.faults import UNDECODABLE, sentence_of
from prm.files import check_new_folder, new_folder, write_json
from prm.formats.math_shepherd import TAG
from prm.manifest import (
    MANIFEST_FILE,
    Counts,
    Manifest,
    Outside,
    base_of,
    current_versions,
    read_manifest,
)
from prm.messages import Message
from prm.portable.classifiers import MARKER, REWARD
from prm.portable.layout import ABOUT_FILE, HEADER, HEADS_FILE, LAYOUT_KEY, Head, StepLayout, read_description
from prm.scoring import Scorer
from prm.threshold import UNFITTED

BACKBONE = "backbone"
DATA_FILES = {".json", ".safetensors", ".txt", ".model", ".jinja"}
PICKLES = {".bin", ".pt", ".pth", ".pkl", ".pickle", ".ckpt"}
CLASSIFIER = "ForTokenClassification"
QWEN_SYSTEM = "Please reason step by step, and put your final answer within \\boxed{}."
Answers = Literal["math_shepherd", "rlhflow"]
PLAIN_LOGITS = {"LlamaForCausalLM", "MistralForCausalLM", "Qwen2ForCausalLM"}  # neither scaled nor capped


def adopt(
    source: Path | str, out: Path | str, *, separator: str = "\n", good: int = 1, answers: Answers | None = None
) -> Manifest:
    """Create a model folder at `out` from another folder; raises ModelFileError with the reason.

    `separator` ends each step of a token classifier, as in its training; `good` is its class of correct steps.
    `answers` is the layout of a causal LM whose logits of "+" and "-" are the score: Math-Shepherd's model reads them
    at the tag `ки` after a step, and RLHFlow's where the assistant answers each step of the user.
    """
    source, out = Path(source), Path(out)
    if not source.is_dir():
        raise ModelFileError(Message("not_a_folder", source=source))
    check_new_folder(out)
    for path in source.rglob("*"):  # a link could copy a file from outside
        if path.is_symlink():
            raise ModelFileError(Message("file_is_link", name=source.name, path=path.relative_to(source)))
    with new_folder(out) as folder, weights_written(out):
        if (source / MANIFEST_FILE).exists():
            manifest = read_manifest(source)
            for name in (MANIFEST_FILE, *manifest.checksums):
                shutil.copyfile(source / name, folder / name)
            if manifest.base.startswith("./"):
                _copy_backbone(Path(base_of(source, manifest)), folder / BACKBONE)
        elif (source / ABOUT_FILE).exists():
            _adopt_exported(source, folder)
        else:
            _adopt_outside(source, folder, separator, good, answers)
        adopted = Scorer.load(folder, device="cpu").manifest  # raises if it cannot be loaded
    assert adopted is not None, "every model folder has a manifest"
    return adopted


def _adopt_exported(source: Path, out: Path) -> None:
    """Import an exported folder: its adapters are merged, so only the heads are added to the backbone."""
    described = read_description(source)
    _copy_backbone(source, out / BACKBONE)
    tensors, header = _read(source / HEADS_FILE)
    try:
        head = msgspec.json.decode(header[HEADER], type=Head)
    except (KeyError, *UNDECODABLE) as error:
        raise ModelFileError(Message("description_unreadable", path=source / HEADS_FILE, error=error)) from error
    config = msgspec.structs.replace(
        described.manifest.config,
        base=f"./{BACKBONE}",
        lane="heads",
        context=head.context,
        process_weight=float(head.part == "heads"),
        outcome_weight=float(head.part == "outcome"),
    )
    backbone = load_backbone(str(out / BACKBONE), device="cpu")
    manifest = msgspec.structs.replace(
        described.manifest, base=f"./{BACKBONE}", base_sha256=backbone.sha256, config=config
    )
    save_model(out, {f"{head.part}.{name}": tensor for name, tensor in tensors.items()}, manifest)


def _adopt_outside(source: Path, out: Path, separator: str, good: int, answers: Answers | None) -> None:
    started = time.monotonic()
    config = _config(source)
    architecture = str((config.get("architectures") or [""])[0])
    if not (architecture in PLAIN_LOGITS if answers else architecture.endswith(CLASSIFIER) or architecture == REWARD):
        raise ModelFileError(
            Message(
                "architecture_not_supported",
                name=source.name,
                architecture=architecture or Message("nothing"),
                known=", ".join(sorted(PLAIN_LOGITS)) if answers else f"…{CLASSIFIER}, {REWARD}",
            )
        )
    _copy_backbone(source, out / BACKBONE)
    backbone = load_backbone(str(out / BACKBONE), device="cpu", headless=True)
    tensors = _answer_head(source, backbone) if answers else _head_layers(source)
    good = 0 if answers else good
    classes = len(tensors[f"{len(tensors) // 2 - 1}.bias"])
    if not 0 <= good < classes:
        raise ModelFileError(Message("good_class_out_of_range", n=classes, name=source.name, good=good))
    placed = _own_layout(config)
    if placed:
        layout = Layout(placed.start, placed.problem_end, placed.step_end)
    elif answers:
        layout = _shepherd_layout(backbone) if answers == "math_shepherd" else _rlhflow_layout(backbone)
    else:
        layout = _reward_layout(backbone) if architecture == REWARD else _classifier_layout(backbone, separator)
    outside = Outside(
        kind="token_logits" if answers else "process_reward" if architecture == REWARD else "token_classification",
        source=source.name,
        layers=len(tensors) // 2,
        good=good,
        start=layout.start,
        problem_end=layout.problem_end,
        step_end=layout.step_end,
        between=layout.between,
    )
    manifest = Manifest(
        base=f"./{BACKBONE}",
        base_sha256=backbone.sha256,
        config=TrainConfig(
            base=f"./{BACKBONE}", features=("separator",), heads=1, context=placed.context if placed else None
        ),
        data_sha256="",
        counts=Counts(solutions=0, problems=0, held_solutions=0, steps=0, good=0, bad=0, ignored=0, not_scored=0),
        temperature=1.0,
        threshold=placed.threshold if placed else UNFITTED,
        fitted_on="distilled" if placed else "none",
        metrics={},
        created_at=datetime.now(UTC).isoformat(timespec="seconds"),
        seconds=time.monotonic() - started,
        versions=current_versions(),
        checksums={},
        notes=[f"it was trained elsewhere and imported from {source.name}: one head, so no spread and no uncertainty"],
        outside=outside,
    )
    save_model(out, tensors, manifest)


def _own_layout(config: dict[str, Any]) -> StepLayout | None:
    """The layout of a classifier that this library exported; None for another one."""
    try:
        return msgspec.convert(config.get(LAYOUT_KEY), StepLayout | None)
    except msgspec.ValidationError as error:
        raise ModelFileError(Message("config_corrupt", name=LAYOUT_KEY, error=sentence_of(error))) from error


def _head_layers(source: Path) -> dict[str, Tensor]:
    """The head's linear layers as "0.weight", "0.bias", "1.weight", ...; a missing bias is zero."""
    tensors: dict[str, Tensor] = {}
    for path in sorted(source.glob("*.safetensors")):
        tensors |= _read(path, only=("score.", "classifier."))[0]
    weights = sorted(name for name in tensors if name.endswith("weight"))
    if not weights or any(tensors[name].dim() != 2 for name in weights):
        raise ModelFileError(Message("no_linear_head", name=source.name, names="score or classifier"))
    layers: dict[str, Tensor] = {}
    for number, name in enumerate(weights):
        weight = tensors[name].float()
        layers[f"{number}.weight"] = weight
        layers[f"{number}.bias"] = tensors.get(name.removesuffix("weight") + "bias", torch.zeros(len(weight))).float()
    return layers


def _answer_head(source: Path, backbone: Backbone) -> dict[str, Tensor]:
    """The output layer's rows of "+" and "-", as a linear head with these two classes."""
    tensors: dict[str, Tensor] = {}
    for path in sorted(source.glob("*.safetensors")):
        tensors |= _read(path, only=("lm_head.weight", "model.embed_tokens.weight"))[0]
    tied = backbone.model.config.tie_word_embeddings
    weight = tensors.get("model.embed_tokens.weight" if tied else "lm_head.weight")
    if weight is None:
        raise ModelFileError(Message("no_linear_head", name=source.name, names="lm_head"))
    rows = [backbone.tokenizer(sign, add_special_tokens=False)["input_ids"][-1] for sign in "+-"]
    return {"0.weight": weight[rows].float(), "0.bias": torch.zeros(2)}


def _shepherd_layout(backbone: Backbone) -> Layout:
    """The layout on the model card of Math-Shepherd's PRM: `problem step ки`, a line end, `step ки`, and so on."""
    tokenizer = backbone.tokenizer
    start = () if tokenizer.bos_token_id is None else (tokenizer.bos_token_id,)
    line, space = token_ids(tokenizer, "\n"), token_ids(tokenizer, " ")
    if tokenizer.convert_ids_to_tokens(token_ids(tokenizer, "a"))[0] != "a":  # it begins each text with a space itself
        return Layout(start, (), token_ids(tokenizer, TAG), line[-1:])
    return Layout(start, space, token_ids(tokenizer, " " + TAG), line)


def _rlhflow_layout(backbone: Backbone) -> Layout:
    """The layout of RLHFlow's code: each step is the user's message, the first after the problem and a space.

    The assistant answers "+" to each. The state before that answer is the step's.
    """
    tokenizer = backbone.tokenizer
    texts = ["\ue000first\ue000", "\ue000second\ue000"]
    messages = [
        {"role": role, "content": text} for step in texts for role, text in (("user", step), ("assistant", "+"))
    ]
    try:
        text = tokenizer.apply_chat_template(messages, tokenize=False)
        before, _, rest = text.partition(texts[0])
        around, after, _ = rest.partition(texts[1])
        to_answer, plus, to_step = around.rpartition("+")
    except Exception as error:  # no template, or one that rejects a role: Jinja's own errors
        raise ModelFileError(Message("chat_template_unusable", error=str(error).partition("\n")[0])) from None
    if not (after and plus and to_answer):
        raise ModelFileError(Message("chat_template_unusable", error=Message("chat_template_drops_messages")))
    return Layout(
        token_ids(tokenizer, before),
        token_ids(tokenizer, " "),
        token_ids(tokenizer, to_answer),
        token_ids(tokenizer, plus + to_step),
    )


def _classifier_layout(backbone: Backbone, separator: str) -> Layout:
    """The layout of TRL's PRM trainer: the problem, then each step followed by the separator."""
    tokenizer = backbone.tokenizer
    ending = token_ids(tokenizer, separator)
    if not ending:
        raise ModelFileError(Message("separator_without_token", separator=separator))
    start = () if tokenizer.bos_token_id is None else (tokenizer.bos_token_id,)
    return Layout(start, (), ending)


def _reward_layout(backbone: Backbone) -> Layout:
    """The layout on the model card of Qwen2.5-Math-PRM: a chat with `<extra_0>` after each step of the answer."""
    tokenizer = backbone.tokenizer
    step_end = token_ids(tokenizer, MARKER)
    if len(step_end) != 1:
        raise ModelFileError(Message("token_unknown", token=MARKER))
    start = f"<|im_start|>system\n{QWEN_SYSTEM}<|im_end|>\n<|im_start|>user\n"
    return Layout(token_ids(tokenizer, start), token_ids(tokenizer, "<|im_end|>\n<|im_start|>assistant\n"), step_end)


def _copy_backbone(source: Path, out: Path) -> None:
    """Copy data files only, without references to code in the configuration."""
    if not any(source.glob("*.safetensors")):
        pickled = sorted(path.name for path in source.iterdir() if path.suffix in PICKLES)
        raise ModelFileError(
            Message("weights_pickled", name=source.name, pickled=pickled[0])
            if pickled
            else Message("weights_missing", name=source.name)
        )
    out.mkdir()
    for path in sorted(source.iterdir()):
        if path.is_file() and path.suffix in DATA_FILES and path.name not in (HEADS_FILE, ABOUT_FILE):
            shutil.copyfile(path, out / path.name)
    config = _config(out)
    config.pop("auto_map", None)
    write_json(out / "config.json", config)


def _config(folder: Path) -> dict[str, Any]:
    try:
        return msgspec.json.decode((folder / "config.json").read_bytes(), type=dict[str, Any])
    except OSError as error:
        raise ModelFileError(Message("config_missing", name=folder.name)) from error
    except UNDECODABLE as error:
        raise ModelFileError(Message("config_corrupt", name=folder.name, error=sentence_of(error))) from error


def _read(path: Path, only: Iterable[str] = ("",)) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Tensors whose names begin with one of `only`, and the header."""
    try:
        with safe_open(path, framework="pt") as file:
            names = [name for name in file.keys() if name.startswith(tuple(only))]  # noqa: SIM118 - it is no dict
            return {name: file.get_tensor(name) for name in names}, file.metadata() or {}
    except (OSError, SafetensorError) as error:
        raise ModelFileError(Message("model_corrupt", name=path.name, error=error)) from error
