"""python -m research.notations: the gaming audit, and edits that are not an audit's.

    python -m research.notations [--seeds 1700 1800] [--worlds sandbox rare-errors] [--steps 600] [--copies]

Audits the default model as `research.audits` does, and measures the verdicts that the edits of this module change.
`--steps` first continues the pretraining of the tiny backbone for as many batches on a corpus of many notations.
`--copies` adds an edited copy of each labelled solution.
"""

import argparse
import re
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random

import msgspec
import torch
from transformers import AutoModelForCausalLM, PreTrainedTokenizerFast

from prm.audits.edits import is_prose
from prm.audits.subject import accepted
from prm.backbones import TINY
from prm.intervals import score_interval
from prm.labels import first_error, step_labels, without_labels
from prm.sandbox.pretrain import encode, fit, save
from prm.sandbox.work import NAMES, NEUTRAL
from prm.sandbox.world import WorldConfig, corpus
from prm.simulation.worlds import WORLDS
from prm.traces import Step, StepLabel, Trace
from research.audits import HEAD, Audited, audit_seed, print_all, print_seed

LEADS = (
    *("As for this,", "Continuing:", "In this part,", "Observe:"),
    *("Right,", "Moving on,", "On to this:", "To be exact,"),
)
TAILS = (
    *(" That part is done.", " This settles it.", " No surprises here.", " We can use this later."),
    *(" (checked)", " This holds.", " ok", " Good.", " Easy enough."),
)
MARKS = ("({}) ", "{}) ", "{}. ", "#{}: ", "Part {} - ", "[{}] ", "Line {}. ")
BULLETS = ("* ", "• ", "> ", "+ ", "~ ", "")
SHAPES = ("_{}_", "__{}__", "`{}`", '"{}"')
ASIDES = (
    *("One thing at a time.", "That is one part.", "Now for the rest of it."),
    *("What is known is written above.", "This brings us nearer.", "The work goes on below."),
)
RECALLS = ("Again: ", "As above: ", "Recall: ", "Once more, ", "To restate: ")
OPERATORS = (
    {
        " * ": " times ",
        " + ": " plus ",
        " - ": " minus ",
        " / ": " over ",
        r" \times ": " times ",
        r" \div ": " over ",
    },
    {" * ": " x ", " + ": " & ", r" \times ": r" \ast ", r" \div ": " : ", " / ": " : "},
    {" * ": " ∗ ", " / ": " ÷ ", r" \times ": r" \star ", " + ": " ＋ "},
)
EQUALS = (" = ", " equals ", " is ", " -> ", " gives ", " == ")
_ALONE = r"(?<![\w.,)}^/*+×\\-])(?<![-+*/×^=)}] )"
PAIR = re.compile(_ALONE + r"(\d[\d.]*) (\+|\*|\\times) (\d[\d.]*)(?= =)")
TRIPLE = re.compile(_ALONE + r"(\d+) (\+|\*) (\d+) \2 (\d+)(?= =)")
EQUATION = re.compile(_ALONE + r"(\(?\d+(?: [-+*/] \(?\d+\)?)+) = (\d+)(?![\d.]|\s*[-+*/=(])")

# A step with the position of the one that it is an edit of, and whether it repeats it; None for an empty phrase.
Origin = tuple[int, bool] | None
Edited = list[tuple[Step, Origin]]
Edit = Callable[[Sequence[Step], Random], Edited]


def vary(steps: Sequence[Step], rng: Random, chance: float = 1.0) -> Edited:
    """The steps after one to three random edits, with this chance; else unchanged."""
    varied: Edited = [(step, (place, False)) for place, step in enumerate(steps)]
    if rng.random() >= chance:
        return varied
    for edit in rng.sample(EDITS, rng.choice((1, 1, 2, 2, 3))):
        varied = [(step, _through(varied, origin)) for step, origin in edit([step for step, _ in varied], rng)]
    return varied


def _through(earlier: Edited, origin: Origin) -> Origin:
    """The origin of a step whose `origin` is a position in `earlier`."""
    first = None if origin is None else earlier[origin[0]][1]
    return None if first is None or origin is None else (first[0], first[1] or origin[1])


def _each(steps: Sequence[Step], change: Callable[[str, int], str]) -> Edited:
    return [
        (msgspec.structs.replace(step, text=change(step.text, place)) if is_prose(step) else step, (place, False))
        for place, step in enumerate(steps)
    ]


def _lowered(text: str) -> str:
    return text[:1].lower() + text[1:] if text[1:2].islower() and text.split(" ")[0] not in NAMES else text


def _lead(steps: Sequence[Step], rng: Random) -> Edited:
    return _each(steps, lambda text, place: f"{rng.choice(LEADS)} {_lowered(text)}")


def _tail(steps: Sequence[Step], rng: Random) -> Edited:
    always = rng.choice(TAILS) if rng.random() < 0.5 else ""
    return _each(steps, lambda text, place: text + (always or rng.choice(TAILS)))


def _mark(steps: Sequence[Step], rng: Random) -> Edited:
    mark, start = rng.choice(MARKS), rng.choice((0, 1, 1, 1))
    return _each(steps, lambda text, place: mark.format(place + start) + text)


def _bullet(steps: Sequence[Step], rng: Random) -> Edited:
    bullet, shape = rng.choice(BULLETS), rng.choice(SHAPES)
    return _each(steps, lambda text, place: bullet + re.sub(r"^[A-Za-z]+", lambda word: shape.format(word[0]), text))


def _operators(steps: Sequence[Step], rng: Random) -> Edited:
    signs, equal, swap = rng.choice(OPERATORS), rng.choice(EQUALS), rng.random() < 0.6

    def change(text: str, place: int) -> str:
        if swap:
            text = TRIPLE.sub(r"\4 \2 \1 \2 \3", text)
            text = PAIR.sub(lambda m: f"{m[3]} {m[2]} {m[1]}" if f" {m[2]} " in signs else m[0], text)
        for sign, other in signs.items():
            text = text.replace(sign, other)
        return text.replace(" = ", equal)

    return _each(steps, change)


def _order(steps: Sequence[Step], rng: Random) -> Edited:
    back = rng.random() < 0.5

    def turn(m: re.Match[str]) -> str:
        return rng.choice((f"{m[4]} {m[2]} {m[1]} {m[2]} {m[3]}", f"{m[3]} {m[2]} {m[1]} {m[2]} {m[4]}"))

    def change(text: str, place: int) -> str:
        text = TRIPLE.sub(turn, text)
        return EQUATION.sub(r"\2 = \1", text) if back else text

    return _each(steps, change)


def _aside(steps: Sequence[Step], rng: Random) -> Edited:
    edited: Edited = []
    for place, step in enumerate(steps):
        if rng.random() < 0.3:
            edited.append((Step(rng.choice(ASIDES)), None))
        edited.append((step, (place, False)))
    return edited


def _recall(steps: Sequence[Step], rng: Random) -> Edited:
    edited: Edited = [(step, (place, False)) for place, step in enumerate(steps)]
    prose = [place for place, step in enumerate(steps) if is_prose(step)]
    if not prose:
        return edited
    place = rng.choice(prose)
    after = min(len(steps) - 1, place + rng.choice((0, 0, 1, 2)))
    edited.insert(after + 1, (Step(rng.choice(RECALLS) + _lowered(steps[place].text)), (place, True)))
    return edited


EDITS: tuple[Edit, ...] = (_lead, _tail, _mark, _bullet, _operators, _operators, _order, _aside, _recall)


def copy_labelled(traces: Sequence[Trace], rng: Random) -> list[Trace]:
    """An edited copy of each labelled solution, with the labels of the original steps up to the first error."""
    copies = []
    for trace in traces:
        labels = step_labels(trace)
        end = 1 + max((place for place, label in enumerate(labels) if label is not None), default=-1)
        edited = vary(trace.steps[:end], rng)
        kept: list[StepLabel | None] = []
        for _, origin in edited:
            label = NEUTRAL if origin is None else labels[origin[0]]
            stopped = any(one is not None and one.rating == -1 for one in kept)
            repeats_error = origin is not None and origin[1] and label is not None and label.rating == -1
            kept.append(None if stopped or repeats_error else label)
        copies.append(
            msgspec.structs.replace(
                trace,
                id=f"{trace.id}-edited",
                steps=[step for step, _ in edited],
                labels=kept,
                first_error=None,
                final_answer_correct=None,
                alternatives=[],
                meta={},
            )
        )
    return copies


def continue_pretraining(out: Path, steps: int, rate: float = 1e-3) -> str:
    """Continue the tiny backbone on a corpus of which 60 % is edited, write it to `out`, and return its path."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    tokenizer = PreTrainedTokenizerFast.from_pretrained(TINY)
    model = AutoModelForCausalLM.from_pretrained(TINY).float()
    rng = Random(7)
    texts = corpus(WorldConfig(), n=22 * steps, seed=5)
    documents = [encode(tokenizer, problem, [one for one, _ in vary(some, rng, 0.6)]) for problem, some in texts]
    fit(model, documents, steps=steps, rate=rate, rng=Random(0))
    save(model, tokenizer, out)
    return str(out)


def print_edits(all_audited: Sequence[Audited]) -> None:
    """The share of accepted right solutions that each edit of this module makes rejected, over all seeds."""
    print("\n| edit | solutions | verdict changed |\n|---|---:|---:|")
    for edit in dict.fromkeys(EDITS):
        rejected: list[bool] = []
        for one in all_audited:
            right = [trace for trace in one.traces if first_error(trace) == -1]
            kept = [
                trace
                for trace, score in zip(right, one.scorer.score(right), strict=True)
                if accepted(score, one.scorer.threshold)
            ]
            rng = Random(one.seed)
            changed = [(trace, [step for step, _ in edit(trace.steps, rng)]) for trace in kept]
            edited = [without_labels(trace, steps) for trace, steps in changed if steps != list(trace.steps)]
            rejected += [not accepted(score, one.scorer.threshold) for score in one.scorer.score(edited)]
        share = sum(rejected) / max(len(rejected), 1)
        low, high = score_interval(share, max(len(rejected), 1))
        print(f"| {edit.__name__.strip('_')} | {len(rejected)} | {share:.0%} [{low:.0%}, {high:.0%}] |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=0, help="batches of the corpus; 0 leaves the backbone as it is")
    parser.add_argument("--copies", action="store_true", help="add an edited copy of each labelled solution")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1200])
    parser.add_argument("--worlds", nargs="+", choices=list(WORLDS), default=["sandbox"])
    options = parser.parse_args()
    for world in options.worlds:
        print(f"\n## {world}\n\n{HEAD}", flush=True)
        all_audited = []
        for seed in options.seeds:
            with tempfile.TemporaryDirectory() as name:
                folder = Path(name)
                base = continue_pretraining(folder / "backbone", options.steps) if options.steps else "tiny"
                rng = Random(seed)
                audited = audit_seed(
                    world,
                    seed,
                    ["gaming"],
                    folder,
                    base=base,
                    copies=lambda labelled, rng=rng: copy_labelled(labelled, rng) if options.copies else [],
                )
            print_seed(audited)
            all_audited.append(audited)
        print_all(all_audited)
        print_edits(all_audited)


if __name__ == "__main__":
    main()
