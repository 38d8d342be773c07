"""The final answer inside a last step: found, and swapped for another."""

import re
from collections.abc import Sequence
from random import Random

import msgspec

from prm.answers import normalised
from prm.labels import problem_of
from prm.sandbox.mistakes import slip
from prm.traces import Trace

Span = tuple[int, int]
BOXED = re.compile(r"\\boxed\{((?:[^{}]|\{[^{}]*\})*)\}")
NUMBER = re.compile(r"\\frac\{-?\d+\}\{\d+\}|-?\d+(?:,\d{3})*(?:\.\d+)?(?:/\d+)?")
WHOLE = re.compile(r"\d+(?!.*\d)")


def answer_span(text: str, answer: str | None = None) -> Span | None:
    """Where the final answer stands: the given one's last place, else the last box, else the last number."""
    places = list(re.finditer(rf"(?<![\d.]){re.escape(answer)}(?!\.?\d)", text)) if answer else []
    for matches in (places, list(BOXED.finditer(text)), list(NUMBER.finditer(text))):
        if matches:
            return matches[-1].span(matches[-1].lastindex or 0)
    return None


def right_answers(traces: Sequence[Trace]) -> dict[str, str]:
    """The right answer of each problem that has one: its reference, else what a right solution ends with."""
    known: dict[str, str] = {}
    for trace in traces:
        if trace.reference_answer:
            known[problem_of(trace)] = trace.reference_answer
        elif trace.final_answer_correct and trace.steps and (span := answer_span(trace.steps[-1].text)):
            known.setdefault(problem_of(trace), trace.steps[-1].text[slice(*span)])
    return known


def with_wrong_answer(trace: Trace, rng: Random) -> Trace | None:
    """The same solution, the last number of its final answer off by a little; None where no number is found."""
    if not trace.steps:
        return None
    text = trace.steps[-1].text
    span = answer_span(text, trace.reference_answer)
    number = WHOLE.search(text, *span) if span else None
    if number is None:
        return None
    near = slip(int(number[0]), rng)
    return with_last_text(trace, text[: number.start()] + str(near) + text[number.end() :])


def with_right_answer(trace: Trace, answer: str) -> Trace | None:
    """The same solution with its last box or number replaced by the right answer; None where neither can hold it."""
    text = trace.steps[-1].text if trace.steps else ""
    span = answer_span(text)
    if (
        span is None
        or normalised(text[slice(*span)]) == normalised(answer)
        or not (BOXED.search(text) or NUMBER.fullmatch(answer))
    ):
        return None
    return with_last_text(trace, text[: span[0]] + answer + text[span[1] :])


def with_last_text(trace: Trace, text: str) -> Trace:
    """The trace with another text in its last step."""
    last = msgspec.structs.replace(trace.steps[-1], text=text)
    return msgspec.structs.replace(trace, steps=[*trace.steps[:-1], last])
