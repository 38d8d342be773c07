"""Scores of an exported folder with plain torch and transformers: this file is the code in each folder's README."""

import json
from typing import Any

import torch
from safetensors import safe_open
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM, AutoTokenizer


def load(folder: str) -> tuple[Any, ...]:
    head = load_file(f"{folder}/heads.safetensors")
    with safe_open(f"{folder}/heads.safetensors", framework="pt") as file:
        about = json.loads(file.metadata()["stepmark"])
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    return AutoTokenizer.from_pretrained(folder), model, head, about


@torch.no_grad()
def score(loaded: tuple[Any, ...], problem: str, steps: list[str]) -> list[float]:
    """p(no error | the steps before are right) of each step that fits the context."""
    tokenizer, model, head, about = loaded

    def tokens(text: str) -> list[int]:
        return tokenizer(text, add_special_tokens=False, split_special_tokens=True)["input_ids"]

    ids, spans = about["start"] + tokens(problem) + about["problem_end"], []
    for step in steps:  # each on its own, so that its tokens never depend on what follows
        piece = tokens(step) + about["step_end"]
        if len(ids) + len(piece) > about["context"]:
            break
        spans.append((len(ids), len(ids) + len(piece)))
        ids += piece
    out = model(torch.tensor([ids]), output_hidden_states=True, use_cache=False)
    states = {"middle": out.hidden_states[len(out.hidden_states) // 2][0], "last": out.hidden_states[-1][0]}
    log_p = torch.cat([out.logits[0, :1], out.logits[0, :-1]]).log_softmax(1)  # row t predicts token t
    surprisal = -log_p.gather(1, torch.tensor(ids)[:, None])[:, 0]
    seen = torch.stack([surprisal, -(log_p.exp() * log_p).sum(1), log_p.amax(1) + surprisal])
    rows: list[torch.Tensor] = []
    earlier: list[torch.Tensor] = []
    for start, end in spans:
        own, ending = seen[:, start : end - len(about["step_end"])], seen[:, end - len(about["step_end"]) : end]
        mean = own.mean(1) if own.numel() else torch.zeros(3)
        most = own.amax(1) if own.numel() else torch.zeros(3)
        second = torch.cat([own[0], torch.zeros(2)]).topk(2).values[1]
        spread = (own[0] - mean[0]).square().mean().sqrt() if own.numel() else torch.zeros(())
        excess = own[0] - own[1] if own.numel() else torch.zeros(1)
        level = torch.stack([mean[0], most[0]])
        rise = level - (torch.stack(earlier).mean(0) if earlier else level)
        earlier.append(level)
        numbers = [mean[0], most[0], second, spread, excess.mean(), excess.max(), mean[1], most[1], mean[2], most[2]]
        numbers += [*ending.mean(1)[:2], *rise, torch.tensor(end - start).log()]
        parts = {name: layer[start:end].mean(0) for name, layer in states.items()}
        parts |= {"separator": states["last"][end - 1], "statistics": torch.stack(numbers)}
        rows.append(torch.cat([parts[name] for name in about["features"]]))
    if not rows:
        return []
    x = ((torch.stack(rows) - head["centre"]) / head["scale"]).clamp(-8, 8)
    logits = torch.nn.functional.gelu(x @ head["enter"] + head["enter_bias"]) @ head["leave"] + head["leave_bias"]
    good, *rest = logits.unbind(2)
    if rest:  # three classes: good, neutral, bad
        middle, bad = rest
        sums = {"positive": torch.logaddexp(good, middle) - bad, "negative": good - torch.logaddexp(middle, bad)}
        good = sums.get(about["neutral"], good - bad)
    return torch.sigmoid(good.double() / about["temperature"]).mean(0).tolist()
