"""Labels in files: a rating for every step, or only the position of the first error."""

import re
from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import Any, NamedTuple

from prm.formats.path import Taken, agreed_path, agreed_rating, taken_path
from prm.formats.reading import Unreadable
from prm.formats.record import PathPosition, Rating, Record, RecordAnnotation
from prm.messages import Message
from prm.vocabulary import NO_ERROR, FinishReason, NeutralPolicy, SourceKind, StepKind

_INDEX = re.compile(r"\s*[0-9]{1,9}\s*")


def rated_label(
    ratings: Sequence[int | None],
    *,
    kind: SourceKind,
    name: str,
    kinds: Sequence[StepKind] = (),
    native: dict[str, Any] | None = None,
) -> RecordAnnotation:
    """A label with one rating per step of the sampled path; None means that the file does not rate the step."""
    path = [
        PathPosition(position, chosen=0, ratings=[] if rating is None else [Rating(0, "rated", rating=rating)])
        for position, rating in enumerate(ratings)
    ]
    finish, error = conclusion_of(path, len(ratings), kinds=kinds)
    return RecordAnnotation(
        source_kind=kind,
        source_name=name,
        finish_reason=finish,
        path=path,
        first_error=error,
        native=native or {},
    )


def conclusion_of(
    path: Iterable[PathPosition], count: int, *, kinds: Sequence[StepKind] = ()
) -> tuple[FinishReason, int | None]:
    """The finish reason and first error that ratings of the `count` sampled steps support.

    Nobody is expected to rate an observation; `kinds` names the kind of each step. An unrated step of another kind
    may be wrong. Before the first step rated -1 it leaves the first error unknown (None). Without such a step the
    label counts as given up, because only a fully rated solution is known to have no error.
    """
    rated = {place.position: place.ratings[0].rating for place in path if place.ratings}
    expected = (position for position, kind in zip_longest(range(count), kinds) if kind != "observation")
    unrated = [position for position in expected if position not in rated]
    bad = min((position for position, rating in rated.items() if rating == -1), default=None)
    if bad is not None:
        return "found_error", None if any(position < bad for position in unrated) else bad
    return ("give_up", None) if unrated else ("solution", NO_ERROR)


def annotator_in(line: dict[str, Any], format: str) -> str:
    """The name under `annotator` in a line; the name of the format if the line names nobody. Raises Unreadable."""
    name = line.get("annotator")
    if name is None or name == "":
        return format
    if isinstance(name, bool) or not isinstance(name, str | int):
        raise Unreadable("annotator", Message("annotator_not_text"))
    return str(name)


def index_in(text: str) -> int | None:
    """The index in a text; None for any other text."""
    return int(text) if _INDEX.fullmatch(text) else None


def index_label(error: int, count: int, *, field: str, kind: SourceKind, name: str) -> RecordAnnotation:
    """The label of `count` steps with the first error at `error` (0-based, -1 for none).

    The steps before it are right and those after it are unrated. Raises Unreadable naming `field` if there is no such
    step, and naming `steps` if there are none.
    """
    if not NO_ERROR <= error < count:
        if not count:
            raise Unreadable("steps", Message("no_steps"))
        raise Unreadable(field, Message("step_index_invalid", error=error, last=count - 1))
    ratings = [1] * count if error == NO_ERROR else [1] * error + [-1]
    annotation = rated_label(ratings, kind=kind, name=name)
    if error != NO_ERROR:
        annotation.path[-1].chosen = None  # the label ends with the first error
    return annotation


def label_to_write(record: Record) -> RecordAnnotation | None:
    """The label for a format with one: the only one, or what several agree on; None without labels."""
    if len(record.annotations) == 1:
        return record.annotations[0]
    return _agreed_label(record) if record.annotations else None


def _agreed_label(record: Record) -> RecordAnnotation:
    """The agreed ratings along the agreed path, up to the first error."""
    path: list[PathPosition] = []
    error, all_rated = NO_ERROR, True
    for step in agreed_path(record.annotations):
        rating = agreed_rating(record, step)
        rated = step.alternative is not None and rating is not None
        ratings = [Rating(step.alternative or 0, "rated", rating=rating)] if rated else []
        path.append(PathPosition(step.position, chosen=step.alternative, own_text=step.own_text, ratings=ratings))
        if rating == -1:
            error = step.position
            break
        all_rated = all_rated and (rated or _is_observation(record, step))
    finish: FinishReason = "found_error" if error != NO_ERROR else "give_up"
    if error == NO_ERROR and all_rated and any(label.first_error == NO_ERROR for label in record.annotations):
        finish = "solution"
    known = all_rated and finish != "give_up"
    return RecordAnnotation("consensus", finish, path, first_error=error if known else None)


def _is_observation(record: Record, step: Taken) -> bool:
    return step.alternative is not None and record.positions[step.position][step.alternative].kind == "observation"


def step_ratings(annotation: RecordAnnotation, count: int) -> list[int | None]:
    """The rating of the first completion at each of `count` positions, None if it is unrated."""
    ratings: list[int | None] = [None] * count
    for place in annotation.path:
        for rating in place.ratings:
            if rating.alternative == 0 and place.position < count:
                ratings[place.position] = rating.rating
    return ratings


class Step(NamedTuple):
    """A step as written by a format with one completion per position; the labeller wrote an `own` one."""

    position: int
    text: str
    kind: StepKind
    rating: int | None
    own: bool = False


def steps_along(record: Record, label: RecordAnnotation | None) -> list[Step]:
    """The steps along a label's path with their ratings, and the sampled step at positions without a choice."""
    taken = {step.position: step for step in taken_path(label.finish_reason, label.path)} if label else {}
    sampled = step_ratings(label, len(record.positions)) if label else [None] * len(record.positions)
    steps = []
    for position, completions in enumerate(record.positions):
        step = taken.get(position)
        if step is not None and step.alternative is None:
            steps.append(Step(position, step.own_text or "", "reasoning", None, own=True))
        elif step is not None and step.alternative:
            completion = completions[step.alternative]
            rating = step.rating.rating if step.rating else None
            steps.append(Step(position, completion.text, completion.kind, rating))
        elif completions:
            steps.append(Step(position, completions[0].text, completions[0].kind, sampled[position]))
    return steps


def error_along(record: Record, label: RecordAnnotation) -> tuple[list[str], int]:
    """The texts of the steps along a label's path, and the index of its first error among them, NO_ERROR for none.

    The index differs from the position if an earlier position has no step. The first error must be known.
    """
    along = steps_along(record, label)
    texts, positions = [step.text for step in along], [step.position for step in along]
    return texts, NO_ERROR if label.first_error == NO_ERROR else positions.index(label.first_error or 0)


class RatedSteps(NamedTuple):
    """The first steps along a label's path, each good or not, and why they end early: empty if they do not.

    A label that ends with its first error does not end early.
    """

    texts: list[str]
    good: list[bool]
    ends: str


def rated_along(record: Record, label: RecordAnnotation, neutral: NeutralPolicy) -> RatedSteps:
    """The steps along a label's path, up to the first that is neither good nor bad."""
    along = steps_along(record, label)
    classes = {1: True, 0: None if neutral == "drop" else neutral == "positive", -1: False, None: None}
    count = next((k for k, step in enumerate(along) if classes[step.rating] is None), len(along))
    ends = "" if along else "no_path"
    if count < len(along) and all(step.rating != -1 for step in along[:count]):
        last = along[count]
        ends = "neutral" if last.rating == 0 else "own_step" if last.own else "unrated"
    return RatedSteps([step.text for step in along[:count]], [bool(classes[s.rating]) for s in along[:count]], ends)
