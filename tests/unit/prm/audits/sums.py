"""A world of sums in which right and wrong can be read off, and scorers whose faults are known.

Errors come late and in long steps more often than not, so that position and length are shortcuts worth taking.
"""

import random
import re
from collections.abc import Callable, Sequence

from prm.audits import Subject
from prm.labels import BAD, GOOD
from prm.scores import TraceScore
from prm.threshold import Threshold
from prm.traces import Step, Trace

HIGH, LOW = 0.99, 0.01
EQUATION = re.compile(r"(\d+) \+ (\d+) = (\d+)")
ANSWER = re.compile(r"answer is (\d+)")
Judge = Callable[[Trace], list[float]]


def make_sums(count: int, seed: int = 0, prefix: str = "p") -> list[Trace]:
    """Two solutions a problem; half hold an error, and a third of those end right by a second one."""
    rng = random.Random(seed)
    return [trace for k in range(count // 2) for trace in _pair(f"{prefix}{k}", rng)]


def _pair(problem: str, rng: random.Random) -> list[Trace]:
    numbers = [rng.randrange(1, 60) for _ in range(rng.randrange(4, 9))]
    domain = rng.choice(["sums", "totals"])
    return [_solve(f"{problem}-{i}", problem, numbers, domain, rng) for i in range(2)]


def _solve(name: str, problem: str, numbers: list[int], domain: str, rng: random.Random) -> Trace:
    error = max(rng.randrange(len(numbers)), rng.randrange(len(numbers))) if rng.random() < 0.5 else -1
    mended = error + 1 if 0 <= error < len(numbers) - 1 and rng.random() < 0.4 else -1
    steps, total = [], 0
    for k, number in enumerate(numbers):
        result = sum(numbers[: k + 1]) if k == mended else total + number + (rng.randrange(1, 9) if k == error else 0)
        aside = " as anyone can see" if rng.random() < (0.6 if k == error else 0.25) else ""
        steps.append(Step(f"{total} + {number} = {result}{aside}."))
        total = result
    steps.append(Step(f"The answer is {total}."))
    return Trace(
        id=name,
        problem=f"Add {', '.join(map(str, numbers))}.",
        steps=steps,
        problem_id=problem,
        domain=domain,
        generator=rng.choice(["careful", "hasty"]),
        labels=[GOOD if error < 0 or k < error else BAD if k == error else None for k in range(len(steps))],
        first_error=error,
        reference_answer=str(sum(numbers)),
        final_answer_correct=total == sum(numbers),
    )


def perfect(trace: Trace) -> list[float]:
    """Reads the problem and every equation; what says nothing is right, and so is what was written before."""
    parts = [[int(n) for n in re.findall(r"\d+", text)] for text in re.findall(r"Add ([\d, ]+)\.", trace.problem)]
    told, left, total, found = parts[0], list(parts[0]), 0, []
    written: set[str] = set()
    for step in trace.steps:
        part = re.match(r"Problem (\d+)\. ", step.text)
        if part:
            told, total = parts[int(part[1]) - 1], 0
            left, written = list(told), set()
        equation, answer = EQUATION.search(step.text), ANSWER.search(step.text)
        right = True
        if equation and equation[0] not in written:
            a, b, result = map(int, equation.groups())
            number = b if a == total else a
            right = {a, b} == {total, number} and a + b == result and number in left
            if number in left:
                left.remove(number)
            written.add(equation[0])
            total = result
        elif answer:
            right = int(answer[1]) == total and not left
        found.append(HIGH if right else LOW)
    return found


def constant(trace: Trace) -> list[float]:
    return [0.89] * len(trace.steps)


def outcome_only(trace: Trace) -> list[float]:
    """Every step by whether the last one states the right answer."""
    answer = ANSWER.search(trace.steps[-1].text)
    truth = sum(int(n) for n in re.findall(r"\d+", trace.problem))
    return [HIGH if answer and int(answer[1]) == truth else LOW] * len(trace.steps)


def position_only(trace: Trace) -> list[float]:
    return [0.98 - 0.02 * min(k, 40) for k in range(len(trace.steps))]


def length_only(trace: Trace) -> list[float]:
    return [20 / (20 + len(step.text)) for step in trace.steps]


def scoring(judge: Judge) -> Callable[[Sequence[Trace]], list[TraceScore]]:
    return lambda traces: [_score(trace, judge(trace)) for trace in traces]


def subject_of(judge: Judge, traces: Sequence[Trace], **more: object) -> Subject:
    score = scoring(judge)
    settings: dict = {"score": score, "threshold": Threshold(0.5), "temperature": 1.0, "bootstrap": 100} | more
    return Subject(traces=traces, scores=score(traces), **settings)


def _score(trace: Trace, p: list[float]) -> TraceScore:
    product = 1.0
    for value in p:
        product *= value
    return TraceScore(trace.id, [[value] for value in p], list(p), [None] * len(p), product)
