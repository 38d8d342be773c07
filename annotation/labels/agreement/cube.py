"""Agreement cut by generation, domain, length, policy model, week, annotator and pair of annotators."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property
from typing import Annotated, Literal, NamedTuple

import msgspec
import numpy as np
from msgspec import UNSET, Meta, UnsetType

from annotation.core.bounds import Count, about, one_of
from annotation.labels.agreement.measures import (
    MEASURES,
    RESAMPLES,
    Groups,
    Integers,
    Pairs,
    Values,
    agreement_of_all,
    agreement_of_two,
    pairs_of,
)
from annotation.labels.agreement.shared_labels import (
    NO_GENERATION,
    Between,
    SharedLabels,
    first_errors_of,
    lengths_of,
    shared_labels,
    step_ratings_of,
    texts_of,
)
from annotation.models import LabelSource, Membership, Project
from prm.evaluation.report import LENGTH_BINS, in_ranges

Dimension = Literal["generation", "domain", "length", "generator", "week", "annotator", "pair"]
LENGTHS = tuple(f"{low}+" if high is None else f"{low}-{high}" for low, high in LENGTH_BINS)
NOT_KNOWN = "unknown"  # a solution without a domain, a policy model, a generation
MONDAY = 3  # 1 January 1970 was a Thursday, three days after a Monday
DAY = 86_400  # seconds


class Compared(msgspec.Struct, kw_only=True):
    """Which labels are compared, and on which solutions."""

    between: Annotated[
        Between | UnsetType,
        Meta(
            description="Whose labels are compared: those of `people`, of `everyone` (people and machines), or "
            "`machines` with people. Only solutions that two of them labelled."
        ),
    ] = UNSET
    domain: Annotated[str | UnsetType, about("The domain; `unknown` if the file had none.")] = UNSET
    generator: Annotated[str | UnsetType, about("The policy model; `unknown` if the file had none.")] = UNSET
    length: Annotated[
        Annotated[str, one_of(LENGTHS)] | UnsetType,
        about("The number of steps."),
    ] = UNSET
    labelled_in: Annotated[
        str | UnsetType, about("The generation of the solution's latest label; `unknown` if it has none.")
    ] = UNSET
    week: Annotated[str | UnsetType, about("The Monday of the week, in UTC, of the solution's latest label.")] = UNSET
    annotator: Annotated[
        str | UnsetType, about("An annotator: a pseudonym, or `source-` and the id of a label source.")
    ] = UNSET
    peer: Annotated[str | UnsetType, about("The annotator that `annotator` is compared with.")] = UNSET


FILTERS: dict[Dimension, str] = {
    "generation": "labelled_in", "domain": "domain", "length": "length", "generator": "generator", "week": "week",
}  # fmt: skip


class Rater(NamedTuple):
    """An annotator or a source: its `key` in addresses, and its name on pages."""

    key: str
    name: str


@dataclass(frozen=True)
class AgreementCell:
    """The agreement of the labels in a cell."""

    row: Annotated[str, about("The value of `rows`; a pair has two annotators with a space between.")]
    column: Annotated[str, about("The value of `columns`.")]
    value: Annotated[float | None, about("The agreement; null if the labels do not define it.")]
    low: Annotated[float | None, about("Lower end of the 95 % interval, from resampled solutions; null for too few.")]
    high: Annotated[float | None, about("Upper end of the interval.")]
    solutions: Annotated[Count, about("Solutions that two of the annotators labelled.")]
    pairs: Annotated[Count, about("Pairs of labels, or of ratings of a step, that are compared.")]


NOTHING = AgreementCell("", "", None, None, None, 0, 0)


class _Axis(NamedTuple):
    """The values of a dimension of solutions, in order, and the place of each solution among them."""

    keys: Sequence[str]
    place: Integers


class _Places(NamedTuple):
    """What is counted in cells: solutions, or pairs of labels with the raters; `focus` is the rater of the row."""

    solution: Integers
    one: Integers
    other: Integers
    focus: Integers


def agreement_of(project: Project, *, resamples: int = RESAMPLES) -> AgreementCell:
    """The share of pairs of people's labels in the project that name the same first error."""
    [whole] = Cube(project, Compared()).cells("exact", resamples=resamples) or [NOTHING]
    return whole


class Cube:
    """The shared labels of a project, or of a part of it, cut in any way."""

    def __init__(self, project: Project, compared: Compared) -> None:
        self.between: Between = "people" if compared.between is UNSET else compared.between
        self.labels = shared_labels(project, self.between)
        self._axes: dict[Dimension, _Axis] = {}
        for dimension, name in FILTERS.items():
            if (value := getattr(compared, name)) is not UNSET:
                axis = _axis(self.labels, dimension)
                self.labels = self.labels.on(axis.place == (axis.keys.index(value) if value in axis.keys else -1))
        named = [key for key in (compared.annotator, compared.peer) if key is not UNSET]
        codes = {rater.key: code for code, rater in self.raters.items()} if named else {}
        self._chosen = [codes.get(key, 0) for key in named]
        if self._chosen:
            _pairs, places = self._pairs_of(first_errors_of(self.labels), np.array([*self.raters]))
            self.labels = self.labels.on(np.bincount(places.solution, minlength=len(self.labels.solutions)) > 0)

    @property
    def solutions(self) -> list[int]:
        """The ids of the solutions whose labels are compared."""
        pks: list[int] = self.labels.solutions.tolist()
        return pks

    @cached_property
    def raters(self) -> dict[int, Rater]:
        """Those who labelled, by their code in SharedLabels; those with the most labels first."""
        codes, labels = np.unique(self.labels.rater, return_counts=True)
        in_order: list[int] = codes[np.argsort(-labels, kind="stable")].tolist()
        people = Membership.objects.select_related("user").in_bulk([code for code in in_order if code > 0])
        sources = LabelSource.objects.in_bulk([-code for code in in_order if code < 0])
        return {
            code: Rater(str(people[code].pseudonym), people[code].shown_name)
            if code > 0
            else Rater(f"source-{-code}", sources[-code].name or sources[-code].get_kind_display())
            for code in in_order
        }

    def in_order(self, dimension: Dimension, keys: Iterable[str]) -> list[str]:
        """Each value of a dimension once, in the order of the cells."""
        places = {key: n for n, key in enumerate(self._values("annotator" if dimension == "pair" else dimension))}
        parts = {key: key.split(" ") if dimension == "pair" else [key] for key in keys}
        return sorted(parts, key=lambda key: [places[part] for part in parts[key]])

    def cells(
        self, measure: str, *by: Dimension, resamples: int = RESAMPLES, most_raters: int | None = None
    ) -> list[AgreementCell]:
        """The agreement by at most two dimensions, in order; by none, one cell unless nothing is compared.

        `most_raters` leaves out the pairs with a rater beyond the first so many, who have the most labels.
        """
        how = MEASURES[measure]
        values = self._first_errors if how.of == "first_errors" else self._step_ratings
        solutions = len(self.labels.solutions)
        if how.of_two or self.between == "machines" or self._chosen or {*by} & {"annotator", "pair"}:
            raters = np.array([*self.raters][:most_raters])
            _labels, places = self._pairs_of(self._first_errors, raters, twice="annotator" in by)
            pairs, compared = self._pairs_of(values, raters, twice="annotator" in by)
            codes, cell = np.unique(self._codes(places, by), return_inverse=True)
            groups = Groups(len(codes), np.searchsorted(codes, self._codes(compared, by)), solutions)
            measured = agreement_of_two(values, how, pairs, groups, resamples=resamples)
        else:
            places = _Places(np.arange(solutions), *[np.zeros(solutions, dtype=np.int64)] * 3)
            codes, cell = np.unique(self._codes(places, by), return_inverse=True)
            groups = Groups(len(codes), cell[values.solution], solutions)
            measured = agreement_of_all(values, how, groups, resamples=resamples)
        met = np.bincount(np.unique(cell * solutions + places.solution) // max(solutions, 1), minlength=len(codes))
        keys = [self._keys(code, by) for code in codes.tolist()]
        return [
            AgreementCell(*key, of.value, of.low, of.high, int(n), pairs_in)
            for key, n, (of, pairs_in) in zip(keys, met, measured, strict=True)
        ]

    @cached_property
    def _first_errors(self) -> Values:
        return first_errors_of(self.labels)

    @cached_property
    def _step_ratings(self) -> Values:
        return step_ratings_of(self.labels)

    def _axis(self, dimension: Dimension) -> _Axis:
        if dimension not in self._axes:
            self._axes[dimension] = _axis(self.labels, dimension)
        return self._axes[dimension]

    def _pairs_of(self, values: Values, raters: Integers, *, twice: bool = False) -> tuple[Pairs, _Places]:
        """The pairs of labels by these raters that are compared; with `twice`, each once for either rater."""
        pairs = pairs_of(values)
        one, other = values.rater[pairs.one], values.rater[pairs.other]
        chosen = np.isin(one, raters) & np.isin(other, raters)
        if self.between == "machines":
            machines = np.unique(self.labels.rater[self.labels.machine])
            chosen = np.isin(one, machines) != np.isin(other, machines)
        for rater in self._chosen:
            chosen &= (one == rater) | (other == rater)
        times = 2 if twice else 1
        focus = np.concatenate([one[chosen], other[chosen]][:times])
        pairs = Pairs(*(np.tile(column[chosen], times) for column in pairs))
        one, other = values.rater[pairs.one], values.rater[pairs.other]
        return pairs, _Places(values.solution[values.unit[pairs.one]], one, other, focus)

    def _codes(self, places: _Places, by: Sequence[Dimension]) -> Integers:
        """The cell of each place, as a number that sorts as the cells do."""
        codes = np.zeros(len(places.solution), dtype=np.int64)
        for dimension in by:
            codes = codes * self._size(dimension) + self._place(dimension, places)
        return codes

    def _place(self, dimension: Dimension, places: _Places) -> Integers:
        """The place of each solution or pair among the values of a dimension."""
        if dimension == "annotator":
            return self._rank(places.focus)
        if dimension == "pair":
            one, other = self._rank(places.one), self._rank(places.other)
            return np.minimum(one, other) * len(self.raters) + np.maximum(one, other)
        return self._axis(dimension).place[places.solution]

    def _rank(self, raters: Integers) -> Integers:
        """The place of each rater in `raters`."""
        codes = np.array([*self.raters], dtype=np.int64)
        order = np.argsort(codes)
        rank: Integers = order[np.searchsorted(codes, raters, sorter=order)]
        return rank

    def _size(self, dimension: Dimension) -> int:
        """The number of values that a dimension can have."""
        return len(self.raters) ** 2 if dimension == "pair" else len(self._values(dimension))

    def _keys(self, code: int, by: Sequence[Dimension]) -> tuple[str, str]:
        """The values of the dimensions in a cell."""
        keys = ["", ""]
        for n in reversed(range(len(by))):
            code, place = divmod(code, self._size(by[n]))
            keys[n] = self._key(by[n], place)
        return keys[0], keys[1]

    def _key(self, dimension: Dimension, place: int) -> str:
        if dimension == "pair":
            one, other = divmod(place, len(self.raters))
            raters = self._values("annotator")
            return f"{raters[one]} {raters[other]}"
        return self._values(dimension)[place]

    def _values(self, dimension: Dimension) -> Sequence[str]:
        """The values of a dimension that is no pair, in order."""
        if dimension == "annotator":
            return [rater.key for rater in self.raters.values()]
        return self._axis(dimension).keys


def _axis(labels: SharedLabels, dimension: Dimension) -> _Axis:
    """The values of a dimension of solutions."""
    if dimension == "length":
        lengths = lengths_of(labels)
        keys: list[str] = []
        place = np.zeros(len(lengths), dtype=np.int64)
        for name, inside in in_ranges(lengths, LENGTH_BINS):
            place[inside] = len(keys)
            keys.append(name)
        return _Axis(keys, place)
    if dimension in ("generation", "week"):
        latest = labels.of_latest(labels.generation if dimension == "generation" else _monday(labels.at))
        values, place = np.unique(latest, return_inverse=True)
        write = _generation if dimension == "generation" else _day
        return _Axis([write(value) for value in values.tolist()], place)
    texts = texts_of(labels, "problem__domain" if dimension == "domain" else "generator")
    keys = sorted({text or NOT_KNOWN for text in texts})
    places = {key: n for n, key in enumerate(keys)}
    return _Axis(keys, np.array([places[text or NOT_KNOWN] for text in texts], dtype=np.int64))


def _monday(at: Integers) -> Integers:
    """The Monday of a time, in days since 1970."""
    day = at // DAY
    monday: Integers = day - (day + MONDAY) % 7
    return monday


def _day(days: int) -> str:
    return (date(1970, 1, 1) + timedelta(days)).isoformat()


def _generation(number: int) -> str:
    return NOT_KNOWN if number == NO_GENERATION else str(number)
