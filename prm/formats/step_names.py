"""Maps another tool's names to steps and ratings, by a proposal that people can correct.

Other tools have one control per step, with the step's number in its name: `rating_0`, `rating_1` and so on. A pattern
names all of them, with "{}" for the number.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import msgspec

from prm.formats.labels import conclusion_of
from prm.formats.record import PathPosition, Rating, Record, RecordAnnotation, sampled
from prm.vocabulary import NO_ERROR, RATING_OF, GivenUp, Word

MEANINGS: dict[str, Word] = {
    **dict.fromkeys(("good", "correct", "right", "positive", "yes", "true", "valid", "ok", "1", "+1", "+"), "good"),
    **dict.fromkeys(("neutral", "0", "neither", "okay", "acceptable"), "neutral"),
    **dict.fromkeys(("bad", "wrong", "incorrect", "negative", "no", "false", "invalid", "error", "-1", "-"), "bad"),
    **dict.fromkeys(("unsure", "not sure", "unclear", "uncertain", "don't know", "cannot tell", "?"), "unsure"),
}
ENDINGS: dict[str, GivenUp] = {
    **dict.fromkeys(("gave up", "give up", "giveup"), "give_up"),
    **dict.fromkeys(("bad problem", "broken problem", "problem is wrong"), "bad_problem"),
}
PROBLEMS = ("problem", "question", "prompt", "task", "input", "query", "text")
STEPS = ("steps", "solution_steps", "cot_steps", "reasoning_steps", "completions", "reasoning", "utterances", "trace")
TEXTS = ("text", "content", "step", "action", "body")
ANSWERS = ("answer", "reference_answer", "ground_truth", "gold_answer")
WRITERS = ("generator", "model", "policy", "model_name")

_NUMBER = re.compile(r"\d+")


class StepNames(msgspec.Struct, forbid_unknown_fields=True):
    """The names of the parts of a solution and of its labels; empty for a part without a name.

    `words` is the meaning of each value of the rating; `first` is the number of the first step in the names.
    """

    problem: str = ""
    steps: str = ""
    step_text: str = ""
    rating: str = ""
    words: dict[str, Word] = {}
    first: int = 0
    comment: str = ""
    dimensions: list[str] = []
    answer: str = ""
    generator: str = ""
    id: str = ""


@dataclass
class Answers:
    """One person's answers to one task: values by control, the controls with texts, and what the import loses."""

    values: dict[str, list[Any]] = field(default_factory=dict)
    texts: set[str] = field(default_factory=set)
    left: list[str] = field(default_factory=list)


def pattern_of(name: str) -> tuple[str, int] | None:
    """`rating_{}` and 3 of "rating_3"; the last number in a name is the step's."""
    numbers = list(_NUMBER.finditer(name))
    if not numbers:
        return None
    last = numbers[-1]
    return name[: last.start()] + "{}" + name[last.end() :], int(last[0])


def propose_fields(data: Mapping[str, Any]) -> StepNames:
    """The names of the parts of a task's data, by their usual names."""
    lists = [name for name, value in data.items() if isinstance(value, list) and value]
    texts = [name for name, value in data.items() if isinstance(value, str)]
    steps = next((name for name in (*STEPS, *lists) if name in lists), "")
    first = data[steps][0] if steps else None
    return StepNames(
        problem=next((name for name in PROBLEMS if name in texts), ""),
        steps=steps,
        step_text=next((name for name in TEXTS if name in first), "") if isinstance(first, dict) else "",
        answer=next((name for name in ANSWERS if name in data), ""),
        generator=next((name for name in WRITERS if name in texts), ""),
        id="id" if "id" in data else "",
    )


def propose_controls(names: StepNames, controls: Mapping[str, Iterable[Any]], free: Iterable[str]) -> None:
    """Set the patterns of the rating, the comment and other dimensions. `controls` maps patterns to their values.

    The pattern with the most known words is the rating. `free` are the patterns of text controls.
    """
    values = {pattern: {_word(value) for value in words} for pattern, words in controls.items()}
    known = {pattern: len(words & set(MEANINGS)) for pattern, words in values.items()}
    rating = max(known, key=lambda pattern: known[pattern], default="")
    names.rating = rating if rating and known[rating] else ""
    if names.rating:
        names.words = {word: MEANINGS[word] for word in sorted(values[names.rating]) if word in MEANINGS}
    names.comment = next((pattern for pattern in free if "{}" in pattern), "")
    names.dimensions = [pattern for pattern in controls if "{}" in pattern and pattern != names.rating]


def solution_of(names: StepNames, data: Mapping[str, Any]) -> Record:
    """The task as a solution without labels. Raises ValueError naming what is missing."""
    problem, steps = data.get(names.problem), data.get(names.steps)
    if not isinstance(problem, str):
        raise ValueError(f"its data has no text '{names.problem}' for the problem")
    if not isinstance(steps, list | str):
        raise ValueError(f"its data has no list '{names.steps}' of steps")
    texts = [] if isinstance(steps, str) else [_step_text(names, number, step) for number, step in enumerate(steps)]
    return Record(
        problem=problem,
        positions=sampled(texts),
        solution_text=steps if isinstance(steps, str) else None,
        reference_answer=_text(data.get(names.answer)),
        generator=_text(data.get(names.generator)) or "",
        external_id=_text(data.get(names.id)) or "",
    )


def label_of(names: StepNames, answers: Answers, count: int, **fields: Any) -> RecordAnnotation | None:
    """The answers as a label of `count` steps, None if no step is rated. Adds what is lost to `answers.left`."""
    ratings: dict[int, Rating] = {}
    comments: dict[int, str] = {}
    dimensions: dict[int, dict[str, Any]] = {}
    finish: GivenUp | Literal[""] = ""
    note, others = "", {}
    for name, values in answers.values.items():
        pattern, number = pattern_of(name) or ("", 0)
        place = number - names.first
        mine = pattern in (names.rating, names.comment, *names.dimensions) and pattern
        if mine and not 0 <= place < count:
            answers.left.append(f"{name}: there is no step {number}")
        elif mine and pattern == names.rating:
            if rating := _rating(names, name, values, answers.left):
                ratings[place] = rating
        elif mine and pattern == names.comment:
            comments[place] = "\n".join(map(str, values))
        elif mine:
            dimensions.setdefault(place, {})[pattern.replace("{}", "").strip("_-. ")] = _one(values)
        elif ending := next((ENDINGS[_word(value)] for value in values if _word(value) in ENDINGS), None):
            finish = ending
        elif name in answers.texts:
            note = "\n".join(filter(None, (note, *map(str, values))))
        else:
            others[name] = _one(values)
    for place in comments.keys() | dimensions.keys():
        if place not in ratings:
            answers.left.append(f"step {place + names.first}: has a comment or a further rating, but no rating")
    if not ratings and not finish:
        return None
    for place, rating in ratings.items():
        rating.comment, rating.dimensions = comments.get(place, ""), dimensions.get(place, {})
    path = [
        PathPosition(k, chosen=0, ratings=[ratings[k]] if k in ratings else [])
        for k in range(max(ratings, default=-1) + 1)
    ]
    concluded, error = conclusion_of(path, count)
    if len(ratings) < count and error is None and not finish:
        answers.left.append(f"{count - len(ratings)} of {count} steps are not rated, so the first error is not known")
    return RecordAnnotation(
        finish_reason=finish or concluded,
        path=path,
        first_error=None if finish and error == NO_ERROR else error,
        comment=note,
        native={"other": others} if others else {},
        **fields,
    )


def _rating(names: StepNames, name: str, values: list[Any], left: list[str]) -> Rating | None:
    meaning = names.words.get(_word(_one(values)))
    if meaning is None:
        left.append(f"{name}: the value '{_one(values)}' has no meaning; add it to `words`")
        return None
    if meaning == "unsure":
        return Rating(0, "unsure")
    return Rating(0, "rated", rating=RATING_OF[meaning])


def _word(value: Any) -> str:
    return str(value).strip().lower()


def _one(values: list[Any]) -> Any:
    return values[0] if len(values) == 1 else values


def _step_text(names: StepNames, number: int, step: Any) -> str:
    if isinstance(step, str):
        return step
    text = step.get(names.step_text) if isinstance(step, dict) else None
    if not isinstance(text, str):
        raise ValueError(f"step {number + names.first} has no text '{names.step_text}'")
    return text


def _text(value: Any) -> str | None:
    return None if value is None or isinstance(value, dict | list) else str(value)
