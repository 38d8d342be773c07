"""Measures how well surprisal and position alone find the errors of the sandbox world, and what labels add.

    python benchmarks/sandbox_world.py [--base prm/tiny] [--labels 100 300 1000]

Prints the share of each kind of error, and the step AUROC up to the first error on the holdout: of the position alone,
of the backbone's surprisal without labels, overall and for each kind of error, and of a small network on frozen
features, trained on each number of labelled pool solutions.
"""

import argparse
from collections import Counter
from pathlib import Path

import numpy as np
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from prm.encoding import render_step
from prm.sandbox import WorldConfig, generate
from prm.traces import Trace


def auroc(scores: np.ndarray, bad: np.ndarray) -> float:
    """The probability that a bad step scores above a good one, ties counted half; nan without both classes."""
    good, ill = np.sort(scores[~bad]), scores[bad]
    if not len(good) or not len(ill):
        return float("nan")
    below, upto = np.searchsorted(good, ill, "left"), np.searchsorted(good, ill, "right")
    return float((below + upto).mean() / 2 / len(good))


@torch.no_grad()
def features(model: torch.nn.Module, tokenizer: object, traces: list[Trace]) -> dict[str, np.ndarray]:
    """One row per step up to the first error: pooled states, surprisals, position, true label, and solution."""
    special = dict(
        zip(("bos", "problem", "step"), tokenizer.convert_tokens_to_ids(["<bos>", "<problem>", "<step>"]), strict=True)
    )
    rows: dict[str, list] = {name: [] for name in ("state", "mean", "max", "index", "bad", "kind", "odd", "trace")}
    for number, trace in enumerate(traces):
        pieces = tokenizer([trace.problem, *map(render_step, trace.steps)], add_special_tokens=False)["input_ids"]
        ids, spans = [special["bos"], *pieces[0], special["problem"]], []
        for piece in pieces[1:]:
            spans.append((len(ids), len(ids) + len(piece) + 1))
            ids += [*piece, special["step"]]
        out = model(input_ids=torch.tensor([ids]), output_hidden_states=True, use_cache=False)
        surprise = torch.nn.functional.cross_entropy(out.logits[0, :-1], torch.tensor(ids[1:]), reduction="none")
        middle, late = out.hidden_states[len(out.hidden_states) // 2][0], out.hidden_states[-2][0]
        for index, (label, (start, end)) in enumerate(zip(trace.labels or [], spans, strict=True)):
            if label is None:
                break
            token = surprise[start - 1 : end - 1]
            pooled = [middle[start:end].mean(0), late[start:end].mean(0), late[end - 1]]
            rows["state"].append(
                torch.cat([*pooled, torch.stack([token.mean(), token.max(), token.sum() / 10])]).numpy()
            )
            rows["mean"].append(float(token.mean()))
            rows["max"].append(float(token.max()))
            rows["index"].append(index)
            rows["bad"].append(label.rating == -1)
            rows["kind"].append(trace.meta["error_kind"] if label.rating == -1 else "")
            rows["odd"].append(trace.meta["unconventional"])
            rows["trace"].append(number)
    return {name: np.array(values) for name, values in rows.items()}


def learn(train: dict[str, np.ndarray], test: dict[str, np.ndarray], seed: int = 0) -> np.ndarray:
    """Error scores of the test steps: the mean of four small networks on standardised features."""
    torch.manual_seed(seed)
    mean, deviation = train["state"].mean(0), train["state"].std(0) + 1e-6
    x, z = (torch.tensor((part["state"] - mean) / deviation, dtype=torch.float32) for part in (train, test))
    y, total = torch.tensor(train["bad"], dtype=torch.float32), np.zeros(len(z))
    for _ in range(4):
        head = torch.nn.Sequential(
            torch.nn.Dropout(0.2), torch.nn.Linear(x.shape[1], 64), torch.nn.GELU(), torch.nn.Linear(64, 1)
        )
        optimizer = torch.optim.AdamW(head.parameters(), lr=1e-3, weight_decay=0.1)
        for _ in range(max(10, min(60, 60_000 // len(x)))):
            for part in torch.randperm(len(x)).split(128):
                optimizer.zero_grad()
                torch.nn.functional.binary_cross_entropy_with_logits(head(x[part])[:, 0], y[part]).backward()
                optimizer.step()
        with torch.no_grad():
            total += torch.sigmoid(head.eval()(z))[:, 0].numpy()
    return total / 4


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", type=Path, default=Path("prm/tiny"))
    parser.add_argument("--labels", type=int, nargs="*", default=[100, 300, 1000])
    parser.add_argument("--holdout", type=int, default=800)
    options = parser.parse_args()
    model = AutoModelForCausalLM.from_pretrained(options.base, dtype=torch.float32).eval()
    tokenizer = AutoTokenizer.from_pretrained(options.base)
    world = WorldConfig()
    holdout = list(generate(world, split="holdout", n=options.holdout, seed=0))
    test = features(model, tokenizer, holdout)
    kinds = Counter(trace.meta["error_kind"] or "none" for trace in holdout)
    print("solutions by first error:", {kind: round(n / len(holdout), 3) for kind, n in kinds.most_common()})
    print(f"steps up to the first error: {len(test['bad'])}, bad {test['bad'].mean():.3f}")

    scores = {"index": test["index"].astype(float), "mean surprisal": test["mean"], "max surprisal": test["max"]}
    if options.labels:
        pool = list(generate(world, split="pool", n=max(options.labels), seed=0))
        train = features(model, tokenizer, pool)
        for n in options.labels:
            scores[f"{n} labelled"] = learn({name: values[train["trace"] < n] for name, values in train.items()}, test)
    columns = ["all", *(kind for kind in kinds if kind != "none"), "odd"]
    print(f"{'AUROC':>16}" + "".join(f"{column:>18}" for column in columns))
    for name, score in scores.items():
        cells = []
        for column in columns:
            keep = (
                ~test["bad"] | (test["kind"] == column)
                if column not in ("all", "odd")
                else test["odd"] | (column == "all")
            )
            cells.append(f"{auroc(score[keep], test['bad'][keep]):18.3f}")
        print(f"{name:>16}" + "".join(cells))


if __name__ == "__main__":
    main()
