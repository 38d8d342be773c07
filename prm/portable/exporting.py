"""Exports a model as a Hugging Face folder: the backbone and one small file of heads.

`AutoModelForCausalLM` and `AutoTokenizer` load the folder; the README's code, which is `reference.py`, computes the
scores. Low-rank adapters are merged into the weights.
"""

from pathlib import Path
from typing import Any

import msgspec
from safetensors.torch import save_file

from prm.backbones import Backbone, stored_type
from prm.cards.folder import CARD_FILE
from prm.cards.model import model_card
from prm.checkpoint import weights_written
from prm.config import FEATURES
from prm.errors import ModelFileError
from prm.files import check_new_folder, new_folder, write_atomic, write_json
from prm.heads import Readout
from prm.manifest import Manifest, file_sha256, read_manifest
from prm.messages import Message
from prm.portable.layout import ABOUT_FILE, HEADER, HEADS_FILE, Description, Head
from prm.portable.marking import Marks
from prm.portable.vllm_plugin import ARCHITECTURE
from prm.scoring import Scorer

README = "README.md"
REFERENCE = Path(__file__).parent / "reference.py"


def export_folder(model: Path | str, out: Path | str) -> Description:
    """Write the model of a folder to a new or empty folder; raises ModelFileError with the reason."""
    model, out = Path(model), Path(out)
    check_new_folder(out)
    scorer, manifest, readout = load_trained(model)
    backbone = scorer.backbone
    restore_weights(backbone, manifest)
    part = "heads" if readout.heads is not None else "outcome"
    tensors = {name: tensor.contiguous() for name, tensor in readout.get_submodule(part).state_dict().items()}
    header = {HEADER: msgspec.json.encode(_head(scorer, part)).decode()}
    with new_folder(out) as folder, weights_written(out):
        backbone.model.save_pretrained(folder)
        backbone.tokenizer.save_pretrained(folder)
        save_file(tensors, folder / HEADS_FILE, header)
        write_atomic(folder / README, _readme(manifest, card_of(model, manifest), _marks(backbone)).encode())
        checksums = {path.name: file_sha256(path) for path in sorted(folder.iterdir())}
        described = Description(manifest, checksums)
        write_json(folder / ABOUT_FILE, described)
    return described


def load_trained(model: Path) -> tuple[Scorer, Manifest, Readout]:
    """A trained model; raises ModelFileError for one that was imported from another tool, or has a quantized backbone.

    Quantized weights merge with adapters only after another rounding, which would change the scores.
    """
    if read_manifest(model).config.quantization != "none":
        raise ModelFileError(Message("quantized_not_exported", model=model))
    scorer = Scorer.load(model, device="cpu", share_prefix="never")
    if scorer.manifest is None or scorer.readout is None:
        raise ModelFileError(Message("imported_model_is_its_export", model=model))
    return scorer, scorer.manifest, scorer.readout


def card_of(model: Path, manifest: Manifest) -> str:
    """The model's card, as it was last written."""
    return (model / CARD_FILE).read_text() if (model / CARD_FILE).exists() else model_card(manifest)


def restore_weights(backbone: Backbone, manifest: Manifest) -> None:
    """Merge adapters into the weights, and return untrained weights to the type in which they were stored."""
    _merge_adapters(backbone.model)
    if manifest.config.lane == "heads":
        backbone.model.to(stored_type(backbone.name))  # exact, since loading only widened the weights


def _head(scorer: Scorer, part: str) -> Head:
    manifest, backbone = scorer.manifest, scorer.backbone
    assert manifest is not None
    config = manifest.config
    return Head(
        part=part,
        features=tuple(feature for feature in FEATURES if feature in config.features),
        neutral=config.neutral,
        temperature=manifest.temperature,
        threshold=manifest.threshold,
        context=backbone.context,
        start=backbone.layout.start,
        problem_end=backbone.layout.problem_end,
        step_end=backbone.layout.step_end,
    )


def _merge_adapters(model: Any) -> None:
    """Merge adapters into the weights, and restore the plain layers."""
    from peft.tuners.tuners_utils import BaseTunerLayer

    adapted = [(name, layer) for name, layer in model.named_modules() if isinstance(layer, BaseTunerLayer)]
    for name, layer in reversed(adapted):  # peft nests the adapters of fused experts: the inner ones first
        layer.get_base_layer().float()
        layer.merge()
        parent, _dot, own = name.rpartition(".")
        setattr(model.get_submodule(parent), own, layer.get_base_layer())
    if hasattr(model, "peft_config"):
        del model.peft_config
    if hasattr(model, "_hf_peft_config_loaded"):
        model._hf_peft_config_loaded = False


def _marks(backbone: Backbone) -> Marks | None:
    """The marks of the texts that vLLM scores; None if the vocabulary has too few special tokens."""
    try:
        return Marks.of(backbone.layout, backbone.tokenizer.all_special_ids)
    except ModelFileError:
        return None


def _readme(manifest: Manifest, card: str, marks: Marks | None) -> str:
    """The card, and how to score without this library and with vLLM."""
    served = ""
    if marks is not None:
        layout = marks.layout
        problem_end, step_end = [*layout.problem_end[:-1], marks.problem], [*layout.step_end[:-1], marks.step]
        served = f"""
## Scoring with vLLM

`pip install stepmark-prm` in vLLM's environment adds the model class:

```sh
vllm serve . --dtype float32 --runner pooling --hf-overrides '{{"architectures": ["{ARCHITECTURE}"]}}'
```

Send token ids to `/pooling`: {list(layout.start)}, the problem, {problem_end}, and each step followed by {step_end}.
Problem and steps are tokenised separately. The response has [p(error), p(no error)] of each step.
"""
    code = REFERENCE.read_text().partition('"""\n\n')[2].strip()
    return f"""---
library_name: transformers
tags: [process-reward-model, stepmark]
---

{card.strip()}

## Scoring with plain transformers

The folder loads with `AutoModelForCausalLM` and `AutoTokenizer`. `{HEADS_FILE}` holds the ensemble of heads on its
states, with their settings in the header. In float32, this code computes the same scores as Stepmark:

```python
{code}


if __name__ == "__main__":
    print(score(load("."), "What is 2 + 2?", ["2 + 2 = 5.", "The answer is 5."]))
```

A step that is not plain reasoning begins with its kind: `[tool_call] search(...)`. {manifest.threshold.sentence} A
solution's score is the product of its step scores.
{served}"""
