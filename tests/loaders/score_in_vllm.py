"""Scores token ids with vLLM itself, for tests/unit/prm/portable/test_in_vllm.py.

    python score_in_vllm.py JOBS

JOBS is a JSON file: a list of objects with `folder`, `texts` (lists of token ids), and `architecture` or null. The last
line of the output has the rows of each text of each job, and its settings.
"""

import json
import sys
from pathlib import Path

from vllm import LLM
from vllm.config import PoolerConfig
from vllm.distributed import cleanup_dist_env_and_memory

from prm.portable.vllm_plugin import register

SPLIT = 48  # tokens in one pass, so that most texts are split and batches mix several


def main() -> None:
    register()
    answers = [answer(job) for job in json.loads(Path(sys.argv[1]).read_text())]
    sys.stdout.write(json.dumps(answers) + "\n")


def answer(job: dict) -> dict:
    llm = LLM(
        job["folder"],
        runner="pooling",
        dtype="float32",
        enforce_eager=True,  # compiling takes a minute
        max_num_batched_tokens=SPLIT,
        max_num_seqs=8,
        pooler_config=PoolerConfig(pooling_type="ALL"),
        hf_overrides={"architectures": [job["architecture"]]} if job["architecture"] else {},
    )
    config = llm.llm_engine.vllm_config
    texts = [{"prompt_token_ids": ids} for ids in job["texts"]]
    outputs = llm.encode(texts, pooling_task="token_classify", use_tqdm=False)
    result = {
        "rows": [output.outputs.data.tolist() for output in outputs],
        "chunked": config.scheduler_config.enable_chunked_prefill,
        "prefixes": config.cache_config.enable_prefix_caching,
    }
    del llm
    cleanup_dist_env_and_memory()
    return result


if __name__ == "__main__":
    main()
