"""Splits the text of an agent run at its turns: thoughts, tool calls, observations and the answer.

Two notations are known, also mixed. ReAct (Yao et al. 2023) names each turn at the beginning of a line: `Thought:`,
`Action:`, `Observation:`, `Final Answer:`, also with numbers ("Thought 2:"). In XML, calls and results are elements:
`<tool_call>` (Hermes, Qwen), `<function=search>` (Llama), `<search>` (Search-R1). Marks in code are text.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from prm.splitting.automatic import LONGEST, automatic
from prm.splitting.cutting import Text
from prm.vocabulary import StepKind

_NAMES: dict[str, StepKind] = {
    "thought": "reasoning",
    "plan": "plan",
    "action": "tool_call",
    "observation": "observation",
    "api output": "observation",  # tau-bench
    "tool output": "observation",
    "user": "observation",
    "final answer": "answer",
    "answer": "answer",
}
_CALL = r"tool_calls?|tool_use|function_calls?|function=[\w.-]+"
_RESULT = r"(?:tool|function)_(?:response|result|output)s?"
# Elements whose names are also ordinary words count only with their closing tag, and calls only beside a result.
_CLOSED_CALL = r"search|invoke|execute_\w+"
_CLOSED_RESULT = r"information|observation|results?"
_MARK = re.compile(
    r"^[ \t]*(?P<fence>```+|~~~+)[^\n]*$"
    r"|(?P<code>`[^`\n]+`)"
    rf"|^[ \t]*(?:[#*_>]+[ \t]*)?(?P<name>{'|'.join(_NAMES)})(?:[ \t]*\d+)?[ \t]*[*_]*:[*_]*(?P<body>[ \t]*)"
    rf"|<(?P<tag>(?P<call>{_CALL})|(?P<result>{_RESULT})|(?P<closed_call>{_CLOSED_CALL})"
    rf"|(?P<closed_result>{_CLOSED_RESULT})|(?P<answer>answer))(?:\s[^<>]*)?>",
    re.IGNORECASE | re.MULTILINE,
)
_FENCE_END = re.compile(r"^[ \t]*(```+|~~~+)[ \t]*\r?$", re.MULTILINE)
_FINISH = re.compile(r"\s*finish\b", re.IGNORECASE)
_REPLY = re.compile(r"\s*\{\s*\"name\":\s*\"respond\"")  # tau-bench: a message to the user instead of a call


@dataclass(frozen=True)
class Turn:
    """A part of a run from `start` up to `end`; `names` is the mark that names it, empty if its kind is inferred."""

    start: int
    end: int
    kind: StepKind
    names: str = ""


@dataclass(frozen=True)
class _Mark:
    """The beginning of a turn. `end` is that of an element, None if the turn continues to the next mark."""

    start: int
    end: int | None
    kind: StepKind
    names: str


def turns_of(text: str, breaks: Iterable[int] = ()) -> list[Turn]:
    """The turns of a text without surrounding white space, none of which spans one of the `breaks`.

    Empty unless the text is a run with a tool call.
    """
    marks = list(_marks(text))
    if not _is_run(marks):
        return []
    at = {mark.start: mark for mark in marks}
    ends = {mark.end for mark in marks if mark.end is not None}
    whole, turns = Text(text), list[Turn]()
    for bounds in pairwise(sorted({0, len(text), *at, *ends, *breaks})):
        start, end = whole.trimmed(bounds)
        mark = at.get(bounds[0])
        if start < end:
            turns.append(Turn(start, end, mark.kind if mark else "reasoning", mark.names if mark else ""))
    turns = _joined(text, turns)
    last = turns[-1]
    if last.names == "respond" or (not last.names and len(turns) > 1 and turns[-2].kind == "observation"):
        turns[-1] = replace(last, kind="answer")
    return [part for turn in turns for part in _parts(text, turn)]


def _is_run(marks: list[_Mark]) -> bool:
    calls = [mark for mark in marks if mark.kind == "tool_call"]
    beside = any(mark.kind == "observation" or mark.names == "thought" for mark in marks)
    return bool(calls) and (beside or any(mark.names == "call" for mark in calls))


def _marks(text: str) -> Iterator[_Mark]:
    """The marks in order, outside of code and of the elements before them."""
    at = 0
    closings: dict[str, int] = {}
    while mark := _MARK.search(text, at):
        at = mark.end()
        if mark["fence"]:
            at = max(at, _end_of_fence(text, at, mark["fence"], closings))
        elif mark["name"]:
            yield _named(text, mark)
        elif mark["tag"]:
            end = _end_of_element(text, mark, closings)
            if end >= 0 or mark["call"] or mark["result"] or mark["answer"]:
                names = next(
                    name for name in ("call", "result", "closed_call", "closed_result", "answer") if mark[name]
                )
                kind: StepKind = "tool_call" if "call" in names else "observation" if "result" in names else "answer"
                yield _Mark(mark.start(), end if end >= 0 else None, kind, names)
                at = max(at, end)


def _named(text: str, mark: re.Match[str]) -> _Mark:
    name = mark["name"].casefold()
    kind = _NAMES[name]
    if name == "action" and _FINISH.match(text, mark.end()):
        kind = "answer"
    elif name == "action" and _REPLY.match(text, mark.end()):
        name, kind = "respond", "reasoning"
    return _Mark(mark.start(), None, kind, name)


def _end_of_element(text: str, opening: re.Match[str], closings: dict[str, int]) -> int:
    """The end of an element, -1 if it is not closed before a call follows a result or a result follows a call."""
    closing = f"</{opening['tag'].partition('=')[0]}>"
    if closings.get(closing, 0) != -1 and closings.get(closing, 0) < opening.end():
        closings[closing] = text.find(closing, opening.end())
    close = closings[closing]
    return -1 if close < 0 or _other_begins(text, opening, close) else close + len(closing)


def _other_begins(text: str, opening: re.Match[str], close: int) -> bool:
    other = "result" if opening["call"] else "call" if opening["result"] else ""
    if not other:
        return False
    at = opening.end()
    while inner := _MARK.search(text, at, close):
        if inner[other]:
            return True
        at = inner.end()
    return False


def _end_of_fence(text: str, start: int, fence: str, closings: dict[str, int]) -> int:
    """The end of a code block, -1 if it is never closed."""
    if closings.get(fence) == -1:
        return -1
    closing = next((line for line in _FENCE_END.finditer(text, start) if line[1].startswith(fence)), None)
    closings[fence] = closing.end() if closing else -1
    return closings[fence]


def _joined(text: str, turns: list[Turn]) -> list[Turn]:
    """The turns, with calls made together joined, and a name without content ("Action:") joined to its element."""
    joined: list[Turn] = []
    for turn in turns:
        before = joined[-1] if joined else None
        if (
            before
            and before.names in _NAMES
            and _MARK.fullmatch(text, before.start, before.end)
            and "<" in text[turn.start]
        ):
            joined[-1] = replace(turn, start=before.start)
        elif before and before.names == turn.names == "call":
            joined[-1] = replace(before, end=turn.end)
        else:
            joined.append(turn)
    return joined


def _parts(text: str, turn: Turn) -> list[Turn]:
    """The turn, divided if it is a thought longer than one step should be."""
    if turn.kind != "reasoning" or turn.end - turn.start <= LONGEST:
        return [turn]
    _, spans = automatic(Text(text[turn.start : turn.end]))
    return [replace(turn, start=turn.start + start, end=turn.start + end) for start, end in spans]
