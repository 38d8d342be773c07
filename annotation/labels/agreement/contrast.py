"""Compares label sources: how often two of them name the same first error, and on which solutions they differ.

Keeping only the solutions on which Monte Carlo estimates and a model judge agree is the consensus filtering of
"The Lessons of Developing Process Reward Models in Mathematical Reasoning" (Zhang et al. 2025).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

from django.db import connection
from django.db.models import F, Max, Min, QuerySet
from django.db.models.expressions import RawSQL

from annotation.core.statements import unnest_ids
from annotation.models import HIDDEN_LANES, Annotation, LabelSource, Project, Solution
from annotation.models.agreement_rule import AgreementRule, AgreeOn
from annotation.work.annotations import is_adjudicated, own_opinions
from annotation.work.gold.designation import is_gold
from prm.vocabulary import NO_ERROR


class SourceVerdict(NamedTuple):
    """A source's first error on a solution, None if unknown."""

    kind: str
    name: str
    first_error: int | None


@dataclass
class Contrast:
    """Numbers of pairs of labels by two sources on one solution.

    Pairs with the same first error (`exact`) and at most one step apart (`within_one`); pairs in which `both` find an
    error, `neither` does, or only one source does.
    """

    pairs: int = 0
    exact: int = 0
    within_one: int = 0
    both: int = 0
    neither: int = 0
    only_one: int = 0
    only_other: int = 0

    @property
    def differing(self) -> int:
        return self.pairs - self.exact

    def add(self, one: int, other: int, pairs: int) -> None:
        """Count pairs of labels with these first errors."""
        self.pairs += pairs
        self.exact += pairs * agree(one, other, "first_error")
        self.within_one += pairs * agree(one, other, "within_one")
        self.both += pairs * (one != NO_ERROR and other != NO_ERROR)
        self.neither += pairs * (one == other == NO_ERROR)
        self.only_one += pairs * (one != NO_ERROR and other == NO_ERROR)
        self.only_other += pairs * (one == NO_ERROR and other != NO_ERROR)


def agree(one: int, other: int, on: AgreeOn) -> bool:
    """Whether two first errors agree by the criterion; "no error" is never one step apart."""
    if on == "presence":
        return (one == NO_ERROR) == (other == NO_ERROR)
    return one == other or (on == "within_one" and min(one, other) != NO_ERROR and abs(one - other) == 1)


def passes_rule(rule: AgreementRule, labels: Iterable[SourceVerdict]) -> bool:
    """Whether the rule keeps a solution with these labels."""
    by_source = errors_by_source(rule, labels)
    if not all(by_source):
        return rule.silent == "kept"
    errors = set().union(*by_source)
    agreeing = all(agree(one, other, rule.on) for one, other in combinations(errors, 2))
    return agreeing == (rule.keep == "agreeing")


def errors_by_source(rule: AgreementRule, labels: Iterable[SourceVerdict]) -> list[set[int]]:
    """The known first errors by each source of the rule, empty for a silent one."""
    known = [(label, label.first_error) for label in labels if label.first_error is not None]
    return [{error for label, error in known if _is_of(label, source)} for source in rule.sources]


def _is_of(label: SourceVerdict, source: str) -> bool:
    kind, _, name = source.partition(":")
    return label.kind == kind and name in ("", label.name)


def contrasts(project: Project) -> list[tuple[LabelSource, LabelSource, Contrast]]:
    """Every two sources with a first error on the same solution, those with most pairs first."""
    sources = {source.pk: source for source in LabelSource.objects.filter(project=project)}
    by_pair: dict[tuple[int, int], Contrast] = {}
    with connection.cursor() as cursor:
        cursor.execute(_LATEST + _PAIRS, [project.pk])
        for one, other, error, other_error, pairs in cursor:
            by_pair.setdefault((one, other), Contrast()).add(error, other_error, pairs)
    rows = [(sources[one], sources[other], contrast) for (one, other), contrast in by_pair.items()]
    return sorted(rows, key=lambda row: -row[2].pairs)


def contrasted(*, one: LabelSource, other: LabelSource, way: str) -> QuerySet[Solution]:
    """The solutions whose pairs of labels by two sources meet a condition: a key of WAYS, as the fields of Contrast."""
    chosen = RawSQL(f"{_LATEST} {_SOLUTIONS} AND {WAYS[way]}", [one.project_id, one.pk, other.pk])
    return Solution.objects.filter(project=one.project_id, pk__in=chosen)


WAYS = {
    "pairs": "TRUE",
    "exact": "one.first_error = other.first_error",
    "differing": "one.first_error <> other.first_error",
    "within_one": "(one.first_error = other.first_error OR (least(one.first_error, other.first_error) >= 0"
    " AND abs(one.first_error - other.first_error) = 1))",
    "both": "least(one.first_error, other.first_error) >= 0",
    "neither": "greatest(one.first_error, other.first_error) < 0",
    "only_one": "one.first_error >= 0 AND other.first_error < 0",
    "only_other": "one.first_error < 0 AND other.first_error >= 0",
}
_LATEST = """
WITH latest AS (
    SELECT DISTINCT ON (solution_id, source_id, annotator_id) solution_id, source_id, first_error
    FROM annotation_annotation
    WHERE project_id = %s
    ORDER BY solution_id, source_id, annotator_id, revision DESC
)
"""
_PAIRS = """
SELECT one.source_id, other.source_id, one.first_error, other.first_error, count(*)
FROM latest one JOIN latest other USING (solution_id)
WHERE one.source_id < other.source_id AND one.first_error IS NOT NULL AND other.first_error IS NOT NULL
GROUP BY 1, 2, 3, 4
"""
_SOLUTIONS = """
SELECT solution_id FROM latest one JOIN latest other USING (solution_id)
WHERE one.source_id = %s AND other.source_id = %s
"""


def disagreed(project: Project) -> list[int]:
    """The ids of undecided solutions on which people disagree about the first error; gold counts as decided."""
    # Few solutions have labels that differ. Reading their ids first keeps the database from looking for later revisions
    # of all the other labels, and from reading all solutions. The index annotation_first_errors has all that it needs.
    ever = _differing(Annotation.objects.filter(project=project, annotator__isnull=False))
    undecided = own_opinions(project).exclude(lane__in=HIDDEN_LANES)
    undecided = undecided.filter(~is_adjudicated("solution"), ~is_gold("solution"))
    return _differing(undecided.filter(solution__in=unnest_ids(ever))) if ever else []


def _differing(labels: QuerySet[Annotation]) -> list[int]:
    """The ids of solutions whose known first errors differ."""
    known = labels.filter(first_error__isnull=False).order_by()
    ends = known.values("solution").annotate(least=Min("first_error"), most=Max("first_error"))
    return list(ends.filter(most__gt=F("least")).values_list("solution", flat=True))
