"""The work: generated solutions of 4 to 16 steps, about 1.5 KB each, the same for both sides."""

import random
from functools import cache
from typing import Any

import msgspec

NAMES = {1: "good", 0: "neutral", -1: "bad"}  # the names of the ratings in `label_config.xml`
FEWEST_STEPS, MOST_STEPS = 4, 16
SAID = """
so we add both sides and find that the sum of all angles at this point equals what remains when every pair is counted
once which follows from the first line because each term divides the next one and nothing else is left
"""


class Solution(msgspec.Struct):
    """A problem with one solution. `wrong` is the position of the first wrong step, -1 for none."""

    number: int
    problem: str
    steps: list[str]
    wrong: int


def solution(number: int) -> Solution:
    """The solution with this number, always the same."""
    sentences = _sentences()
    size = FEWEST_STEPS + number * 7919 % (MOST_STEPS - FEWEST_STEPS + 1)
    steps = [
        f"{sentences[(number * 31 + place * 17) % len(sentences)]} $x_{{{place}}} = {number % 977 + place}$."
        for place in range(size)
    ]
    problem = f"The {_name(number)} club has {number + 3} members. {sentences[number % len(sentences)]}. How many?"
    return Solution(number, problem, steps, number % size if number % 3 == 0 else -1)


def score(number: int) -> float:
    """A model's score of a solution, from 0 to 1: all different, and unrelated to the numbers."""
    return number * 2_654_435_761 % 2**32 / 2**32


def ratings(one: Solution) -> list[int]:
    """The ratings of its steps: good up to the first wrong one, where the person stops."""
    return [1] * len(one.steps) if one.wrong < 0 else [1] * one.wrong + [-1]


def as_line(one: Solution, *, labelled: bool) -> bytes:
    """The solution in the format of our importer: plain, or with ratings as in PRM800K."""
    line = _prm800k(one) if labelled else {"id": str(one.number), "problem": one.problem, "steps": one.steps}
    return msgspec.json.encode(line) + b"\n"


def as_task(one: Solution, *, labelled: bool, scored: bool = False) -> dict[str, Any]:
    """The solution as a task of Label Studio."""
    task: dict[str, Any] = {
        "data": {"number": one.number, "problem": one.problem, "steps": [{"text": step} for step in one.steps]}
    }
    if labelled:
        task["annotations"] = [{"result": [choice(place, said) for place, said in enumerate(ratings(one))]}]
    if scored:
        task["predictions"] = [{"result": [], "score": score(one.number), "model_version": "one"}]
    return task


def choice(place: int, rating: int) -> dict[str, Any]:
    """The rating of one step in the format of Label Studio's page."""
    return {
        "id": f"step{place}",
        "type": "choices",
        "from_name": f"rating_{place}",
        "to_name": f"step_{place}",
        "value": {"choices": [NAMES[rating]]},
    }


def ratings_of(result: list[dict[str, Any]]) -> list[int]:
    """The ratings in an annotation's result, in the order of the steps."""
    said = {int(one["from_name"].removeprefix("rating_")): one["value"]["choices"] for one in result}
    values = {name: rating for rating, name in NAMES.items()}
    return [values[name] for _, (name,) in sorted(said.items())]


def _prm800k(one: Solution) -> dict[str, Any]:
    rated = [
        {
            "completions": [{"text": step, "rating": rating, "flagged": False}],
            "human_completion": None,
            "chosen_completion": 0 if rating > 0 else None,
        }
        for step, rating in zip(one.steps, ratings(one), strict=False)
    ]
    return {
        "labeler": "someone",
        "timestamp": "2026-01-02T03:04:05",
        "generation": None,
        "is_quality_control_question": False,
        "is_initial_screening_question": False,
        "question": {"problem": one.problem, "pre_generated_steps": one.steps},
        "label": {
            "steps": rated,
            "total_time": 60_000,
            "finish_reason": "solution" if one.wrong < 0 else "found_error",
        },
    }


@cache
def _sentences() -> list[str]:
    chance = random.Random(0)
    return [" ".join(chance.choices(SAID.split(), k=24)).capitalize() for _ in range(997)]


def _name(number: int) -> str:
    """Letters only, so that no two problems have the same template of their text."""
    letters = ""
    while True:
        number, place = divmod(number, 26)
        letters += chr(ord("a") + place)
        if not number:
            return letters
