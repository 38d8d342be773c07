"""Scores of an exported folder with plain torch and transformers: this file is the code in each folder's README."""

import json
import re
from bisect import bisect_right
from typing import Any

import torch
from safetensors import safe_open
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM, AutoTokenizer

SIGNS = set("+-−*/=<>^%×÷·\\")
ORDINAL = re.compile(
    r"\s*(?:\[\w+\] )?(?:(?:[-*+•>]|#+)\s+)?[*_]*"
    r"(?:(?:[A-Za-z]+ )?#?\d+[:)]|(?:(?i:step|problem|question|part) )?\d+\.|\(\d+\)|\[\d+\])[:*_]*"
    r"(?=\s+[^\s+*/=<>^×÷·-])"
)
OPERAND = r"(?<!\d)\d+(?!\d)(?:\.\d+)?"
CHAIN = re.compile(rf"{OPERAND}(?:[\s$]*(?:[+*×·]|\\times|\\cdot)[\s$]*{OPERAND})+")


def load(folder: str) -> tuple[Any, ...]:
    head = load_file(f"{folder}/heads.safetensors")
    with safe_open(f"{folder}/heads.safetensors", framework="pt") as file:
        about = json.loads(file.metadata()["stepmark"])
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    return AutoTokenizer.from_pretrained(folder), model, head, about


def read_notation(texts: list[str]) -> tuple[list[str], list[list[int]]]:
    """The kind of each token of a step, and the first tokens of operands that may change places."""
    words = [any(map(str.isalnum, text)) for text in texts]
    kinds = ["sign" if set(text) & SIGNS and not words[place] else "other" for place, text in enumerate(texts)]
    kinds = ["number" if any(map(str.isdecimal, text)) else kinds[place] for place, text in enumerate(texts)]
    if "number" not in kinds:
        return ["other"] * len(kinds), []
    whole, begins = "".join(texts), [sum(map(len, texts[:place])) for place in range(len(texts))]
    ordinal = ORDINAL.match(whole)
    content = ordinal.end() if ordinal else 0
    kinds = ["other" if begins[place] < content else kind for place, kind in enumerate(kinds)]
    for place in [place for place, kind in enumerate(kinds) if kind == "sign"]:
        sides = [range(place - 1, -1, -1), range(place + 1, len(kinds))]
        near = [next((kinds[other] for other in side if words[other]), "") for side in sides]
        if "number" not in near:  # a mark of layout, such as that of a list
            kinds[place] = "other"
    spans = [chain.span() for chain in CHAIN.finditer(whole, content)]
    found = [re.compile(OPERAND).finditer(whole, *span) for span in spans]
    return kinds, [[bisect_right(begins, one.start()) - 1 for one in operands][:16] for operands in found]


@torch.no_grad()
def score(loaded: tuple[Any, ...], problem: str, steps: list[str]) -> list[float]:
    """p(no error | the steps before are right) of each step that fits the context."""
    tokenizer, model, head, about = loaded

    def tokens(text: str) -> list[int]:
        return tokenizer(text, add_special_tokens=False, split_special_tokens=True)["input_ids"]

    def text_of(token: int) -> str:
        return tokenizer.decode([token], skip_special_tokens=True, clean_up_tokenization_spaces=False)

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
    written, rows = seen.clone(), []
    for start, end in spans:
        kinds, chains = read_notation([text_of(token) for token in ids[start : end - len(about["step_end"])]])
        for chain in chains:  # the least of all orders
            cells = [start + place for place in chain]
            for n, cell in enumerate(cells):
                pairs = [(cell, ids[other]) for other in cells] + [(earlier, ids[cell]) for earlier in cells[:n]]
                rows_of, others = map(list, zip(*pairs, strict=True))
                own, entropy, top = -log_p[rows_of, others], written[1, rows_of], log_p[rows_of].amax(1)
                seen[:, cell] = torch.stack([own, entropy, top + own]).amin(1)
        numbers: list[torch.Tensor] = []
        places: dict[str, list[int]] = {}
        for name in ("number", "sign"):
            places[name] = [start + place for place, own in enumerate(kinds) if own == name]
            own = seen[:, places[name] or [0]] * bool(places[name])
            top = torch.cat([own[0], torch.zeros(1)]).sort(descending=True).values
            numbers += [own[0].mean(), top[0], top[1], own[0].std(correction=0)]
            numbers += [f for part in (own[0] - own[1], own[1], own[2]) for f in (part.mean(), part.max())]
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
