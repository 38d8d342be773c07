"""The input of both sides: backbones with random weights, and solutions with realistic lengths."""

import json
import random
from collections.abc import Iterator, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any

import msgspec
import torch
from transformers import AutoTokenizer, Qwen2Config, Qwen2ForCausalLM
from transformers.utils import logging

from prm.backbones import TINY
from prm.encoding import tokenise
from prm.sandbox import WorldConfig, generate
from prm.traces import Step, StepLabel, Trace

GOOD, BAD = StepLabel(1, 0, 0), StepLabel(0, 0, 1)
MEDIAN_STEPS, SPREAD = 8, 0.7  # of the log-normal number of steps: mean 10, one in a hundred above 40
LONGEST = 2000  # tokens of a solution, within the context of every backbone here

SHAPES: dict[str, dict[str, Any]] = {
    "small": {
        "hidden_size": 256,
        "num_hidden_layers": 4,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "intermediate_size": 1024,
        "vocab_size": 1024,
    },
    "0.5b": {  # Qwen2.5-0.5B
        "hidden_size": 896,
        "num_hidden_layers": 24,
        "num_attention_heads": 14,
        "num_key_value_heads": 2,
        "intermediate_size": 4864,
        "vocab_size": 151_936,
    },
    "1.5b": {  # Qwen2.5-1.5B
        "hidden_size": 1536,
        "num_hidden_layers": 28,
        "num_attention_heads": 12,
        "num_key_value_heads": 2,
        "intermediate_size": 8960,
        "vocab_size": 151_936,
    },
}


def make_backbone(shape: str, folder: Path, device: str) -> Path:
    """Create a Qwen2 with random weights and the tokenizer of `tiny`, or use `tiny` itself; returns its folder.

    The weights are bfloat16 for CUDA, as those of Qwen2.5, else float32.
    """
    if shape == "tiny":
        return TINY
    logging.disable_progress_bar()
    torch.manual_seed(0)
    config = Qwen2Config(max_position_embeddings=4096, tie_word_embeddings=True, **SHAPES[shape])
    dtype = torch.bfloat16 if device == "cuda" else torch.float32
    Qwen2ForCausalLM(config).to(dtype).save_pretrained(folder / shape)
    AutoTokenizer.from_pretrained(TINY).save_pretrained(folder / shape)
    return folder / shape


def solutions(count: int, *, seed: int, processbench: Path | None = None) -> list[Trace]:
    """Solutions with a label at every step, from the sandbox's sentences or ProcessBench's files.

    The sandbox's solutions are short and of similar length, so its steps are combined: two sentences a step, and a
    log-normal number of steps. Those of ProcessBench are a random sample of `count`, unchanged.
    """
    rng = random.Random(seed)
    found = _real(processbench, rng) if processbench else _dealt(rng, seed)
    kept = []
    while len(kept) < count:
        trace = next(found)
        if sum(text_lengths([trace])) <= LONGEST:
            kept.append(trace)
    return kept


def for_checking(seed: int) -> list[Trace]:
    """Short solutions of the calibration split, so that a run can train on all others."""
    chosen = [trace for trace in generate(WorldConfig(), split="calibration", n=200, seed=seed) if len(trace.steps) < 6]
    return [trace for error in (True, False) for trace in chosen if (trace.first_error != -1) == error][:40]


def text_lengths(traces: Sequence[Trace]) -> list[int]:
    """Useful tokens of each trace: those of its problem and steps, without separators."""
    tokenizer = AutoTokenizer.from_pretrained(TINY)
    return [sum(map(len, pieces)) for pieces in tokenise(traces, tokenizer)]


def write_rows(path: Path, traces: Sequence[Trace]) -> Path:
    """Write the solutions in TRL's stepwise format."""
    rows = (
        {
            "prompt": trace.problem,
            "completions": [step.text for step in trace.steps],
            "labels": [label is not None and label.rating > 0 for label in trace.labels or []],
        }
        for trace in traces
    )
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def pool(problems: int, samples: int, *, problem_tokens: int, seed: int) -> list[Trace]:
    """A best-of-N pool: `samples` solutions of each problem, whose text has about `problem_tokens` tokens."""
    found = []
    for number, first in enumerate(solutions(problems, seed=seed)):
        sentences = cycle(trace.problem for trace in generate(WorldConfig(), split="pool", n=50, seed=seed + number))
        problem = first.problem
        while sum(text_lengths([Trace("", problem, [])])) < problem_tokens:
            problem += "\n" + next(sentences)
        for sample in solutions(samples, seed=1000 * seed + number):
            found.append(msgspec.structs.replace(sample, id=f"{number}.{sample.id}", problem=problem))
    return found


def _dealt(rng: random.Random, seed: int) -> Iterator[Trace]:
    traces = list(generate(WorldConfig(), split="pool", n=400, seed=seed))
    sentences = cycle(step.text for trace in traces for step in trace.steps)
    for number, trace in enumerate(cycle(traces)):
        count = max(1, round(rng.lognormvariate(0, SPREAD) * MEDIAN_STEPS))
        steps = [Step(f"{next(sentences)} {next(sentences)}") for _ in range(count)]
        labels: list[StepLabel | None] = [BAD if rng.random() < 0.15 else GOOD for _ in steps]
        yield Trace(str(number), trace.problem, steps, source_group=str(number), labels=labels)


def _real(folder: Path, rng: random.Random) -> Iterator[Trace]:
    records = [record for name in ("gsm8k", "math") for record in json.loads((folder / f"{name}.json").read_text())]
    rng.shuffle(records)
    for number, record in enumerate(records):
        steps = [Step(text) for text in record["steps"]]
        labels: list[StepLabel | None] = [BAD if k == record["label"] else GOOD for k in range(len(steps))]
        yield Trace(str(number), record["problem"], steps, source_group=str(number), labels=labels)
