"""python -m research.chains: why scores fall in chains of problems, and what training on chains changes.

    python -m research.chains [--seeds 2420] [--taught 150] [--calibrated 75] [--only long]

Audits the default model as `research.audits` does. `--taught` adds as many chains of labelled solutions of the pool to
its training data, and `--calibrated` chains of the calibration split. Their problems follow one another without the
heading and the numbers of the audit's chains.
`--cause` then scores the steps of some of the audit's chains in parts of their context, to show which part moves them.
"""

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from random import Random

import msgspec
import numpy as np

from prm.audits.long import Chain, make_chains
from prm.evaluation.metrics import as_metric, divide, draws_of, format_metric, ranking
from prm.labels import first_error, problem_of, step_labels, without_labels
from prm.sandbox import generate
from prm.simulation.worlds import WORLDS
from prm.traces import Trace
from research.audits import AUDITED, CALIBRATION, HEAD, Audited, audit_seed, print_all, print_seed

PARTS = (2, 3, 5, 8)  # solutions in a chain
READ_STEPS, READ_CHAINS = 32, 24  # of the chains whose steps are read in parts of their context
RESAMPLES = 500


def join_solutions(traces: Sequence[Trace], count: int, rng: Random) -> Iterator[Trace]:
    """`count` chains of labelled solutions of different problems, with their labels; every other one ends wrong."""
    errors = [first_error(trace) for trace in traces]
    right = [trace for trace, error in zip(traces, errors, strict=True) if error == -1]
    wrong = [trace for trace, error in zip(traces, errors, strict=True) if error is not None and error >= 0]
    rng.shuffle(wrong)
    for number in range(count):
        by_problem = {problem_of(trace): trace for trace in rng.sample(right, len(right))}
        parts = list(by_problem.values())[: rng.choice(PARTS)]
        if number % 2:
            parts[-1] = wrong[number // 2 % len(wrong)]
        error = first_error(parts[-1])
        before = sum(len(part.steps) for part in parts[:-1])
        yield msgspec.structs.replace(
            parts[-1],
            id=f"{parts[-1].split}-chain-{number}",
            problem="\n\n".join(part.problem for part in parts),
            steps=[step for part in parts for step in part.steps],
            labels=[label for part in parts for label in step_labels(part)],
            first_error=-1 if error is None or error < 0 else before + error,
            final_answer_correct=None,
            alternatives=[],
        )


def chains_beside(world: str, seed: int, taught: int, calibrated: int, labelled: Sequence[Trace]) -> list[Trace]:
    """Chains of the labelled solutions, and of those of the calibration split."""
    held = list(generate(WORLDS[world].config, split="calibration", n=CALIBRATION, seed=seed))
    return [*join_solutions(labelled, taught, Random(seed)), *join_solutions(held, calibrated, Random(seed + 1))]


def read_in_parts(audited: Audited) -> dict[str, list[tuple[float, bool, int]]]:
    """By context: p of each step up to the first error, whether it is the error, and the row of its solution.

    The contexts go from a step's own solution to the whole chain.
    """
    traces = audited.traces
    texts: dict[str, list[Trace]] = {}
    places: dict[str, list[tuple[int, int]]] = {}  # the solution's row, and the place of its first step in the text

    def read(context: str, row: int, text: Trace, start: int) -> None:
        texts.setdefault(context, []).append(text)
        places.setdefault(context, []).append((row, start))

    def cut(chain: Chain, problem: str, start: int, end: int) -> Trace:
        return msgspec.structs.replace(without_labels(chain.trace, chain.trace.steps[start:end]), problem=problem)

    for chain in make_chains(traces, READ_STEPS, READ_CHAINS, Random(audited.seed)):
        for row in dict.fromkeys(chain.rows):
            start = chain.rows.index(row)
            end = start + len(traces[row].steps)
            read("alone", row, traces[row], 0)
            read("alone, first step “Problem n. …”", row, cut(chain, traces[row].problem, start, end), 0)
            read("all problems stated, no earlier solutions", row, cut(chain, chain.trace.problem, start, end), 0)
            read("own problem stated, after the earlier solutions", row, cut(chain, traces[row].problem, 0, end), start)
            read("the whole chain", row, cut(chain, chain.trace.problem, 0, end), start)
    steps: dict[str, list[tuple[float, bool, int]]] = {}
    for context, some in texts.items():
        for score, (row, start) in zip(audited.scorer.score(some), places[context], strict=True):
            error = first_error(traces[row])
            last = len(traces[row].steps) if error is None or error < 0 else error + 1
            scored = enumerate(score.mean[start : start + last])
            steps.setdefault(context, []).extend((p, at == error, row) for at, p in scored if p is not None)
    return steps


def print_cause(audited: Audited) -> None:
    """The share of right steps below the threshold, and step AUROC, by the context that a step is read in."""
    print("\n| read | steps | right steps below the threshold | step AUROC |\n|---|---:|---:|---:|")
    for context, steps in read_in_parts(audited).items():
        p, error, row = (np.array(column) for column in zip(*steps, strict=True))
        weights = draws_of(len(audited.traces), RESAMPLES, audited.seed)[:, row]
        below = divide(weights @ ((p < audited.scorer.threshold.value) & ~error), weights @ ~error)
        auroc = as_metric(ranking(1 - p, error.astype(float), weights)[0])
        print(f"| {context} | {len(p)} | {format_metric(as_metric(below))} | {format_metric(auroc)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[2420])
    parser.add_argument("--worlds", nargs="+", choices=list(WORLDS), default=["sandbox"])
    parser.add_argument("--only", nargs="+", choices=AUDITED, default=["long"], help="these audits")
    parser.add_argument("--taught", type=int, default=0, help="chains of labelled solutions to train on")
    parser.add_argument("--calibrated", type=int, default=0, help="chains of the calibration split")
    parser.add_argument("--base", default="tiny", help="a backbone, or its folder")
    parser.add_argument("--cause", action="store_true", help="score steps in parts of their context")
    options = parser.parse_args()
    for world in options.worlds:
        print(f"\n## {world}\n\n{HEAD}", flush=True)
        all_audited = []
        for seed in options.seeds:
            copies = partial(chains_beside, world, seed, options.taught, options.calibrated)
            with tempfile.TemporaryDirectory() as folder:
                audited = audit_seed(world, seed, options.only, Path(folder), base=options.base, copies=copies)
            print_seed(audited)
            all_audited.append(audited)
            if options.cause:
                print_cause(audited)
        print_all(all_audited)


if __name__ == "__main__":
    main()
