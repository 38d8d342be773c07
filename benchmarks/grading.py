"""Compares the grader of final answers with published outcomes; measures its speed, also on hostile answers.

    python benchmarks/grading.py --data FOLDER [--most 100000] [--show 0]

FOLDER holds `best-of-n/`, `mr-ben/` and `big-bench-mistake/`. "Stated" grades the answer that a data set has for a
solution, "text" the answer in the solution's last step. `--show` prints a number of disagreements of each set.
"""

import argparse
import gzip
import json
import sys
import time
from ast import literal_eval
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from prm.answers.process import Grader  # noqa: E402

HOSTILE = [
    "9^{9^{9^{9}}}", "99999999!", "((9999999!)!)!", "x^{" * 15 + "9" + "}" * 15, "{" * 200_000, "\\boxed{" * 100_000,
    "9" * 1_000_000, "1e999999999", r"\sum_{k=1}^{999999999} \frac{1}{k}", r"\int e^{x^{x^{x}}} \sin(x^x) dx",
    "__import__('os').system('id')", r"\prod_{k=1}^{99999999} k", "(" * 15 + "x+1" + ")^{99}" * 15, "\0" * 1000,
    r"\begin{pmatrix}" + "1&" * 200 + r"\end{pmatrix}", "+".join(f"x_{{{n}}}^{{{n}}}" for n in range(60)),
    r"\sqrt{" * 18 + "2" + "}" * 18, "answer is " * 50_000, "$" * 500_000, r"\binom{99999999}{49999999}",
]  # fmt: skip


class Graded(NamedTuple):
    """A solution with its outcome in the data set; `stated` is None if only the text has the answer."""

    stated: str | None
    text: str
    reference: str
    given: bool


def best_of_n(folder: Path, *, stated: bool) -> Iterator[Graded]:
    with gzip.open(folder / "best-of-n/gsm8k_best_of_32.jsonl.gz", "rt") as lines:
        for line in map(json.loads, lines):
            answer = line["final_answer"] if stated else None
            yield Graded(answer, line["steps"][-1], line["reference_answer"], line["is_correct"])


def math_500(folder: Path, *, stated: bool) -> Iterator[Graded]:
    with (folder / "best-of-n/math_cot_100.jsonl").open() as lines:
        for line in map(json.loads, lines):
            for text, answer, right in zip(line["code"], line["pred"], line["score"], strict=True):
                yield Graded(answer if stated else None, text, line["gt"], right)


def mr_ben(folder: Path) -> Iterator[Graded]:
    for [line, *_] in json.loads((folder / "mr-ben/math.json").read_text()).values():
        steps = line["Model_Solution_Steps"]
        last = (literal_eval(steps) if isinstance(steps, str) else steps)[-1]
        yield Graded(None, last, line["Ground_Truth_Answer"], line["Model_Solution_Correctness"] == "correct")


def big_bench(folder: Path) -> Iterator[Graded]:
    for file in sorted((folder / "big-bench-mistake").glob("*.jsonl")):
        for line in map(json.loads, file.read_text().splitlines()):
            answer = line["answer"] or ""
            yield Graded(answer, "", line["target"], answer.strip() == line["target"].strip())


def agreement(name: str, rows: list[Graded], show: int) -> str:
    with Grader() as grader:
        started = time.perf_counter()
        verdicts = grader.judge_many((row.stated, row.text, row.reference) for row in rows)
        seconds = time.perf_counter() - started
        killed = grader.killed
    counts = Counter(verdicts)
    others = [(row, one) for row, one in zip(rows, verdicts, strict=True) if one is not None and one != row.given]
    for row, one in others[:show]:
        print(f"{name}: given {row.given}, graded {one}: {row.stated or row.text[-160:]!r} for {row.reference!r}")
    told = counts[True] + counts[False]
    return (
        f"| {name} | {len(rows):,} | {sum(row.given for row in rows):,} | {counts[True]:,} | {counts[False]:,} "
        f"| {counts[None]:,} | {100 * (1 - len(others) / max(1, told)):.2f} % | {len(others)} | {killed} "
        f"| {len(rows) / seconds:,.0f} |"
    )


def hostile() -> str:
    with Grader() as grader:
        grader.grade(r"\sqrt{4}", "2")
        started = time.perf_counter()
        verdicts = [grader.judge(None if len(answer) > 2_000 else answer, answer, r"\sqrt{x}") for answer in HOSTILE]
        seconds = time.perf_counter() - started
        after = grader.grade(r"\sqrt{16}", "4")
        return (
            f"{len(HOSTILE)} hostile answers took {seconds:.1f} s ({max(map(len, HOSTILE)):,} characters the longest): "
            f"{verdicts.count(None)} unknown, {verdicts.count(False)} wrong, {verdicts.count(True)} correct; the child "
            f"was killed {grader.killed} times, and graded the next answer {'rightly' if after else 'NOT'}."
        )


def plain_numbers(count: int = 100_000) -> str:
    with Grader() as grader:
        started = time.perf_counter()
        right = grader.grade_many((f"${n:,}.00", str(n)) for n in range(count)).count(True)
        seconds = time.perf_counter() - started
    rate = f"{count / seconds:,.0f} a second"
    return f"Plain numbers need no child: {count:,} in {seconds:.1f} s, {rate}, {right:,} correct."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--most", type=int, default=100_000, help="solutions of each set")
    parser.add_argument("--show", type=int, default=0, help="disagreements printed of each set")
    options = parser.parse_args()
    sets = {
        "GSM8K best of 32, stated": best_of_n(options.data, stated=True),
        "GSM8K best of 32, text": best_of_n(options.data, stated=False),
        "MATH 100 x 8, stated": math_500(options.data, stated=True),
        "MATH 100 x 8, text": math_500(options.data, stated=False),
        "MR-Ben math, text": mr_ben(options.data),
        "BIG-Bench-Mistake, stated": big_bench(options.data),
    }
    rows = [agreement(name, list(some)[: options.most], options.show) for name, some in sets.items()]
    print("| set | solutions | given correct | correct | wrong | unknown | agree | others | killed | a second |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    print("\n".join(rows))
    print()
    print(plain_numbers())
    print(hostile())


if __name__ == "__main__":
    main()
