"""Opens exports with the tools that they are for: `open_exports.py FOLDER`, in an environment with TRL and OpenRLHF.

Each trainer takes one step on a tiny model with random weights. Prints what the tools made of the files, as JSON.
"""

import json
import sys
from argparse import Namespace
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from datasets import Dataset, load_dataset
from openrlhf.datasets.process_reward_dataset import ProcessRewardDataset
from tokenizers import Regex, Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Split
from transformers import LlamaConfig, LlamaForCausalLM, LlamaForTokenClassification, PreTrainedTokenizerFast
from trl import DPOConfig, DPOTrainer, SFTConfig, SFTTrainer
from trl.experimental.prm import PRMConfig, PRMTrainer

TEMPLATE = "{% for message in messages %}{{ message['role'] }} {{ message['content'] }} </s>{% endfor %}"
SPECIAL = ["<unk>", "</s>", "user", "assistant", "ки", "+", "-", "\n", " "]


def main(folder: Path) -> None:
    tokenizer = make_tokenizer(path.read_text() for path in folder.glob("*.jsonl"))
    model = {"vocab_size": len(tokenizer), "hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1,
             "num_attention_heads": 2, "num_key_value_heads": 2, "pad_token_id": tokenizer.pad_token_id}  # fmt: skip
    once = {"output_dir": str(folder / "out"), "max_steps": 1, "per_device_train_batch_size": 2, "report_to": "none",
            "use_cpu": True, "save_strategy": "no", "bf16": False}  # fmt: skip

    def trained(trainer: Any) -> dict[str, Any]:
        trainer.train()
        return {"rows": len(trainer.train_dataset), "steps": trainer.state.global_step}

    def stepwise(rows: Dataset) -> dict[str, Any]:
        classifier = LlamaForTokenClassification(LlamaConfig(**model, num_labels=2))
        return trained(PRMTrainer(classifier, PRMConfig(**once), train_dataset=rows, processing_class=tokenizer))

    causal = str(folder / "model")
    LlamaForCausalLM(LlamaConfig(**model)).save_pretrained(causal)
    opened = {
        "trl": stepwise(load_dataset("json", data_files=str(folder / "trl.jsonl"), split="train")),
        "trl_parquet": stepwise(load_dataset("parquet", data_files=str(folder / "trl_parquet.parquet"), split="train")),
        "preference": trained(
            DPOTrainer(
                causal,
                args=DPOConfig(**once),
                train_dataset=load_dataset("json", data_files=str(folder / "preference.jsonl"), split="train"),
                processing_class=tokenizer,
            )
        ),
        "sft": trained(
            SFTTrainer(
                causal,
                args=SFTConfig(**once),
                train_dataset=load_dataset("json", data_files=str(folder / "sft.jsonl"), split="train"),
                processing_class=tokenizer,
            )
        ),
        "openrlhf": process_rewards(folder / "openrlhf.jsonl", tokenizer),
    }
    sys.stdout.write(json.dumps(opened) + "\n")


def process_rewards(path: Path, tokenizer: PreTrainedTokenizerFast) -> list[str]:
    """The labels at the tags of each row, as OpenRLHF's data set gives them to its trainer."""
    keys = Namespace(input_key="input", label_key="value", placeholder_token="ки", reward_tokens=["+", "-"])
    rows = load_dataset("json", data_files=str(path), split="train")
    data = ProcessRewardDataset(rows, tokenizer, 512, Namespace(args=keys))
    data.collate_fn([data[number] for number in range(len(data))])
    return [tokenizer.decode([token for token in labels[0].tolist() if token >= 0]) for _, _, labels in data]


def make_tokenizer(texts: Iterable[str]) -> PreTrainedTokenizerFast:
    """A tokenizer of whole words."""
    words = dict.fromkeys([*SPECIAL, *(word for text in texts for word in text.replace("\\n", " ").split())])
    tokenizer = Tokenizer(WordLevel({word: number for number, word in enumerate(words)}, unk_token="<unk>"))
    tokenizer.pre_tokenizer = Split(Regex(r"\s+"), "removed")
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, unk_token="<unk>", eos_token="</s>", pad_token="</s>", chat_template=TEMPLATE
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
