"""Reads the verdict in a judge's reply. Pure.

A reply may explain before the verdict, repeat the example of the prompt, or wrap JSON in a fence. The last verdict
counts, because judges reason before they decide. A reply that ended at the token limit has none: its last verdict may
be the prompt's example. Steps are numbered from 0, as the prompts say.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from prm.messages import Message
from prm.vocabulary import NO_ERROR

BOXED = re.compile(r"\\boxed\s*\{\s*(?:\\text\s*\{)?\s*([-−–]?\s*\d{1,6})\s*\}")
THOUGHT = "</think>"
OBJECT = re.compile(r'\{\s*"')
MOST_OBJECTS = 20_000  # looked at, from the end
LONGEST_REASON = 2000
RATINGS = (1, 0, -1)


class Unreadable(Exception):
    """A reply without a verdict; `fault` says why."""

    def __init__(self, fault: Message) -> None:
        super().__init__(fault)
        self.fault = fault


@dataclass(frozen=True)
class Verdict:
    """The ratings of the first steps, with the reason for some of them. Steps after a first error may be unrated."""

    ratings: Sequence[int | None]
    reasons: Mapping[int, str] = field(default_factory=dict)

    @property
    def first_error(self) -> int:
        """The first step rated -1; -1 for none."""
        return next((number for number, rating in enumerate(self.ratings) if rating == -1), NO_ERROR)


def read_verdict(template: str, reply: str, *, steps: int, cut: bool = False, neutral: bool = True) -> Verdict:
    """The verdict on `steps` steps; `cut` says that the reply ended at the token limit. Raises Unreadable.

    Without `neutral`, the project has no rating 0.
    """
    if cut:
        raise Unreadable(Message("reply_cut"))
    text = _without_thought(reply)
    if not text.strip():
        raise Unreadable(Message("reply_empty"))
    verdict = _READERS[template](text, steps)
    if not neutral and 0 in verdict.ratings:
        raise Unreadable(Message("reply_rates_neutral"))
    return verdict


def _first_error(text: str, steps: int) -> Verdict:
    places: list[tuple[int, Any]] = [(match.end(), match[1]) for match in BOXED.finditer(text)]
    places += [(end, value["first_error"]) for end, value in _objects(text) if "first_error" in value]
    if not places:
        raise Unreadable(Message("reply_without_verdict"))
    return _verdict_at(max(places, key=lambda place: place[0])[1], steps)


def _every_step(text: str, steps: int) -> Verdict:
    return Verdict(_ratings(_last(text, "ratings"), steps))


def _critic(text: str, steps: int) -> Verdict:
    return _critique(_last(text, "steps"), steps)


_READERS = {"first_error": _first_error, "every_step": _every_step, "critic": _critic}


def _verdict_at(value: Any, steps: int) -> Verdict:
    index = _number(re.sub(r"[−–]", "-", value).replace(" ", "") if isinstance(value, str) else value)
    if index is None:
        raise Unreadable(Message("reply_without_verdict"))
    if not NO_ERROR <= index < steps:
        raise Unreadable(Message("reply_step_out_of_range", index=index, last=steps - 1))
    return Verdict([1] * steps if index == NO_ERROR else [1] * index + [-1])


def _ratings(values: Any, steps: int) -> list[int]:
    if not isinstance(values, list) or len(values) != steps:
        raise Unreadable(
            Message(
                "reply_step_count_differs",
                n=len(values) if isinstance(values, list) else 0,
                steps=Message("n_steps", n=steps),
            )
        )
    return [_rating(value, number) for number, value in enumerate(values)]


def _rating(value: Any, number: int) -> int:
    rating = _number(value)
    if rating not in RATINGS:
        raise Unreadable(Message("reply_rating_unknown", number=number, value=str(value)[:40]))
    return rating


def _critique(entries: Any, steps: int) -> Verdict:
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise Unreadable(Message("reply_without_verdict"))
    numbers = [_number(entry.get("step")) for entry in entries]
    if numbers != [*range(steps)]:
        raise Unreadable(Message("reply_step_count_differs", n=len(entries), steps=Message("n_steps", n=steps)))
    ratings = [_rating(entry.get("rating"), number) for number, entry in enumerate(entries)]
    reasons = {number: str(entry.get("reason") or "").strip() for number, entry in enumerate(entries)}
    for number, rating in enumerate(ratings):
        if rating == -1 and not reasons[number]:
            raise Unreadable(Message("reply_without_reason", number=number))
    return Verdict(ratings, {number: storable(reason)[:LONGEST_REASON] for number, reason in reasons.items() if reason})


def _number(value: Any) -> int | None:
    """A whole number, also as a text; None for anything else."""
    if isinstance(value, str) and re.fullmatch(r"[-+]?\d{1,6}", value.strip()):
        return int(value)
    return value if type(value) is int else None


def storable(text: str) -> str:
    """The text without NULs and half surrogate pairs, which the database cannot store."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()


def _without_thought(reply: str) -> str:
    """What follows the hidden reasoning; "" if the reply ended inside it."""
    *_thought, answer = reply.rpartition(THOUGHT)
    return "" if answer.lstrip().startswith("<think>") else answer


def _last(text: str, key: str) -> Any:
    """The value under the key in the last JSON object that has it. Raises Unreadable."""
    for _end, value in _objects(text):
        if key in value:
            return value[key]
    raise Unreadable(Message("reply_without_verdict"))


def _objects(text: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """The JSON objects in the text with the place where each ends, the last one first."""
    decoder = json.JSONDecoder()
    for match in [*OBJECT.finditer(text)][: -MOST_OBJECTS - 1 : -1]:
        try:
            value, end = decoder.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            continue
        yield end, value
