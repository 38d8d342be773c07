"""Trains the tiny causal backbone: a tokenizer and a small Llama, on unlabelled corpus traces only.

    python -m prm.sandbox.pretrain --out prm/tiny

The corpus contains errors, and its source groups are in no split, so the backbone learns nothing from labelled
problems.
"""

import argparse
import hashlib
import json
import math
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

import torch
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from prm.encoding import render_step
from prm.sandbox.world import WORLD_VERSION, WorldConfig, corpus
from prm.traces import Step

SPECIALS = ("<pad>", "<bos>", "<eos>", "<problem>", "<step>")
CONTEXT = 2048
TOKENS_A_BATCH = 2048
FRESH_SEED = 1


READ_AS = {"×": "*", "∗": "*", "⋅": "*", "·": "*", "÷": "/", "∕": "/", "−": "-", "＋": "+"}


def train_tokenizer(texts: Iterator[str], vocab: int) -> PreTrainedTokenizerFast:
    """A byte-level BPE with one token per digit; it can encode any text.

    It reads signs that the world does not have as those that it has.
    """
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.Sequence([normalizers.Replace(*pair) for pair in READ_AS.items()])
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocab, special_tokens=list(SPECIALS), initial_alphabet=pre_tokenizers.ByteLevel.alphabet()
    )
    tokenizer.train_from_iterator(texts, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="<pad>",
        bos_token="<bos>",
        eos_token="<eos>",
        extra_special_tokens=["<problem>", "<step>"],
        model_max_length=CONTEXT,
        clean_up_tokenization_spaces=False,
    )


def encode(tokenizer: PreTrainedTokenizerFast, problem: str, steps: list[Step]) -> list[int]:
    """Token ids of a solution in the format of `prm.encoding`, followed by the end of text."""
    bos, eos, problem_end, step_end = (tokenizer.convert_tokens_to_ids(token) for token in SPECIALS[1:])
    pieces = tokenizer([problem, *(render_step(step) for step in steps)], add_special_tokens=False)["input_ids"]
    ids = [bos, *pieces[0], problem_end]
    for piece in pieces[1:]:
        ids += [*piece, step_end]
    return [*ids, eos]


def batches(documents: list[list[int]], rng: Random) -> Iterator[torch.Tensor]:
    """The batches of one epoch: documents of similar length, padded on the right with id 0, [documents, tokens]."""
    order = sorted(range(len(documents)), key=lambda i: len(documents[i]) + 8 * rng.random())
    groups: list[list[int]] = [[]]
    for i in order:
        if (len(groups[-1]) + 1) * len(documents[i]) > TOKENS_A_BATCH:
            groups.append([])
        groups[-1].append(i)
    rng.shuffle(groups)
    for group in groups:
        rows = [torch.tensor(documents[i]) for i in group]
        yield torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=0)


def endless(documents: list[list[int]], rng: Random) -> Iterator[torch.Tensor]:
    """Batches of one epoch after another."""
    while True:
        yield from batches(documents, rng)


def token_loss(model: LlamaForCausalLM, ids: torch.Tensor) -> torch.Tensor:
    """Mean cross-entropy in nats of the next tokens of a padded batch [documents, tokens]."""
    with torch.autocast("cpu", torch.bfloat16, enabled=model.training):
        logits = model(input_ids=ids, use_cache=False).logits[:, :-1]
    return torch.nn.functional.cross_entropy(logits.flatten(0, 1).float(), ids[:, 1:].flatten(), ignore_index=0)


def make_optimizers(model: LlamaForCausalLM, rate: float) -> list[torch.optim.Optimizer]:
    """Muon for the layers' matrices, since it needs fewer tokens, and AdamW for embeddings and norms."""
    matrices = [p for p in model.model.layers.parameters() if p.ndim == 2]
    rest = [p for p in model.parameters() if not any(p is matrix for matrix in matrices)]
    return [
        torch.optim.Muon(matrices, lr=rate, weight_decay=0.05, adjust_lr_fn="match_rms_adamw"),
        torch.optim.AdamW(rest, lr=rate, betas=(0.9, 0.98), weight_decay=0.0, fused=True),
    ]


def perplexity(model: LlamaForCausalLM, documents: list[list[int]]) -> float:
    """Perplexity per token over documents of token ids."""
    total, count = 0.0, 0
    with torch.no_grad():
        for ids in batches(documents, Random(0)):
            tokens = int((ids[:, 1:] != 0).sum())
            total, count = total + float(token_loss(model, ids)) * tokens, count + tokens
    return math.exp(total / count)


def pretrain(*, out: Path, steps: int, solutions: int, seed: int = 0, vocab: int = 1024, rate: float = 3e-3) -> dict:
    """Train tokenizer and model and write them to `out` as a Hugging Face folder; returns the manifest."""
    torch.manual_seed(seed)
    torch.set_num_threads(1)  # more threads help such a small model little, and are very slow on a busy machine
    world = WorldConfig()
    traces = list(corpus(world, n=solutions, seed=0))
    tokenizer = train_tokenizer((text for p, s in traces[:5_000] for text in (p, *map(render_step, s))), vocab)
    documents = [encode(tokenizer, problem, steps) for problem, steps in traces]
    fresh = [encode(tokenizer, problem, steps) for problem, steps in corpus(world, n=500, seed=FRESH_SEED)]
    model = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(tokenizer), hidden_size=160, intermediate_size=448, num_hidden_layers=5,
            num_attention_heads=5, num_key_value_heads=5, max_position_embeddings=CONTEXT, tie_word_embeddings=True,
            pad_token_id=0, bos_token_id=1, eos_token_id=2,
        )
    )  # fmt: skip
    optimizers = make_optimizers(model, rate)
    warm = max(1, steps // 20)
    rng, average, began = Random(seed), 0.0, time.monotonic()
    stream = endless(documents, rng)
    for step in range(steps):
        loss = token_loss(model, next(stream))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        share = min((step + 1) / warm, 0.02 + 0.98 * (1 + math.cos(math.pi * step / steps)) / 2)
        for optimizer in optimizers:
            optimizer.param_groups[0]["lr"] = rate * share
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        average = loss.item() if step == 0 else 0.98 * average + 0.02 * loss.item()
        if step % 50 == 0 or step == steps - 1:
            seconds = round(time.monotonic() - began, 1)
            print(json.dumps({"step": step, "of": steps, "loss": round(average, 4), "seconds": seconds}), flush=True)
    save(model, tokenizer, out)
    reached = perplexity(LlamaForCausalLM.from_pretrained(out).eval(), fresh)
    files = [p for p in sorted(out.iterdir()) if p.name != "manifest.json"]
    manifest = {
        "format_version": 1,
        "world_version": WORLD_VERSION,
        "seed": seed,
        "corpus": {"solutions": len(documents), "tokens": sum(map(len, documents)), "seed": 0},
        "training": {"steps": steps, "tokens_a_batch": TOKENS_A_BATCH, "rate": rate, "loss": round(average, 4)},
        "parameters": sum(p.numel() for p in model.parameters()),
        "perplexity": {"fresh_seed": FRESH_SEED, "reached": round(reached, 4), "bound": round(reached * 1.02, 4)},
        "sha256": {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in files},
    }
    (out / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n")
    return manifest


def save(model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast, out: Path) -> None:
    """Write the folder with weights in half precision, to be loaded in single precision."""
    model.half().save_pretrained(out)
    tokenizer.save_pretrained(out)
    config = json.loads((out / "config.json").read_text())
    (out / "config.json").write_text(json.dumps(config | {"dtype": "float32"}, indent=2) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=4_500)
    parser.add_argument("--solutions", type=int, default=80_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    print(json.dumps(pretrain(out=options.out, steps=options.steps, solutions=options.solutions, seed=options.seed)))


if __name__ == "__main__":
    main()
