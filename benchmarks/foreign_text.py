"""python -m benchmarks.foreign_text: how much foreign text the out-of-domain flag finds, and its false alarms.

Trains the default model on the sandbox (or on `--base`) and scores text that it has not seen: solutions of
ProcessBench, BIG-Bench-Mistake, MR-Ben and others (`--data`; missing sets are skipped), and generated text. The table
also has one of the flag's two parts alone, the backbone's mean surprisal, and the share of verdicts that are given.
"""

import argparse
import gzip
import json
import math
import string
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import numpy as np

from prm.config import TrainConfig
from prm.intervals import score_interval
from prm.sandbox.world import WorldConfig, generate
from prm.scoring import Scorer
from prm.traces import Step, Trace, write_traces
from prm.training import train
from prm.trust import FALSE_ALARMS, DomainBar, Trust, is_foreign, verdict
from prm.vocabulary import Split

POOL, CALIBRATION, FRESH, INVENTED = 300, 150, 600, 100
DEVELOPMENT = 150  # solutions of each set, drawn by Random(0), on which the method was chosen: left out
TASKS = ("dyck_languages", "logical_deduction", "multistep_arithmetic", "tracking_shuffled_objects", "word_sorting")
LEGAL = (
    "Neither party may assign its rights without the written consent of the other.",
    "Any notice shall be deemed received on the third working day after posting.",
    "The tenant shall keep the premises in good repair and shall not sublet them.",
    "In the event of late payment the creditor may charge interest at the statutory rate.",
    "The courts of the seller's seat have exclusive jurisdiction over any dispute.",
    "Termination takes effect at the end of the quarter that follows the notice.",
    "The carrier is not liable for losses that arise from the nature of the goods.",
    "Amendments to this agreement require the signature of both parties.",
)
SCRIPTS = {
    "Greek": ("Προσθέτουμε τους δύο αριθμούς.", "Διπλασιάζουμε το άθροισμα.", "Η απάντηση είναι δεκατέσσερα."),
    "Japanese": ("まず二つの数を足します。", "次にその和を二倍します。", "したがって答えは十四です。"),
    "Hindi": ("पहले दोनों संख्याएँ जोड़ते हैं।", "फिर योग को दुगुना करते हैं।", "इसलिए उत्तर चौदह है।"),
    "Polish": ("Najpierw dodajemy obie liczby.", "Potem podwajamy sumę.", "Odpowiedź to czternaście."),
}


@dataclass(frozen=True)
class Row:
    """The results of one solution: flagged, flagged by surprisal alone, flagged after one step, and judged."""

    flag: bool
    surprisal: bool
    first_step: bool
    judged: bool


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.foreign_text", description=__doc__)
    parser.add_argument("--data", type=Path, help="folder of real labelled sets, as tests/real_data.py finds it")
    parser.add_argument("--seeds", type=int, nargs="+", default=[100, 101, 102], help="one training each")
    parser.add_argument("--most", type=int, default=150, help="solutions of a real set")
    parser.add_argument("--base", default="tiny", help="backbone")
    parser.add_argument("--without", default="", help="a domain to leave out of the training: agents, math or programs")
    options = parser.parse_args()
    real = dict(_real(options.data, options.most)) if options.data else {}
    rows: dict[str, list[list[Row]]] = {}
    for seed in options.seeds:
        for name, found in _measured(seed, options.base, options.without, real):
            rows.setdefault(name, []).append(found)
    print("| text | solutions | flagged | by seed | after one step | mean surprisal alone | verdicts given |")
    print("|---|" + "---:|" * 6)
    for name, by_seed in rows.items():
        print(_line(name, by_seed))


def _measured(seed: int, base: str, without: str, real: dict[str, list[Trace]]) -> Iterator[tuple[str, list[Row]]]:
    world, familiar = WorldConfig(), lambda trace: trace.domain != without
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        parts: tuple[tuple[Split, int], ...] = (("pool", POOL), ("calibration", CALIBRATION))
        taught = [trace for split, n in parts for trace in generate(world, split=split, n=n, seed=seed)]
        write_traces(folder / "train.jsonl", filter(familiar, taught))
        config = TrainConfig(base=base, seed=seed)
        train(data=folder / "train.jsonl", out=folder / "model", config=config, report=lambda progress: None)
        scorer = Scorer.load(folder / "model")
    surprisal = Surprisal(scorer, filter(familiar, generate(world, split="calibration", n=CALIBRATION, seed=seed)))
    fresh = list(generate(world, split="holdout", n=FRESH, seed=seed))
    sets = {"sandbox, fresh problems": list(filter(familiar, fresh)), **real, **_invented(Random(seed))}
    if without:
        sets[f"sandbox, {without}: left out of the training"] = [t for t in fresh if t.domain == without]
    for title, traces in sets.items():
        yield title, list(_rows(scorer, surprisal, traces))


class Surprisal:
    """The strongest simple baseline: a threshold on the backbone's mean surprisal, with as many false alarms."""

    def __init__(self, scorer: Scorer, calibration: Iterable[Trace]) -> None:
        assert scorer.manifest is not None
        assert scorer.manifest.trust is not None
        assert scorer.manifest.trust.domain is not None, "the calibration split is large enough"
        bar = scorer.manifest.trust.domain
        # Without distances and with a threshold of 1, only the surprisal counts.
        alone = msgspec.structs.replace(
            bar, precision=np.zeros_like(bar.precision).tolist(), surprisal_bars=[1.0] * len(bar.centres)
        )
        self._scorer = _with_bar(scorer, alone)
        values = sorted(score.distance or 0.0 for score in self._scorer.score(calibration))
        self._bar = values[min(math.ceil((len(values) + 1) * (1 - FALSE_ALARMS)), len(values)) - 1]

    def flags(self, traces: Sequence[Trace]) -> list[bool]:
        return [(score.distance or 0.0) > self._bar for score in self._scorer.score(traces)]


def _with_bar(scorer: Scorer, bar: DomainBar) -> Scorer:
    assert scorer.manifest is not None
    manifest = msgspec.structs.replace(scorer.manifest, trust=Trust(bar))
    return Scorer(scorer.reader, scorer.judges, manifest=manifest, readout=scorer.readout)


def _rows(scorer: Scorer, surprisal: Surprisal, traces: Sequence[Trace]) -> Iterator[Row]:
    trust = scorer.manifest.trust if scorer.manifest else None
    assert trust is not None
    first = [Trace("", trace.problem, trace.steps[:1]) for trace in traces]
    for whole, begun, baseline in zip(scorer.score(traces), scorer.score(first), surprisal.flags(traces), strict=True):
        _, doubt = verdict(whole.heads, whole.mean, scorer.threshold)
        judged = trust.withholds(doubt, whole.distance) is False
        yield Row(bool(is_foreign(whole.distance)), baseline, bool(is_foreign(begun.distance)), judged)


def _line(name: str, by_seed: list[list[Row]]) -> str:
    every = [row for rows in by_seed for row in rows]

    def share(of: Callable[[Row], bool]) -> float:
        return sum(map(of, every)) / len(every)

    flags = [sum(row.flag for row in rows) / len(rows) for rows in by_seed]
    low, high = score_interval(share(lambda row: row.flag), len(every))
    seeds = ", ".join(f"{flag:.1%}" for flag in flags)
    return (
        f"| {name} | {len(every)} | {share(lambda row: row.flag):.1%} [{low:.1%}, {high:.1%}] | {seeds} "
        f"| {share(lambda row: row.first_step):.1%} | {share(lambda row: row.surprisal):.1%} "
        f"| {share(lambda row: row.judged):.1%} |"
    )


def _invented(rng: Random) -> dict[str, list[Trace]]:
    def solutions(sentence: Callable[[], str]) -> list[Trace]:
        return [_trace(sentence(), [sentence() for _ in range(rng.randint(1, 8))]) for _ in range(INVENTED)]

    def letters() -> str:
        return " ".join(
            "".join(rng.choices(string.ascii_lowercase, k=rng.randint(2, 9))) for _ in range(rng.randint(3, 12))
        )

    found = {"random letters": solutions(letters), "legal prose": solutions(lambda: rng.choice(LEGAL))}
    for script, sentences in SCRIPTS.items():
        found[script] = solutions(lambda sentences=sentences: rng.choice(sentences))
    return found


def _real(folder: Path, most: int) -> Iterator[tuple[str, list[Trace]]]:
    drawn = Random(0)
    for title, read in _developed(folder):
        traces = [trace for trace in read() if trace.steps]  # the same order and number as for the development samples
        seen = set(drawn.sample(range(len(traces)), min(DEVELOPMENT, len(traces))))
        rest = [trace for place, trace in enumerate(traces) if place not in seen]
        yield title, Random(title).sample(rest, min(most, len(rest)))
    path = folder / "best-of-n" / "gsm8k_best_of_32.jsonl.gz"
    if path.exists():
        with gzip.open(path, "rt") as lines:
            traces = list(_traces(map(json.loads, lines), "problem", "steps"))
        yield "best-of-32, GSM8K (a set that development never saw)", Random(path.name).sample(traces, most)


def _developed(folder: Path) -> Iterator[tuple[str, Callable[[], Iterator[Trace]]]]:
    """The sets in the order in which the development samples were drawn."""
    for name in ("gsm8k", "math"):
        path = folder / "processbench" / f"{name}.json"
        yield f"ProcessBench {name}", lambda path=path: _traces(json.loads(path.read_text()), "problem", "steps")
    for name in TASKS:
        path = folder / "big-bench-mistake" / f"{name}.jsonl"
        yield f"BIG-Bench-Mistake {name}", lambda path=path: _traces(_lines(path), "input", "steps")
    for name in ("math", "coding"):
        path = folder / "mr-ben" / f"{name}.json"
        yield f"MR-Ben {name}", lambda path=path: _traces(_flat(path), "Question", "Model_Solution_Steps")


def _traces(records: Iterable[dict[str, Any]], problem: str, steps: str) -> Iterator[Trace]:
    for record in records:
        given = record[steps].split("\n") if isinstance(record[steps], str) else record[steps]
        yield _trace(record[problem], given)


def _trace(problem: str, steps: Iterable[str]) -> Trace:
    return Trace("", problem, [Step(step) for step in steps if step.strip()])


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open() as lines:
        yield from map(json.loads, lines)


def _flat(path: Path) -> Iterator[dict[str, Any]]:
    """The records of MR-Ben's object of lists; the coding file's steps are the lines of a text."""
    for value in json.loads(path.read_text()).values():
        yield from value if isinstance(value, list) else [value]


if __name__ == "__main__":
    main()
