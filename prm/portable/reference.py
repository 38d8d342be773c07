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

    def kind(token: int) -> str:
        text = tokenizer.decode([token], skip_special_tokens=True, clean_up_tokenization_spaces=False)
        if any(map(str.isdecimal, text)):
            return "number"
        return "sign" if set(text) & set("+-−*/=<>^%×÷·\\") and not any(map(str.isalnum, text)) else "other"

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
    for start, end in spans:
        kinds = [kind(token) for token in ids[start : end - len(about["step_end"])]]
        numbers: list[torch.Tensor] = []
        places: dict[str, list[int]] = {}
        for name in ("number", "sign"):
            places[name] = [start + place for place, own in enumerate(kinds) if own == name]
            own = seen[:, places[name] or [0]] * bool(places[name])
            top = torch.cat([own[0], torch.zeros(1)]).sort(descending=True).values
            numbers += [own[0].mean(), top[0], top[1], own[0].std(correction=0)]
            numbers += [f for part in (own[0] - own[1], own[1], own[2]) for f in (part.mean(), part.max())]
            numbers.append(torch.tensor(len(places[name])).log1p())
        parts = {name: layer[start:end].mean(0) for name, layer in states.items()}
        at, known = places["number"] or [0], bool(places["number"])
        parts["numbers"] = torch.cat([layer[at].mean(0) * known for layer in states.values()])
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
