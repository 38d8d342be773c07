"""The result of an audit: figures with intervals, charts, and the checks that decide its verdict. No torch."""

from collections.abc import Sequence
from typing import Any, Literal

import msgspec

from prm.evaluation.metrics import Metric
from prm.messages import as_json, joined

Verdict = Literal["ok", "attention", "fail", "cannot tell"]
GRAVITY: tuple[Verdict, ...] = ("fail", "attention", "ok", "cannot tell")


class Figure(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One number with its 95 % interval over resampled problems; `n` counts `of` (steps, solutions, ...).

    An AUROC is compared with those of the step's position alone and of its number of characters alone, each in its
    better direction. `signed` marks a difference, where zero means no change.
    """

    name: str
    value: Metric
    n: int
    of: str
    group: str = ""
    index_only: Metric | None = None
    length_only: Metric | None = None
    signed: bool = False


class Series(msgspec.Struct, frozen=True):
    """One line or one row of dots: `y[i]` is at `x[i]`, a number for lines and a name for dots."""

    name: str
    x: Sequence[float | str]
    y: list[Metric]


class Chart(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A chart of "dots", with one row per name and values on the horizontal axis, or of "lines".

    `reference` is a value for comparison (chance, no change); `diagonal` draws x = y. `span` are the value's limits.
    """

    title: str
    kind: Literal["dots", "lines"]
    value: str
    along: str = ""
    series: list[Series]
    reference: float | None = None
    diagonal: bool = False
    span: tuple[float, float] | None = None


class Check(msgspec.Struct, frozen=True):
    """One stated rule and its result, in words."""

    verdict: Verdict
    rule: str
    words: str


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One audit's result. `verdict` is the gravest of its checks, and `sentence` summarises those with this verdict.

    Title and sentence are English; `messages` has them with code and values (`prm.messages`).
    """

    audit: str
    title: str
    question: str
    verdict: Verdict
    sentence: str
    checks: list[Check]
    figures: list[Figure]
    charts: list[Chart]
    notes: list[str]
    messages: dict[str, Any]


def conclude(
    *,
    audit: str,
    title: str,
    question: str,
    checks: Sequence[Check],
    when_ok: str,
    figures: Sequence[Figure] = (),
    charts: Sequence[Chart] = (),
    notes: Sequence[str] = (),
) -> Finding:
    """The finding from these checks; `when_ok` is its sentence if all of them pass."""
    verdict = next(one for one in GRAVITY if any(check.verdict == one for check in checks))
    sentence = when_ok if verdict == "ok" else joined([one.words for one in checks if one.verdict == verdict])
    return Finding(
        audit=audit,
        title=title,
        question=question,
        verdict=verdict,
        sentence=sentence,
        checks=list(checks),
        figures=list(figures),
        charts=[drawn for chart in charts if (drawn := _with_intervals(chart)).series],
        notes=list(notes),
        messages={"title": as_json(title), "sentence": as_json(sentence)},
    )


def _with_intervals(chart: Chart) -> Chart:
    """The chart without points that have no interval, which would look more certain than the others."""
    series = []
    for one in chart.series:
        known = [k for k, value in enumerate(one.y) if value.low is not None]
        if known:
            series.append(Series(one.name, [one.x[k] for k in known], [one.y[k] for k in known]))
    return msgspec.structs.replace(chart, series=series)
