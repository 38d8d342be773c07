"""Trains the tiny causal backbone: a tokenizer and a small Llama, on unlabelled corpus traces only.

    python -m prm.sandbox.pretrain --out var/alone
    python -m prm.sandbox.pretrain --begin var/alone --out prm/tiny

The first command trains on single solutions. The second continues on texts of which half the solutions follow one
another in chains, as long-context training does, so that the backbone can read several problems in one text. Half of
these texts are in other words (`prm.sandbox.wordings`). The corpus contains errors, and its source groups are in no
split, so the backbone learns nothing from labelled problems.
"""

import argparse
import hashlib
import json
import math
import shutil
import time
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from random import Random
from string import ascii_lowercase

import msgspec
import torch
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from prm.encoding import render_step
from prm.sandbox.wordings import Piece, reword
from prm.sandbox.world import WORLD_VERSION, WorldConfig, corpus
from prm.traces import Step

SPECIALS = ("<pad>", "<bos>", "<eos>", "<problem>", "<step>")
PAD = 0  # the id of "<pad>"; as a target, it is not learned
CONTEXT = 2048
TOKENS_A_BATCH = 2048
FRESH_SEED = 1
CHAIN_SEED = 2
REWORDED = 0.5  # of the texts of the second command
PARTS = (2, 3, 4, 6, 8, 12)  # solutions in a chain; the last chain can have fewer
Document = tuple[list[int], list[int]]  # the token ids of a text, and each token as a target
# What a chain says at its beginning, before each problem, and before the first step of each solution. The long audit
# says something else, so that it measures text that the backbone has not read.
FRAMES = (
    ("", "", ""),
    ("", "{n}) ", "{n}) "),
    ("", "({letter}) ", "({letter}) "),
    ("Answer every question.\n\n", "Question {n}: ", "Question {n}: "),
    ("Tasks:\n\n", "- ", ""),
    ("", "Exercise {n}. ", "Exercise {n}: "),
)

READ_AS = {"×": "*", "∗": "*", "⋅": "*", "·": "*", "÷": "/", "∕": "/", "−": "-", "＋": "+"}
# Markdown that is not read: the marks around bold text, and the mark of a list item at the beginning of a step. Marks
# around text have none on their outer side, so powers stay: "2 ** 3", "x**n", "f**(2)", "(a + b)** 2".
BOLD_END = r"(?<=[^\s*])\*\*(?![\w(\[{*$\\-])(?!(?<=[\d)\]}]\*\*)\s*\d)"
NOT_READ = (
    rf"(?<![\w)\]}}*$])\*\*(?=[^\W_]|[$\\(])(?=[^\n*]*{BOLD_END})",
    BOLD_END,
    r"(?<=\A|\A\[answer\] )[-*•] +(?=[^\W\d_])",
)


def train_tokenizer(texts: Iterator[str], vocab: int) -> PreTrainedTokenizerFast:
    """A byte-level BPE with one token per digit; it can encode any text.

    It reads signs that the world does not have as those that it has, and leaves out Markdown's marks.
    """
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Replace(*pair) for pair in READ_AS.items()]
        + [normalizers.Replace(Regex(marks), "") for marks in NOT_READ]
    )
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


def as_pieces(steps: Iterable[Step]) -> list[list[Piece]]:
    """The steps as they are; the backbone learns all of their text."""
    return [[(render_step(step), True)] for step in steps]


def encode(tokenizer: PreTrainedTokenizerFast, problem: str, steps: list[list[Piece]]) -> Document:
    """A solution in the format of `prm.encoding`, followed by the end of text, with at most CONTEXT tokens."""
    bos, eos, problem_end, step_end = (tokenizer.convert_tokens_to_ids(token) for token in SPECIALS[1:])
    texts = [problem, *(text for step in steps for text, _ in step)]
    first, *rest = tokenizer(texts, add_special_tokens=False)["input_ids"]
    encoded = iter(rest)
    ids = [bos, *first, problem_end]
    targets = list(ids)
    for step in steps:
        for _, learned in step:
            piece = next(encoded)
            ids += piece
            targets += piece if learned else [PAD] * len(piece)
        ids.append(step_end)
        targets.append(step_end)
    return [*ids, eos][:CONTEXT], [*targets, eos][:CONTEXT]


def join_solutions(solutions: Iterable[tuple[str, list[Step]]], rng: Random) -> Iterator[tuple[str, list[Step]]]:
    """Chains of successive solutions: all problems as one, then the steps of each solution."""
    rest = iter(solutions)
    while parts := list(islice(rest, rng.choice(PARTS))):
        opening, before_problem, before_step = rng.choice(FRAMES)
        problems: list[str] = []
        steps: list[Step] = []
        for n, (problem, (first, *others)) in enumerate(parts, start=1):
            place = {"n": n, "letter": ascii_lowercase[n - 1]}
            problems.append(before_problem.format(**place) + problem)
            steps += [msgspec.structs.replace(first, text=before_step.format(**place) + first.text), *others]
        yield opening + "\n\n".join(problems), steps


def batches(documents: list[Document], rng: Random) -> Iterator[torch.Tensor]:
    """The batches of one epoch, [ids and targets, documents, tokens]: similar lengths, padded on the right."""
    order = sorted(range(len(documents)), key=lambda i: len(documents[i][0]) + 8 * rng.random())
    groups: list[list[int]] = [[]]
    for i in order:
        if (len(groups[-1]) + 1) * len(documents[i][0]) > TOKENS_A_BATCH:
            groups.append([])
        groups[-1].append(i)
    rng.shuffle(groups)
    for group in groups:
        rows = [torch.tensor(documents[i]).T for i in group]
        yield torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=PAD).permute(2, 0, 1)


def endless(documents: list[Document], rng: Random) -> Iterator[torch.Tensor]:
    """Batches of one epoch after another."""
    while True:
        yield from batches(documents, rng)


def token_loss(model: LlamaForCausalLM, batch: torch.Tensor) -> torch.Tensor:
    """Mean cross-entropy in nats of the learned next tokens of a batch [ids and targets, documents, tokens]."""
    ids, targets = batch
    with torch.autocast("cpu", torch.bfloat16, enabled=model.training):
        logits = model(input_ids=ids, use_cache=False).logits[:, :-1]
    return torch.nn.functional.cross_entropy(logits.flatten(0, 1).float(), targets[:, 1:].flatten(), ignore_index=PAD)


def make_optimizers(model: LlamaForCausalLM, rate: float) -> list[torch.optim.Optimizer]:
    """Muon for the layers' matrices, since it needs fewer tokens, and AdamW for embeddings and norms."""
    matrices = [p for p in model.model.layers.parameters() if p.ndim == 2]
    rest = [p for p in model.parameters() if not any(p is matrix for matrix in matrices)]
    return [
        torch.optim.Muon(matrices, lr=rate, weight_decay=0.05, adjust_lr_fn="match_rms_adamw"),
        torch.optim.AdamW(rest, lr=rate, betas=(0.9, 0.98), weight_decay=0.0, fused=True),
    ]


def perplexity(model: LlamaForCausalLM, documents: list[Document]) -> float:
    """Perplexity per learned token."""
    total, count = 0.0, 0
    with torch.no_grad():
        for batch in batches(documents, Random(0)):
            tokens = int((batch[1, :, 1:] != PAD).sum())
            total, count = total + float(token_loss(model, batch)) * tokens, count + tokens
    return math.exp(total / count)


def fit(model: LlamaForCausalLM, documents: list[Document], *, steps: int, rate: float, rng: Random) -> float:
    """Train for `steps` batches, warming up to `rate` and down to a fiftieth; returns the running mean of the loss."""
    optimizers = make_optimizers(model, rate)
    warm = max(1, steps // 20)
    average, began = 0.0, time.monotonic()
    stream = endless(documents, rng)
    model.train()
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
    return average


def pretrain(*, out: Path, steps: int, solutions: int, seed: int = 0, vocab: int = 1024, rate: float = 3e-3) -> dict:
    """Train tokenizer and model and write them to `out` as a Hugging Face folder; returns the manifest."""
    torch.manual_seed(seed)
    torch.set_num_threads(1)  # more threads help such a small model little, and are very slow on a busy machine
    traces = list(corpus(WorldConfig(), n=solutions, seed=0))
    tokenizer = train_tokenizer((text for p, s in traces[:5_000] for text in (p, *map(render_step, s))), vocab)
    documents = [encode(tokenizer, problem, as_pieces(steps)) for problem, steps in traces]
    model = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(tokenizer), hidden_size=160, intermediate_size=448, num_hidden_layers=5,
            num_attention_heads=5, num_key_value_heads=5, max_position_embeddings=CONTEXT, tie_word_embeddings=True,
            pad_token_id=0, bos_token_id=1, eos_token_id=2,
        )
    )  # fmt: skip
    loss = fit(model, documents, steps=steps, rate=rate, rng=Random(seed))
    save(model, tokenizer, out)
    training = {
        "seed": seed,
        "corpus": {"solutions": len(documents), "tokens": count_tokens(documents), "seed": 0},
        "training": {"steps": steps, "tokens_a_batch": TOKENS_A_BATCH, "rate": rate, "loss": round(loss, 4)},
    }
    return write_manifest(out, training)


def continue_on_texts(
    begin: Path, *, out: Path, steps: int, solutions: int, seed: int = 0, rate: float = 1.5e-3
) -> dict:
    """Continue a model of `pretrain` on single solutions and as many in chains; returns the manifest."""
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    tokenizer = PreTrainedTokenizerFast.from_pretrained(begin)
    model = LlamaForCausalLM.from_pretrained(begin)
    traces = list(corpus(WorldConfig(), n=solutions, seed=CHAIN_SEED))
    alone, joined = traces[: solutions // 2], traces[solutions // 2 :]
    texts = [*alone, *join_solutions(joined, Random(seed))]
    rng = Random(seed)
    documents = [
        encode(tokenizer, problem, reword(steps, rng) if rng.random() < REWORDED else as_pieces(steps))
        for problem, steps in texts
    ]
    shutil.copytree(begin, out, dirs_exist_ok=True)
    loss = fit(model, documents, steps=steps, rate=rate, rng=Random(seed))
    save_model(model, out)
    continued = {
        "solutions": len(traces), "tokens": count_tokens(documents), "seed": CHAIN_SEED, "reworded": REWORDED,
        "steps": steps, "rate": rate, "loss": round(loss, 4),
    }  # fmt: skip
    before = json.loads((begin / "manifest.json").read_text())
    return write_manifest(
        out, {name: before[name] for name in ("seed", "corpus", "training")} | {"continued": continued}
    )


def count_tokens(documents: list[Document]) -> int:
    return sum(len(ids) for ids, _ in documents)


def fresh_documents(tokenizer: PreTrainedTokenizerFast) -> dict[str, list[Document]]:
    """Fresh solutions, alone, in chains, and in other words."""
    fresh = list(corpus(WorldConfig(), n=500, seed=FRESH_SEED))
    rng = Random(FRESH_SEED)
    texts = {
        "alone": [(problem, as_pieces(steps)) for problem, steps in fresh],
        "in chains": [(problem, as_pieces(steps)) for problem, steps in join_solutions(fresh, rng)],
        "in other words": [(problem, reword(steps, rng)) for problem, steps in fresh],
    }
    return {name: [encode(tokenizer, *text) for text in some] for name, some in texts.items()}


def write_manifest(out: Path, training: dict[str, object]) -> dict:
    """Measure the saved model and write its manifest."""
    model = LlamaForCausalLM.from_pretrained(out).eval()
    tokenizer = PreTrainedTokenizerFast.from_pretrained(out)
    reached = {name: perplexity(model, documents) for name, documents in fresh_documents(tokenizer).items()}
    files = [p for p in sorted(out.iterdir()) if p.name != "manifest.json"]
    manifest = {
        "format_version": 1,
        "world_version": WORLD_VERSION,
        **training,
        "parameters": sum(p.numel() for p in model.parameters()),
        "perplexity": {
            name: {"reached": round(value, 4), "bound": round(value * 1.02, 4)} for name, value in reached.items()
        },
        "sha256": {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in files},
    }
    (out / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n")
    return manifest


def save(model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast, out: Path) -> None:
    """Write the folder with weights in half precision, to be loaded in single precision."""
    tokenizer.save_pretrained(out)
    save_model(model, out)


def save_model(model: LlamaForCausalLM, out: Path) -> None:
    """Write the model alone, as `save` does."""
    model.half().save_pretrained(out)
    config = json.loads((out / "config.json").read_text())
    (out / "config.json").write_text(json.dumps(config | {"dtype": "float32"}, indent=2) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--begin", type=Path, help="a model of this command, to continue on chains and other words")
    parser.add_argument("--steps", type=int, help="batches; 4,500, and 3,000 with --begin")
    parser.add_argument("--solutions", type=int, help="of the corpus; 80,000, and 40,000 with --begin")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    steps, solutions = (3_000, 40_000) if options.begin else (4_500, 80_000)
    amounts = {"steps": options.steps or steps, "solutions": options.solutions or solutions, "seed": options.seed}
    run = partial(continue_on_texts, options.begin) if options.begin else pretrain
    print(json.dumps(run(out=options.out, **amounts)))


if __name__ == "__main__":
    main()
