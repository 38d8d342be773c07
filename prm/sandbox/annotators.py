"""Simulated annotators of differing skill, who read a solution up to the first error that they report."""

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from prm.traces import Trace
from prm.vocabulary import RATINGS

HARD_KINDS = {"misconception": 0.75, "cancelling": 0.9, "unjustified_jump": 0.9}


@dataclass(frozen=True)
class AnnotatorProfile:
    """How an annotator works.

    `notices` is the chance of recognising an error, `false_alarm` of reporting one in a right step, `unsure` of leaving
    a step unrated, and `blur` of confusing good and neutral. `believes` is the chance of sharing a common misconception
    (0: never). Reading takes `seconds` per step plus a second per `pace` characters.
    """

    name: str
    notices: float
    false_alarm: float
    unsure: float
    blur: float
    believes: float
    seconds: float
    pace: float


PROFILES = {
    profile.name: profile
    for profile in (
        AnnotatorProfile("careful", 0.97, 0.005, 0.02, 0.05, 0.05, 4.0, 14.0),
        AnnotatorProfile("average", 0.90, 0.02, 0.04, 0.15, 0.20, 3.0, 20.0),
        AnnotatorProfile("hasty", 0.72, 0.05, 0.02, 0.30, 0.40, 1.2, 45.0),
        AnnotatorProfile("lenient", 0.60, 0.005, 0.03, 0.40, 0.60, 2.5, 22.0),
    )
}


@dataclass(frozen=True)
class StepReading:
    """An annotator's rating of one step, None if unsure, and the time in milliseconds."""

    state: Literal["rated", "unsure"]
    rating: int | None
    dwell_ms: int


@dataclass(frozen=True)
class Reading:
    """One annotator's labels of a solution, up to the first reported error.

    `first_error` is the position of that error, -1 if none was reported.
    """

    steps: list[StepReading] = field(default_factory=list)
    first_error: int = -1

    @property
    def finish_reason(self) -> str:
        return "solution" if self.first_error < 0 else "found_error"


def simulate_labels(trace: Trace, profile: AnnotatorProfile, rng: np.random.Generator) -> Reading:
    """Simulate an annotator's labels of a sandbox trace. Raises ValueError if the truth is unknown."""
    if trace.labels is None or "truth" not in trace.meta:
        raise ValueError(f"trace {trace.id} has no known truth to read against")
    readings: list[StepReading] = []
    for position, step in enumerate(trace.steps):
        characters = len(step.text)
        dwell = (profile.seconds + characters / profile.pace) * rng.lognormal(0.0, 0.4)
        rating = _opinion(trace, position, profile, rng)
        unsure = rng.random() < profile.unsure
        readings.append(StepReading("unsure" if unsure else "rated", None if unsure else rating, round(dwell * 1000)))
        if rating == -1 and not unsure:
            return Reading(readings, position)
    return Reading(readings)


def _opinion(trace: Trace, position: int, profile: AnnotatorProfile, rng: np.random.Generator) -> int:
    """The annotator's rating of one step."""
    label = trace.labels[position] if trace.labels else None
    if label is None:
        truth = int(trace.meta["truth"][position])
    else:
        truth = int(rng.choice(RATINGS, p=(label.good, label.neutral, label.bad)))
    if truth == -1:
        kind = trace.meta["error_kind"]
        notices = profile.notices * HARD_KINDS.get(kind, 1.0) ** (1 - profile.notices)
        if kind == "misconception":
            notices *= 1 - profile.believes
        return -1 if rng.random() < notices else 1
    if rng.random() < profile.false_alarm:
        return -1
    return 1 - truth if rng.random() < profile.blur * (0.2 if truth == 1 else 1.0) else truth
