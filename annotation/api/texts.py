"""Solutions as programs send them for scoring: a problem with steps, or an OpenAI-style chat."""

from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, UnsetType

from annotation.core.bounds import NonBlank, about, invalid, one_of
from annotation.loop.gateway.serving_model import Text
from prm.faults import sentence_of
from prm.formats.messages import record_of
from prm.formats.reading import Unreadable
from prm.messages import Message
from prm.splitting import RULES, Splitting, Thinking
from prm.vocabulary import StepKind

MOST_SOLUTIONS, MOST_STEPS = 64, 512
LONGEST_SCORED_TEXT = 100_000

LongText = Annotated[str, Meta(min_length=1, max_length=LONGEST_SCORED_TEXT)]


class StepToScore(msgspec.Struct):
    """One step. Its kind distinguishes a tool's output from reasoning."""

    text: LongText
    kind: Annotated[StepKind, about("The kind of step.")] = "reasoning"


AnyStep = LongText | StepToScore  # a plain text is a step of reasoning


class SolutionToScore(msgspec.Struct, kw_only=True):
    """A solution: `problem` with `steps`, `problem` with an undivided `text`, or `messages`."""

    problem: LongText | UnsetType = UNSET
    steps: Annotated[
        Annotated[list[AnyStep], Meta(min_length=1, max_length=MOST_STEPS)] | UnsetType, about("The steps, in order.")
    ] = UNSET
    text: Annotated[
        Annotated[NonBlank, Meta(max_length=LONGEST_SCORED_TEXT)] | UnsetType,
        about("An undivided solution, which `decomposition` splits into steps."),
    ] = UNSET
    messages: Annotated[
        Annotated[list[dict[str, Any]], Meta(min_length=2, max_length=MOST_STEPS + 1)] | UnsetType,
        Meta(
            description="An OpenAI chat. The first user message is the problem. A single answer is split by "
            "`decomposition`; in a longer run, every later message is one step."
        ),
    ] = UNSET
    decomposition: Annotated[str, one_of(RULES)] = "blank_lines"
    thinking: Annotated[
        Thinking, about("Hidden reasoning (`<think>…</think>`) in a text: scored as steps only with `keep`.")
    ] = "drop"

    def as_text(self, place: str = "") -> Text:
        """The text to score. `place` is its place in the request. Raises DomainError (`invalid`)."""
        ways = [way for way in (self.steps, self.text, self.messages) if way is not UNSET]
        if len(ways) != 1 or (self.problem is UNSET) == (self.messages is UNSET):
            raise invalid(place, Message("text_form_ambiguous"))
        text = self._text(f"{place}.messages".lstrip("."))
        if not 1 <= len(text.steps) <= MOST_STEPS:
            raise invalid(place, Message("steps_at_once_out_of_range", n=len(text.steps), most=MOST_STEPS))
        return text

    def _text(self, place: str) -> Text:
        splitting = Splitting(self.decomposition, self.thinking)
        if self.problem is UNSET:
            return self._of_messages(splitting, place)
        if self.steps is UNSET:
            return Text(self.problem, _divided(str(self.text).strip(), splitting))
        return Text(self.problem, steps_of(self.steps))

    def _of_messages(self, splitting: Splitting, place: str) -> Text:
        messages: list[dict[str, Any]] = self.messages or []
        try:
            record = record_of({"messages": messages})
        except msgspec.ValidationError as error:
            raise invalid(place, sentence_of(error)) from None
        except Unreadable as error:
            raise invalid(place, error.reason) from None
        steps = tuple((at[0].text, at[0].kind) for at in record.positions)
        texts = [record.problem, record.solution_text or "", *(text for text, _kind in steps)]
        if any(len(text) > LONGEST_SCORED_TEXT for text in texts):
            raise invalid(place, Message("message_too_long", n=LONGEST_SCORED_TEXT))
        if record.solution_text is not None:
            return Text(record.problem, _divided(record.solution_text, splitting))
        return Text(record.problem, steps)


def steps_of(steps: list[AnyStep]) -> tuple[tuple[str, str], ...]:
    """Text and kind of each step."""
    return tuple((one, "reasoning") if isinstance(one, str) else (one.text, one.kind) for one in steps)


def _divided(text: str, splitting: Splitting) -> tuple[tuple[str, str], ...]:
    split = splitting.split(text)
    return tuple(zip(split.steps, split.kinds, strict=True))
