"""Measures when sharing a problem's computation among its solutions pays: `python -m benchmarks.prefix_sharing`.

Random token ids and a random Qwen2 with six layers of width 256, on one core: seconds of processor time for N solutions
of one problem, once with the problem computed for each of them and once shared, the better of two runs each.
"""

import argparse
import random
import time

import torch
from transformers import Qwen2Config, Qwen2ForCausalLM

from prm.backbones import Backbone, load_backbone, wrap_backbone
from prm.config import Feature
from prm.encoding import Encoded
from prm.scoring.prefixes import ShareChoice
from prm.scoring.readers import LocalReader

VOCABULARY, STEP, OWN = 4096, 20, 160
FEATURES: tuple[Feature, ...] = ("last", "separator")
CHOICES: tuple[ShareChoice, ...] = ("never", "always")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, nargs="+", default=[8, 32, 64], help="solutions of a problem")
    parser.add_argument("--problem", type=int, nargs="+", default=[40, 64, 100, 160, 400], help="its tokens")
    options = parser.parse_args()
    torch.set_num_threads(1)
    backbone, rng = _backbone(), random.Random(0)
    print("| N | problem, tokens | tokens saved | apart, s | shared, s | times as fast |")
    print("|---|---|---|---|---|---|")
    for n in options.n:
        for length in options.problem:
            pool = _pool(length, n, rng)
            apart, shared = _seconds(backbone, pool)
            saved = (n - 1) * length / sum(len(item.ids) for item in pool)
            print(f"| {n} | {length} | {saved:.0%} | {apart:.2f} | {shared:.2f} | {apart / shared:.2f} |", flush=True)


def _backbone() -> Backbone:
    torch.manual_seed(0)
    config = Qwen2Config(
        vocab_size=VOCABULARY,
        hidden_size=256,
        intermediate_size=1024,
        num_hidden_layers=6,
        num_attention_heads=8,
        num_key_value_heads=2,
        max_position_embeddings=4096,
    )
    return wrap_backbone("random", Qwen2ForCausalLM(config), load_backbone("tiny", device="cpu").tokenizer)


def _pool(problem: int, n: int, rng: random.Random) -> list[Encoded]:
    """Solutions of half to one and a half times OWN tokens, in steps of STEP, after the same problem."""
    start = rng.choices(range(VOCABULARY), k=problem)
    pool = []
    for _ in range(n):
        end = problem + round(OWN * rng.uniform(0.5, 1.5))
        spans = tuple((at, min(end, at + STEP)) for at in range(problem, end, STEP))
        pool.append(Encoded((*start, *rng.choices(range(VOCABULARY), k=end - problem)), spans, len(spans)))
    return pool


def _seconds(backbone: Backbone, pool: list[Encoded]) -> list[float]:
    """The seconds of each way."""
    taken: dict[ShareChoice, list[float]] = {share: [] for share in CHOICES}
    for _ in range(2):
        for share in CHOICES:
            started = time.process_time()
            list(LocalReader(backbone, FEATURES, 8192, share).read(pool))
            taken[share].append(time.process_time() - started)
    return [min(taken[share]) for share in CHOICES]


if __name__ == "__main__":
    main()
