"""Counts the contents of a dataset while it is streamed."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

from annotation.labels.agreement.contrast import agree
from annotation.labels.datasets.losses import ExportCounts
from prm.exporters import EXPORTERS
from prm.formats.identity import text_hash
from prm.formats.path import ratings_beside
from prm.formats.record import HintDraw, Inclusion, Rating, Record, RecordAnnotation
from prm.vocabulary import NEUTRAL_POLICIES, WORD_OF, NeutralPolicy


@dataclass
class _Draw:
    """The labelled solutions of one lane of one generation: their probabilities, and the sum of their weights."""

    solutions: int = 0
    least: float = 1.0
    most: float = 0.0
    weight: float = 0.0

    def add(self, inclusion: Inclusion) -> None:
        self.solutions += 1
        self.least = min(self.least, inclusion.probability)
        self.most = max(self.most, inclusion.probability)
        self.weight += inclusion.weight


class Tally:
    """Counts of records.

    Solutions by split, domain, policy, visibility and outcome; labels by kind, finish reason and lane; ratings;
    agreement; what a file of each export format (or of `formats`) has and leaves out under each of the `policies`.
    """

    def __init__(
        self, *, formats: Iterable[str] | None = None, policies: Sequence[NeutralPolicy] = NEUTRAL_POLICIES
    ) -> None:
        self._problems: set[str] = set()
        self._people: dict[str, set[str]] = {}
        self._reliability: dict[str, dict[str, Any]] = {}
        self._draws: dict[tuple[int, str], _Draw] = {}
        self._count: dict[str, Counter[str]] = {
            name: Counter()
            for name in (
                "splits",
                "domains",
                "policies",
                "visibilities",
                "outcomes",
                "source_kinds",
                "sources",
                "finish_reasons",
                "lanes",
                "guidelines",
                "ratings",
                "error_types",
                "dimensions",
                "progress",
                "hints",
                "agreement",
            )
        }
        exporters = [EXPORTERS.get(name) for name in (EXPORTERS if formats is None else formats)]
        self._exports = ExportCounts(exporters, policies=policies)
        self._merged = self._solutions = self._annotations = self._own_steps = self._accepted = self._alternatives = 0

    def of(self, records: Iterable[Record]) -> Iterator[Record]:
        """Yield the records and count them."""
        for record in records:
            self._add(record)
            yield record

    def counts(self) -> dict[str, Any]:
        """The counts as JSON. `people` counts the annotators of human labels, `sources` the labels of all others.

        `merged` counts the labels beyond the first of their solution, which a format with one label merges with it.

        `agreement` compares every two people who decided the first error of one solution. Machines do not count, nor do
        labels without a name. `draws` has the labelled solutions of each lane of each generation. `reliability` by
        annotator exists if the consensus is weighted by it.
        """
        return {
            "problems": len(self._problems),
            "solutions": self._solutions,
            "annotations": self._annotations,
            "own_steps": self._own_steps,
            "accepted": self._accepted,
            "alternatives": self._alternatives,
            "merged": self._merged,
            "people": {kind: len(people) for kind, people in sorted(self._people.items())},
            **{name: dict(sorted(counter.items())) for name, counter in self._count.items()},
            "exports": self._exports.counts(),
            "draws": [
                {"generation": number, "lane": lane, **asdict(self._draws[number, lane])}
                for number, lane in sorted(self._draws)
            ],
            **({"reliability": dict(sorted(self._reliability.items()))} if self._reliability else {}),
        }

    def _add(self, record: Record) -> None:
        self._solutions += 1
        self._problems.add(text_hash(record.problem))
        self._count["splits"][record.split] += 1
        self._exports.add(record)
        self._merged += max(0, len(record.annotations) - 1)
        self._count["domains"][record.domain] += 1
        self._count["policies"][record.generator] += 1
        self._count["visibilities"][(record.provenance and record.provenance.visibility) or "not known"] += 1
        self._count["outcomes"][_outcome(record)] += 1
        for annotation in record.annotations:
            self._add_label(annotation)
        self._add_draws(record.annotations)
        if len(record.annotations) < 2:
            return
        own = (a for a in record.annotations if _is_of_person(a) and not a.adjudicates)
        known = {_person(a): a.first_error for a in own if a.first_error is not None}
        for one, other in combinations(known.values(), 2):
            exact, near = agree(one, other, "first_error"), agree(one, other, "within_one")
            self._count["agreement"].update(pairs=1, exact=int(exact), within_one=int(near))

    def _add_draws(self, labels: Iterable[RecordAnnotation]) -> None:
        drawn = {
            (label.generation, label.lane): label.inclusion
            for label in labels
            if label.inclusion is not None and label.generation is not None
        }
        for key, inclusion in drawn.items():
            self._draws.setdefault(key, _Draw()).add(inclusion)

    def _add_label(self, annotation: RecordAnnotation) -> None:
        self._annotations += 1
        if _is_of_person(annotation):
            self._people.setdefault("human", set()).add(_person(annotation))
        if annotation.reliability is not None:
            self._reliability[_person(annotation)] = {
                "informedness": annotation.reliability,
                "interval": annotation.reliability_interval,
                "shared_steps": annotation.shared_steps,
            }
        self._count["source_kinds"][annotation.source_kind] += 1
        if annotation.source_kind != "human" and (annotation.source_name or annotation.annotator is None):
            self._count["sources"][annotation.source_name] += 1
        self._count["finish_reasons"][annotation.finish_reason] += 1
        self._count["lanes"][annotation.lane] += 1
        self._count["guidelines"][str(annotation.guidelines or "")] += 1
        if annotation.hint is not None:
            self._count["hints"].update(_arm(annotation.hint))
        if annotation.progress is not None:
            self._count["progress"][str(annotation.progress)] += 1
        self._alternatives += ratings_beside(annotation)
        ratings = self._count["ratings"]
        for place in annotation.path:
            if place.own_text is not None:
                self._own_steps += 1
            for rating in place.ratings:
                if rating.state == "not_reached":
                    continue
                ratings[WORD_OF[rating.rating]] += 1
                if rating.accepted:
                    self._accepted += 1
                if rating.error_type:
                    self._count["error_types"][rating.error_type] += 1
                if rating.dimensions:
                    self._count["dimensions"].update(_dimensions(rating))


def _arm(hint: HintDraw) -> Iterator[str]:
    yield "shown" if hint.shown else "blind"
    if hint.seen:
        yield "seen"


def _dimensions(rating: Rating) -> Iterator[str]:
    """The names of the answers about a step besides its rating."""
    for name, value in rating.dimensions.items():
        if name == "clauses":
            yield from (f"breaks clause {clause}" for clause in value)
        elif name == "consistent":
            yield "consistent with earlier steps" if value else "contradicts an earlier step"
        elif name in _WORDS:
            yield _WORDS[name]
        else:  # another tool's
            yield name


_WORDS = {
    "consistent_with": "points at an earlier step",
    "redundant": "redundant",
    "recovers": "recovers from an error",
    "critique": "critique written",
    "critique_ratings": "given critiques rated",
}


def _outcome(record: Record) -> str:
    known = {True: "correct", False: "wrong", None: ""}[record.final_answer_correct]
    return f"{known} ({record.outcome_source or 'given'})" if known else "unknown"


def _is_of_person(annotation: RecordAnnotation) -> bool:
    """Whether a known person made the label; labels from a file can lack a name."""
    return annotation.source_kind == "human" and annotation.annotator is not None


def _person(annotation: RecordAnnotation) -> str:
    return annotation.annotator or annotation.source_name
