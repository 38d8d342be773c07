"""Edits of solutions with a known effect on their correctness: pure functions of a trace and random numbers.

They are rules over words, numbers and signs, not paraphrases by a model, so their changes are small and certain to
preserve the rest. Other edits replace the final answer in the last step. Code, tool calls, observations and file edits
stay unchanged.
"""

import re
from collections.abc import Callable, Sequence
from random import Random

import msgspec

from prm.answers import normalised
from prm.labels import problem_of, step_labels, without_labels
from prm.sandbox.mistakes import slip
from prm.traces import Step, Trace

Edit = Callable[[Trace, Random], Trace | None]

OPENINGS = {
    "So": "Therefore",
    "Therefore": "Hence",
    "Thus": "So",
    "Hence": "Thus",
    "Then": "After that",
    "Next": "After this",
    "Now": "At this point",
    "Here": "At this place",
    "First": "To begin with",
    "Firstly": "To begin with",
    "Second": "In the second place",
    "Third": "In the third place",
    "Finally": "At last",
}
WORDS = {
    "the answer is": "the final answer is",
    "The answer is": "The final answer is",
    "Together": "In total",
    "total of": "sum of",
    "is equal to": "equals",
    "we get": "we obtain",
    "comes to": "amounts to",
    "because": "since",
    "therefore": "hence",
}
LEADS = ("Now, ", "Next, ", "Well, ", "Here, ", "At this point, ")
LOWERED = {
    *("A", "All", "An", "At", "By", "For", "From", "In", "Inside", "Of", "On", "One", "Since", "That"),
    *("The", "There", "This", "To", "We", "With", "What"),
}
FILLERS = (
    "Let us carry on with the next part.",
    "We now look at what comes next.",
    "Having written this down, we proceed.",
    "There is more to do, so let us go on.",
)
PRAISE = (
    " This step is clearly correct.",
    " I have double-checked this and it is right.",
    " Therefore this is clearly correct, as any expert would agree.",
)
# Two numbers alone on the left of "=": after another operation they must not be swapped.
SUM_OR_PRODUCT = re.compile(
    r"(?<![\w.,)}^/*+×\\-])(?<![-+*/×^=)}] )(?<!times )(?<!div )(?<!cdot )(\d[\d.]*) (\+|\*|×|\\times) (\d[\d.]*)(?= =)"
)
RESULT = re.compile(r"=\s*\$?(-?\d[\d,]*)(?![\d.,]*\s*[-+*/×^\\(=a-zA-Z]*\s*=)(?!\.\d)(?!\s*[-+*/×^\\])")


def rephrase(trace: Trace, rng: Random) -> Trace | None:
    """Replace connectives and common phrases; a step without any begins with a filler word."""
    return _each_prose_step(trace, lambda text: _reworded(text, rng))


def renotate(trace: Trace, rng: Random) -> Trace | None:
    """Replace the signs for times and divided by, and swap two summands or factors."""

    def renotated(text: str) -> str:
        text = SUM_OR_PRODUCT.sub(r"\3 \2 \1", text)
        return text.replace(" * ", " × ").replace(r"\times", r"\cdot").replace(r"\div", "/")

    return _each_prose_step(trace, renotated)


def pad(trace: Trace, rng: Random) -> Trace | None:
    """Insert empty phrases as steps before a third of the steps, at least one; never after the last."""
    if not trace.steps:
        return None
    places = set(rng.sample(range(len(trace.steps)), max(1, len(trace.steps) // 3)))
    steps: list[Step] = []
    for place, step in enumerate(trace.steps):
        steps += [Step(rng.choice(FILLERS)), step] if place in places else [step]
    return without_labels(trace, steps)


def repeat(trace: Trace, rng: Random) -> Trace | None:
    """Repeat a right step of prose; None if none is known to be right."""
    places = right_prose(trace)
    if not places:
        return None
    place = rng.choice(places)
    return without_labels(trace, [*trace.steps[: place + 1], *trace.steps[place:]])


def praise(trace: Trace, rng: Random) -> Trace | None:
    """Add a remark to every step of prose that the step is right."""
    remark = rng.choice(PRAISE)
    return _each_prose_step(trace, lambda text: text + remark)


def enumerate_steps(trace: Trace, rng: Random) -> Trace | None:
    """Begin every step of prose with its number: "Step 3: "."""
    steps = [
        _rewritten(step, f"Step {number}: {step.text}") if step.is_prose else step
        for number, step in enumerate(trace.steps, start=1)
    ]
    return without_labels(trace, steps) if steps != trace.steps else None


def mark_up(trace: Trace, rng: Random) -> Trace | None:
    """Make every step of prose that begins with a word a Markdown list item, with this word in bold."""
    return _each_prose_step(trace, lambda text: re.sub(r"^[A-Za-z]+", r"- **\g<0>**", text))


def falsify(trace: Trace, rng: Random) -> tuple[Trace, int] | None:
    """Falsify the computed result of a right step, and return its position; None if no right step computes an integer.

    The result is the number after the last "=", so that the equation becomes false.
    """
    places = [place for place in right_prose(trace) if RESULT.search(trace.steps[place].text)]
    if not places:
        return None
    place = rng.choice(places)
    text = trace.steps[place].text
    result = list(RESULT.finditer(text))[-1]
    near = slip(int(result[1].replace(",", "")), rng)
    steps = list(trace.steps)
    steps[place] = _rewritten(steps[place], text[: result.start(1)] + str(near) + text[result.end(1) :])
    return without_labels(trace, steps), place


def with_problem(trace: Trace, problem: str) -> Trace:
    """The same solution under another problem's text."""
    return msgspec.structs.replace(trace, problem=problem)


def right_prose(trace: Trace) -> list[int]:
    """Positions of the steps of prose that are rated good, up to the first error."""
    places = []
    for place, (step, label) in enumerate(zip(trace.steps, step_labels(trace), strict=True)):
        if label is None or label.rating == -1:
            break
        if label.rating == 1 and step.is_prose:
            places.append(place)
    return places


def _each_prose_step(trace: Trace, change: Callable[[str], str]) -> Trace | None:
    """The trace with its prose changed; None if nothing changes."""
    steps = [_rewritten(step, change(step.text)) if step.is_prose else step for step in trace.steps]
    return without_labels(trace, steps) if steps != trace.steps else None


def _reworded(text: str, rng: Random) -> str:
    first, space, rest = text.partition(" ")
    word = first.rstrip(",")
    opening = OPENINGS.get(word, word)
    for phrase, other in WORDS.items():
        if phrase in rest:
            rest = rest.replace(phrase, other, 1)
            break
        if text.startswith(phrase):
            return other + text.removeprefix(phrase)
    changed = opening + first[len(word) :] + space + rest
    if changed != text:
        return changed
    return rng.choice(LEADS) + (text[:1].lower() + text[1:] if first in LOWERED else text)


def _rewritten(step: Step, text: str) -> Step:
    return msgspec.structs.replace(step, text=text)


Span = tuple[int, int]
BOXED = re.compile(r"\\boxed\{((?:[^{}]|\{[^{}]*\})*)\}")
NUMBER = re.compile(r"\\frac\{-?\d+\}\{\d+\}|-?\d+(?:,\d{3})*(?:\.\d+)?(?:/\d+)?")
WHOLE = re.compile(r"\d+(?!.*\d)")


def answer_span(text: str, answer: str | None = None) -> Span | None:
    """The position of the final answer: the last occurrence of `answer`, else the last box, else the last number."""
    places = list(re.finditer(rf"(?<![\d.]){re.escape(answer)}(?!\.?\d)", text)) if answer else []
    for matches in (places, list(BOXED.finditer(text)), list(NUMBER.finditer(text))):
        if matches:
            return matches[-1].span(matches[-1].lastindex or 0)
    return None


def right_answers(traces: Sequence[Trace]) -> dict[str, str]:
    """The right answer of each problem, if known: its reference, else the last answer of a right solution."""
    known: dict[str, str] = {}
    for trace in traces:
        if trace.reference_answer:
            known[problem_of(trace)] = trace.reference_answer
        elif trace.final_answer_correct and trace.steps and (span := answer_span(trace.steps[-1].text)):
            known.setdefault(problem_of(trace), trace.steps[-1].text[slice(*span)])
    return known


def with_wrong_answer(trace: Trace, rng: Random) -> Trace | None:
    """The same solution with the last number of its final answer slightly changed; None without a number."""
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
    """The same solution with its last box or number replaced by the right answer; None if neither fits."""
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
    return msgspec.structs.replace(trace, steps=[*trace.steps[:-1], _rewritten(trace.steps[-1], text)])
