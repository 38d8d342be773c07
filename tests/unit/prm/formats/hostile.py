"""The documented example of each format with one value after another replaced by what does not belong there."""

import json
import re
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[4] / "docs" / "reference" / "formats.md"
EXAMPLES = {
    name: re.sub(r"\n +", " ", text)
    for name, text in re.findall(
        r"^(\w+) +(\{.*(?:\n .*)*)", PAGE.read_text().partition("## An example")[2], re.MULTILINE
    )
}
# Known fields for which the page has no place, so that they are tried too.
FURTHER: dict[str, dict[str, Any]] = {
    "prm800k": {"timestamp": "2022-07-30T14:36:05", "generation": 9, "is_quality_control_question": False},
    "processbench": {"generator": "m", "note": {"a": [1]}},
    "prmbench": {"original_question": "q"},
    "mr_ben": {"Model_Solution_Correctness": "incorrect", "Ground_Truth_Analysis": "a"},
    "rlhflow": {"note": "n"},
    "trl": {"note": "n"},
    "messages": {"final_label": 1, "question": "q"},
    "who_and_when": {"question_ID": "1", "ground_truth": "a", "is_correct": False},
    "labels": {"kind": "human", "comment": "c", "page": 3},
    "plain": {
        "id": 1,
        "reference_solution": "r",
        "outcome_source": "given",
        "provenance": {"policy": "p", "temperature": 0.5, "seed": 1, "settings": {"top_p": 1}},
    },
    "records": {
        "source_group": "g",
        "split": "pool",
        "reference_answer": "4",
        "provenance": {"policy": "p", "temperature": 0.5},
        "outcome_source": "given",
        "final_answer_correct": False,
        "consensus": [{"position": 0, "alternative": 0, "good": 1.0, "neutral": 0.0, "bad": 0.0, "votes": 1}],
    },
    "swe_agent": {
        "instance_id": "i",
        "environment": "e",
        "problem_statement": "p",
        "replay_config": {"agent": {"model": {"name": "m", "temperature": 0.0}}, "problem_statement": {"id": "i"}},
    },
    "table": {"model": "m", "temperature": 0.5, "seed": 1, "outcome_source": "given"},
}
_PLACE = "\x1ahere\x1a"
# As JSON: numbers that no float or 64-bit integer holds, and texts that no encoder of ours would write, are meant.
VALUES = {
    "null": "null",
    "yes": "true",
    "number": "7",
    "below": "-2",
    "share": "0.5",
    "beyond 64 bits": "9" * 30,
    "beyond what is printed": "9" * 5000,
    "beyond floats": "1e999",
    "largest of floats": "1.7e308",
    "not a number": "NaN",
    "text": '"odd"',
    "empty": '""',
    "blank": '" "',
    "digits": f'"{"9" * 5000}"',
    "other digits": '"\\u00b2\\u0663"',
    "NUL": '"a\\u0000b"',
    "half a character": '"\\ud83d"',
    "before any day": '"0001-01-01T00:00:00+23:00"',
    "formula": '"=1+1"',
    "list": "[]",
    "list of lists": "[[[]]]",
    "list of null": "[null]",
    "object": "{}",
    "odd object": '{"": {"\\u0001": [null, 1e5]}}',
    "object of NUL": '{"\\u0000": 1}',
    "nested": "[" * 300 + "]" * 300,
    "nearly too nested": "[" * 940 + "]" * 940,
    "nested far": "[" * 10_000 + "]" * 10_000,
}

KEYS = {kind: VALUES[kind] for kind in ("empty", "digits", "other digits", "NUL", "text")}


def example(name: str) -> dict[str, Any]:
    """The example of a format with every field that it knows."""
    found: dict[str, Any] = json.loads(EXAMPLES[name]) | FURTHER.get(name, {})
    return found


def spoilt(name: str, values: dict[str, str] = VALUES) -> Iterator[tuple[str, bytes]]:
    """(what was done, line): each value of an example at every depth in the place of each other one, or gone."""
    whole = example(name) | {"unheard of": 0}
    for place in _places(whole):
        told = "".join(f"[{key!r}]" for key in place)
        line = json.dumps(_with(whole, place, _PLACE), ensure_ascii=True)
        for kind, value in values.items():
            yield f"{told} = {kind}", line.replace(json.dumps(_PLACE), value).encode()
        if place:
            yield f"{told} is gone", json.dumps(_without(whole, place)).encode()
        if place and isinstance(place[-1], str):
            for kind, key in KEYS.items():
                beside = _with(whole, (*place[:-1], _PLACE), _at(whole, place))
                line = json.dumps(_without(beside, place), ensure_ascii=True)
                yield f"{told} as key {kind}", line.replace(json.dumps(_PLACE), key).encode()


def _places(value: Any) -> Iterator[tuple[Any, ...]]:
    yield ()
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in inner:
        yield from ((key, *rest) for rest in _places(part))


def _with(whole: Any, place: tuple[Any, ...], value: Any) -> Any:
    if not place:
        return value
    changed = deepcopy(whole)
    _at(changed, place[:-1])[place[-1]] = value
    return changed


def _without(whole: Any, place: tuple[Any, ...]) -> Any:
    changed = deepcopy(whole)
    del _at(changed, place[:-1])[place[-1]]
    return changed


def _at(value: Any, place: tuple[Any, ...]) -> Any:
    for key in place:
        value = value[key]
    return value
