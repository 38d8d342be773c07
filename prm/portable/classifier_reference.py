"""Scores of an exported token classifier with plain torch and transformers: the code in its folder's README."""

import json
from typing import Any

import torch
from transformers import AutoModelForTokenClassification, AutoTokenizer


def load(folder: str) -> tuple[Any, ...]:
    with open(f"{folder}/config.json") as file:
        layout = json.load(file)["stepmark"]
    model = AutoModelForTokenClassification.from_pretrained(folder, dtype=torch.float32).eval()
    return AutoTokenizer.from_pretrained(folder), model, layout


@torch.no_grad()
def score(loaded: tuple[Any, ...], problem: str, steps: list[str]) -> list[float]:
    """p(right) of each step."""
    tokenizer, model, layout = loaded

    def tokens(text: str) -> list[int]:
        return tokenizer(text, add_special_tokens=False, split_special_tokens=True)["input_ids"]

    ids, ends = layout["start"] + tokens(problem) + layout["problem_end"], []
    for step in steps:
        ids += tokens(step) + layout["step_end"]
        ends.append(len(ids) - 1)
    return model(torch.tensor([ids])).logits[0, ends].softmax(1)[:, 1].tolist()
