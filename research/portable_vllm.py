"""How near vLLM comes to the library's own scores, and how fast it is (research/portable-heads.md).

    python -m research.portable_vllm --model DIR --data FILE [--dtype float32] [--batch 4096] [--solutions 100]

Run it in an environment with vLLM and this library (tests/loaders/vllm.txt). It exports the model, scores the same
solutions with both on this machine, and prints one row of the table.
"""

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

REPEATS = 3


def measured(run: Callable[[], Any]) -> tuple[Any, float]:
    """The result, and the least CPU seconds of a few repeats."""
    seconds = []
    for _ in range(REPEATS):
        started = time.process_time()
        result = run()
        seconds.append(time.process_time() - started)
    return result, min(seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--batch", type=int, default=4096, help="the most tokens in one pass of vLLM")
    parser.add_argument("--solutions", type=int, default=100)
    options = parser.parse_args()
    os.environ |= {"VLLM_ENABLE_V1_MULTIPROCESSING": "0", "VLLM_CPU_KVCACHE_SPACE": "1"}  # CPU time of one process

    import numpy as np
    from vllm import LLM

    from prm import Scorer, export_folder, read_traces
    from prm.encoding import encode
    from prm.portable.marking import Marks
    from prm.portable.vllm_plugin import ARCHITECTURE

    scorer = Scorer.load(options.model, device="cpu")
    traces = list(islice(read_traces(options.data), options.solutions))
    backbone = scorer.backbone
    items = [item for item in encode(traces, backbone.tokenizer, backbone.layout, backbone.context) if item.spans]
    marks = Marks.of(backbone.layout, backbone.tokenizer.all_special_ids)
    texts = [{"prompt_token_ids": marks.mark(item)} for item in items]
    with tempfile.TemporaryDirectory() as exported:
        export_folder(options.model, exported)
        llm = LLM(
            exported,
            runner="pooling",
            dtype=options.dtype,
            enforce_eager=True,
            max_num_batched_tokens=options.batch,
            max_num_seqs=64,
            hf_overrides={"architectures": [ARCHITECTURE]},
        )
    answers, theirs = measured(lambda: llm.encode(texts, pooling_task="token_classify", use_tqdm=False))
    scores, ours = measured(lambda: list(scorer.score(traces)))
    found = np.concatenate([answer.outputs.data[:, 1].numpy() for answer in answers])
    own = np.array([p for score in scores for p in score.mean if p is not None])
    difference = np.abs(found - own)
    tokens = sum(len(item.ids) for item in items)
    print(
        "| model | type | tokens in a pass | steps | largest difference | mean | tokens per CPU second: vLLM, library |"
    )
    print(
        f"| {options.model.name} | {options.dtype} | {options.batch} | {len(own)} | {difference.max():.1e} | "
        f"{difference.mean():.1e} | {tokens / theirs:.0f}, {tokens / ours:.0f} |"
    )


if __name__ == "__main__":
    main()
