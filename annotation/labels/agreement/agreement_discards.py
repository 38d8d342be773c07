"""What an agreement rule between sources discards, before a snapshot or training uses it.

A rule that keeps the solutions on which sources agree tends to drop the hard ones, so the rest is no random sample.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Literal, NamedTuple, get_args

from django.db.models import BooleanField, Count, ExpressionWrapper, OuterRef, Subquery

from annotation.labels.agreement.contrast import SourceVerdict, errors_by_source, passes_rule
from annotation.labels.annotators.batches import is_set_aside
from annotation.models import HIDDEN_LANES, Annotation, Project, Step
from annotation.models.agreement_rule import AgreementRule
from annotation.work.gold.designation import is_gold
from prm.vocabulary import NO_ERROR

Grouping = Literal["error", "verdicts", "domain", "length"]
GROUPINGS: tuple[Grouping, ...] = get_args(Grouping)


class Filtered(NamedTuple):
    """A labelled solution, its value of each grouping, and what the rule does with it.

    `error` is "reported" if any label of the rule's sources reports one, else "none"; `verdicts` has for each source
    "error", "none", "both" or "silent". `silent`: one of the sources has no label.
    """

    solution: int
    error: str
    verdicts: str
    domain: str
    length: str
    kept: bool
    silent: bool


@dataclass
class Discards:
    """How many solutions of a group the rule keeps, and drops because sources are `silent` or for what they say."""

    by: Grouping
    value: str
    kept: int = 0
    dropped: int = 0
    silent: int = 0

    @property
    def share(self) -> float:
        """The share of the group that is dropped."""
        return (self.dropped + self.silent) / (self.kept + self.dropped + self.silent)


def filter_solutions(project: Project, rule: AgreementRule) -> Iterator[Filtered]:
    """Each labelled solution of the rule's splits, as the rule treats it. Gold is left out, as in snapshots."""
    for (pk, domain, steps), labels in groupby(_labels(project, rule), key=lambda row: row[:3]):
        verdicts = [SourceVerdict(*row[3:]) for row in labels]
        found = errors_by_source(rule, verdicts)
        yield Filtered(
            solution=pk,
            error="reported" if any(error != NO_ERROR for errors in found for error in errors) else "none",
            verdicts=" · ".join(f"{name}: {_verdict(one)}" for name, one in zip(rule.sources, found, strict=True)),
            domain=domain,
            length=_length(steps),
            kept=passes_rule(rule, verdicts),
            silent=not all(found),
        )


def count_discards(solutions: Iterator[Filtered]) -> list[Discards]:
    """The counts of each group, grouping by grouping; its values are sorted."""
    groups: dict[tuple[Grouping, str], Discards] = {}
    for one in solutions:
        for by in GROUPINGS:
            value = getattr(one, by)
            group = groups.setdefault((by, value), Discards(by, value))
            if one.kept:
                group.kept += 1
            elif one.silent:
                group.silent += 1
            else:
                group.dropped += 1
    by_grouping: dict[Grouping, list[Discards]] = defaultdict(list)
    for group in groups.values():
        by_grouping[group.by].append(group)
    return [group for by in GROUPINGS for group in sorted(by_grouping[by], key=lambda one: _order(one.value))]


def _labels(project: Project, rule: AgreementRule) -> Iterator[Any]:
    """Solution, domain, number of steps, kind and name of the source, and first error of each latest label in use."""
    steps = Step.objects.filter(solution=OuterRef("solution"), alternative=0).order_by().values("solution")
    labels = (
        Annotation.objects.filter(project=project)
        .exclude(lane__in=HIDDEN_LANES)
        .annotate(aside=ExpressionWrapper(is_set_aside(), output_field=BooleanField()))
        .order_by("solution", "source", "annotator", "-revision")
        .distinct("solution", "source", "annotator")
    )
    if rule.splits:
        labels = labels.filter(solution__split__in=rule.splits)
    gold = set(project.solutions.filter(is_gold()).values_list("pk", flat=True))
    rows = labels.values_list(
        "solution",
        "solution__problem__domain",
        Subquery(steps.annotate(n=Count("pk")).values("n")),
        "source__kind",
        "source__name",
        "first_error",
        "aside",
    )
    return (row[:-1] for row in rows.iterator() if not row[-1] and row[0] not in gold)


def _verdict(errors: set[int]) -> str:
    if not errors:
        return "silent"
    found = {error != NO_ERROR for error in errors}
    return "both" if len(found) > 1 else "error" if found == {True} else "none"


def _length(steps: int | None) -> str:
    """The range of a number of steps: 1, 2-3, 4-7, 8-15, and so on."""
    low = 1 << ((steps or 1).bit_length() - 1)
    return str(low) if low == 1 else f"{low}–{2 * low - 1}"


def _order(value: str) -> tuple[int, str]:
    """Sorts ranges by their first number, and other values by name."""
    first = value.partition("–")[0]
    return (int(first) if first.isdecimal() else 0), value
