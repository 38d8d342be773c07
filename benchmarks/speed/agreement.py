"""Checks what the benchmark measures: loss, gradients and scores on random input, against plain float32 passes."""

import argparse
import secrets
from itertools import pairwise
from pathlib import Path

import msgspec
import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits
from transformers import AutoModelForCausalLM

from benchmarks.speed import workload
from benchmarks.speed.models import make_model
from prm.backbones import load_backbone, tunable_parameters
from prm.config import FEATURES, Feature
from prm.encoding import Encoded
from prm.features import feature_width, step_features
from prm.files import write_json
from prm.heads import Heads
from prm.scoring import Scorer

DOCUMENTS = 12
STATES: tuple[Feature, ...] = ("middle", "last", "separator")
TOLERANCE = {"cpu": 1e-4, "cuda": 5e-2}  # relative; the second for bfloat16


class Agreement(msgspec.Struct):
    """Relative differences from the plain passes; those of scores are absolute."""

    seed: int
    shape: str
    device: str
    tolerance: float
    differences: dict[str, float]

    def table(self) -> str:
        """The differences in Markdown. Raises SystemExit if one is above its limit."""
        lines = [
            f"{self.shape} on {self.device}, random input of seed {self.seed}",
            "",
            "| of | difference |",
            "|---|---:|",
        ]
        lines += [f"| {name} | {value:.1e} |" for name, value in self.differences.items()]
        wrong = [name for name, value in self.differences.items() if not value <= self.tolerance]
        if wrong:
            raise SystemExit("\n".join([*lines, "", f"beyond {self.tolerance:g}: {', '.join(wrong)}"]))
        return "\n".join([*lines, "", f"all within {self.tolerance:g}"])

    def write(self, path: Path) -> None:
        """Write the differences as JSON."""
        write_json(path, self)


def run(options: argparse.Namespace, folder: Path) -> Agreement:
    """Compare the path of training and scoring with the unchanged model, one document at a time."""
    seed = options.seed or secrets.randbelow(1 << 31)
    generator = torch.Generator().manual_seed(seed)
    folder_of = workload.make_backbone(options.shape, folder, options.device)
    documents = [_random_document(generator) for _ in range(DOCUMENTS)]
    good = torch.rand(sum(len(document.spans) for document in documents), generator=generator)

    backbone = load_backbone(str(folder_of), device=options.device)
    backbone.model.requires_grad_(True)
    heads = Heads(4, feature_width(backbone.width, STATES), 16, 0.0)
    on_device = good.to(backbone.device)
    loss = _loss(heads.to(backbone.device), step_features(backbone, documents, STATES), on_device)
    loss.backward()
    gradients = {name: p.grad.float().cpu() for name, p in tunable_parameters(backbone).items() if p.grad is not None}

    plain = AutoModelForCausalLM.from_pretrained(folder_of, attn_implementation="eager", dtype=torch.float32)
    expected = _loss(heads.cpu(), torch.cat([_plain_rows(plain, document) for document in documents]), good)
    expected.backward()
    found = {"loss": abs(loss.item() / expected.item() - 1)}
    found["gradient, the worst weight's"] = max(
        float((gradients[name] - p.grad).norm() / p.grad.norm())
        for name, p in plain.named_parameters()
        if p.grad is not None and p.grad.norm() > 0
    )
    found["scores, sharing the problem or not"] = _sharing(options, folder, folder_of, seed)
    return Agreement(seed, options.shape, options.device, TOLERANCE[options.device], found)


def _random_document(generator: torch.Generator) -> Encoded:
    """A problem and a few steps of random tokens, with very different lengths."""
    problem, *steps = torch.randint(1, 60, (int(torch.randint(2, 12, (), generator=generator)),), generator=generator)
    ends = torch.stack([problem, *steps]).cumsum(0).tolist()
    ids = torch.randint(5, 1024, (ends[-1],), generator=generator).tolist()
    return Encoded(tuple(ids), tuple(pairwise(ends)), len(steps))


def _plain_rows(model: torch.nn.Module, document: Encoded) -> Tensor:
    """Features of one document's steps by their definition, [steps, width]."""
    states = model.model(torch.tensor([document.ids]), output_hidden_states=True, use_cache=False).hidden_states
    middle, last = states[len(states) // 2][0], states[-1][0]
    return torch.stack(
        [
            torch.cat([middle[start:end].mean(0), last[start:end].mean(0), last[end - 1]])
            for start, end in document.spans
        ]
    )


def _loss(heads: Heads, rows: Tensor, good: Tensor) -> Tensor:
    logits = heads(rows)
    return binary_cross_entropy_with_logits(logits, good.expand_as(logits))


def _sharing(options: argparse.Namespace, folder: Path, backbone: Path, seed: int) -> float:
    """The largest difference of any step's score."""
    model = make_model(backbone, folder, heads=12, features=FEATURES)
    traces = workload.pool(1, 8, problem_tokens=60, seed=seed)
    alone, shared = (
        [p for score in Scorer.load(model, device=options.device, share_prefix=share).score(traces) for p in score.mean]
        for share in ("never", "always")
    )
    return max(abs(a - b) for a, b in zip(alone, shared, strict=True))
