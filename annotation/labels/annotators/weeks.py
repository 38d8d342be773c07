"""A person's work by week, beside other people's. Pure."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta, tzinfo
from statistics import mean, stdev
from typing import Annotated

from annotation.core.bounds import about
from annotation.labels.annotators.anchoring import Logs, Pace, pace_of
from annotation.labels.annotators.judged_labels import FirstErrorLabel, Reference, of_people
from annotation.work.gold.gold_accuracy import Share, share_of
from prm.vocabulary import NO_ERROR


@dataclass(frozen=True)
class Week:
    """A person's labels of a week; shares are of the compared labels and of all."""

    since: Annotated[date, about("The Monday, in the project's time zone.")]
    labels: Annotated[int, about("Number of labels.")]
    right: Annotated[Share, about("Compared labels that name the reference's first error.")]
    errors: Annotated[Share, about("Labels that report an error.")]
    others_errors: Annotated[Share, about("Other people's labels in the same week that report an error.")]
    pace: Annotated[Pace, about("Active time per rated step.")]

    @property
    def until(self) -> date:
        return self.since + timedelta(days=6)


def weeks_of(
    who: str,
    labels: Sequence[FirstErrorLabel],
    references: Mapping[int, Reference],
    step_ms: Mapping[int, float],
    zone: tzinfo,
) -> list[Week]:
    """The weeks in which a person labelled. `step_ms` is the time per step of each timed label."""
    by_week: dict[date, list[FirstErrorLabel]] = defaultdict(list)
    for own in of_people(labels).values():
        for label in own:
            by_week[monday(label.at, zone)].append(label)
    weeks = []
    for since, everybody in sorted(by_week.items()):
        own = [label for label in everybody if label.who == who]
        if own:
            compared = [label for label in own if label.label in references]
            right = sum(label.first_error == references[label.label].first_error for label in compared)
            weeks.append(
                Week(
                    since=since,
                    labels=len(own),
                    right=share_of(right, len(compared)),
                    errors=_errors(own),
                    others_errors=_errors(label for label in everybody if label.who != who),
                    pace=_pace([step_ms[label.label] for label in own if label.label in step_ms]),
                )
            )
    return weeks


def monday(at: datetime, zone: tzinfo) -> date:
    day = at.astimezone(zone).date()
    return day - timedelta(days=day.weekday())


def _errors(labels: Iterable[FirstErrorLabel]) -> Share:
    reported = [label.first_error != NO_ERROR for label in labels]
    return share_of(sum(reported), len(reported))


def _pace(times: Sequence[float]) -> Pace:
    logs = [math.log(ms / 1000) for ms in times if ms]
    return pace_of(Logs(len(logs), mean(logs), stdev(logs) if len(logs) > 1 else None) if logs else Logs())
