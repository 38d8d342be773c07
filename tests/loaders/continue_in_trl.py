"""Scores and trains a token classifier with TRL, for tests/unit/prm/portable/test_classifiers.py.

    python continue_in_trl.py FOLDER ROWS

in an environment with TRL. ROWS is a JSON Lines file of `prompt`, `completions` and `labels`. The last line of the
output has p(right) of each step, and the steps that the optimizer took.
"""

import json
import sys
from tempfile import TemporaryDirectory

import torch
from datasets import load_dataset
from transformers import AutoModelForTokenClassification, AutoTokenizer
from trl.experimental.prm import PRMConfig, PRMTrainer


def main(folder: str, rows: str) -> None:
    data = load_dataset("json", data_files=rows, split="train")
    with TemporaryDirectory() as out:
        trainer = PRMTrainer(
            AutoModelForTokenClassification.from_pretrained(folder),
            PRMConfig(
                output_dir=out,
                max_steps=1,
                per_device_train_batch_size=2,
                per_device_eval_batch_size=1,
                step_separator="<step>",
                max_length=None,
                report_to="none",
                use_cpu=True,
                save_strategy="no",
                bf16=False,
            ),
            train_dataset=data,
            eval_dataset=data,
            processing_class=AutoTokenizer.from_pretrained(folder),
        )
        predicted = trainer.predict(trainer.eval_dataset)
        scores = [
            torch.tensor(logits[labels != -100]).double().softmax(1)[:, 1].tolist()
            for logits, labels in zip(predicted.predictions, predicted.label_ids, strict=True)
        ]
        trainer.train()
    sys.stdout.write(json.dumps({"scores": scores, "steps": trainer.state.global_step}) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
