"""Encodes traces as token ids. Steps are tokenised separately, so a step's ids never depend on later steps."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any

from prm.config import Template
from prm.errors import DataError, ModelFileError
from prm.messages import Message
from prm.traces import Step, Trace

# Image data means nothing to a text model and would fill its context.
IMAGE_DATA = re.compile(r"(!\[[^\]\n]*\]\(data:image/[\w.+-]+);base64,[^)\s]*\)")
LED_BY_KIND = re.compile(r"\[(plan|tool_call|observation|edit|answer)\] ")


def render_step(step: Step) -> str:
    """The step's text, preceded by its kind unless it is reasoning: "[tool_call] search(...)".

    Pretraining, training and scoring share this rule. Of an image's data only its type remains.
    """
    text = IMAGE_DATA.sub(r"\1)", step.text) if "](data:" in step.text else step.text
    return text if step.kind == "reasoning" else f"[{step.kind}] {text}"


def parse_step(text: str) -> Step:
    """The step that `render_step` renders as this text."""
    kind = LED_BY_KIND.match(text)
    return Step(text[kind.end() :], kind[1]) if kind else Step(text)


PROBLEM_TOKEN = "<problem>"
STEP_TOKEN = "<step>"
TEXT_SEPARATOR = "\n\n"
_TOKENISING = Lock()  # a fast tokenizer fails in a second thread while one of its settings is being written


@dataclass(frozen=True, slots=True)
class Layout:
    """Ids before the problem, after it, after each step, and between two steps, the same in training and scoring."""

    start: tuple[int, ...]
    problem_end: tuple[int, ...]
    step_end: tuple[int, ...]
    between: tuple[int, ...] = ()

    @classmethod
    def of(cls, tokenizer: Any, *, template: Template = "plain", system: str = "", separator: str = "") -> "Layout":
        """The layout of `TrainConfig`'s `template`, `system_prompt` and `separator`.

        Without a separator, a step ends with its special token if the vocabulary has one, else with a blank line.
        Raises ModelFileError if the tokenizer has no such template, or no token for the separator.
        """
        known = tokenizer.get_vocab()
        special = PROBLEM_TOKEN in known and STEP_TOKEN in known
        text = separator or (STEP_TOKEN if special else TEXT_SEPARATOR)
        step_end = token_ids(tokenizer, text)
        if not step_end:
            raise ModelFileError(Message("separator_without_token", separator=text))
        if template == "chat":
            start, problem_end = _around_problem(tokenizer, system)
            return cls(start, problem_end, step_end)
        start = () if tokenizer.bos_token_id is None else (tokenizer.bos_token_id,)
        return cls(start, token_ids(tokenizer, PROBLEM_TOKEN if special else TEXT_SEPARATOR), step_end)


def token_ids(tokenizer: Any, text: str) -> tuple[int, ...]:
    return tuple(tokenizer(text, add_special_tokens=False)["input_ids"])


def _around_problem(tokenizer: Any, system: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The ids before the problem and between it and the steps, in the tokenizer's chat template.

    The problem is the user's message and the steps are the assistant's.
    """
    problem, steps = "\ue000problem\ue000", "\ue000steps\ue000"
    messages = [{"role": "system", "content": system}] if system else []
    messages += [{"role": "user", "content": problem}, {"role": "assistant", "content": steps}]
    try:
        text = tokenizer.apply_chat_template(messages, tokenize=False)
    except Exception as error:  # no template, or one that rejects a role: Jinja's own errors
        raise ModelFileError(Message("chat_template_unusable", error=str(error).partition("\n")[0])) from None
    before, found, rest = text.partition(problem)
    between, also_found, _ = rest.partition(steps)
    if not found or not also_found:
        raise ModelFileError(Message("chat_template_unusable", error=Message("chat_template_drops_messages")))
    return token_ids(tokenizer, before), token_ids(tokenizer, between)


@dataclass(frozen=True, slots=True)
class Encoded:
    """One trace: its ids, and the [start, end) of each step that fits, including the separator.

    `n_steps` counts all steps of the trace; those beyond `len(spans)` do not fit and are not scored.
    """

    ids: tuple[int, ...]
    spans: tuple[tuple[int, int], ...]
    n_steps: int


Pieces = list[list[int]]  # one trace's token ids: the problem, then each step


def encode(traces: Sequence[Trace], tokenizer: Any, layout: Layout, context: int) -> list[Encoded]:
    """Encode traces; the ids stop after the last step that fits `context` tokens."""
    return [lay_out(pieces, layout, context) for pieces in tokenise(traces, tokenizer)]


def tokenise(traces: Sequence[Trace], tokenizer: Any) -> list[Pieces]:
    """Token ids of each trace's problem and of each of its steps, without separators.

    Text that spells a special token is split like any other text, so no step can forge a separator.
    """
    texts = [text for trace in traces for text in (trace.problem, *map(render_step, trace.steps))]
    if not texts:
        return []
    try:
        with _TOKENISING:
            tokens = tokenizer(texts, add_special_tokens=False, split_special_tokens=True, verbose=False)
    except (TypeError, UnicodeEncodeError) as error:
        raise _unreadable(traces) or error from error
    pieces = iter(tokens["input_ids"])
    return [[next(pieces) for _ in range(1 + len(trace.steps))] for trace in traces]


def _unreadable(traces: Sequence[Trace]) -> DataError | None:
    """The error that names the first solution with half a surrogate pair; None if there is none."""
    for trace in traces:
        for place, text in enumerate((trace.problem, *map(render_step, trace.steps))):
            try:
                text.encode()
            except UnicodeEncodeError:
                where = Message("step_number", n=place) if place else Message("the_problem")
                return DataError(Message("half_surrogate_in_solution", id=trace.id, where=where))
    return None


def lay_out(pieces: Pieces, layout: Layout, context: int) -> Encoded:
    """Problem and steps with their separators, up to the last step that fits `context` tokens."""
    problem, *steps = pieces
    ids = [*layout.start, *problem, *layout.problem_end]
    spans: list[tuple[int, int]] = []
    for step in steps:
        start = len(ids) + (len(layout.between) if spans else 0)
        end = start + len(step) + len(layout.step_end)
        if end > context:
            break
        ids += [*(layout.between if spans else ()), *step, *layout.step_end]
        spans.append((start, end))
    return Encoded(tuple(ids) if spans else (), tuple(spans), len(steps))
