"""The filters of the lists of solutions, labels and batches, which the pages and the API share.

A filter is a struct: its fields are the query parameters of the list, and `narrow` applies those that are set.
"""

from collections.abc import Callable, Mapping
from datetime import date, datetime, time
from typing import Annotated, Any, ClassVar, Literal, TypeVar
from uuid import UUID

import msgspec
from django.db.models import Exists, Model, OuterRef, Q, QuerySet
from django.utils import timezone
from msgspec import UNSET, UnsetType

from annotation.core.bounds import Count, Id, about, invalid, one_of
from annotation.core.solution_search import matching
from annotation.core.statements import unnest_ids
from annotation.labels.agreement.contrast import WAYS, contrasted, disagreed
from annotation.labels.agreement.cube import NOT_KNOWN, Compared, Cube
from annotation.labels.annotators.analysis import FIGURES, Analysis, who_is
from annotation.labels.annotators.batches import labels_of_batch
from annotation.models import (
    Annotation,
    HandOver,
    Hint,
    LabelBatch,
    LabelSource,
    Lane,
    Project,
    QueueItem,
    Route,
    Solution,
)
from prm.messages import Message
from prm.vocabulary import FinishReason, SourceKind, Split, Visibility

M = TypeVar("M", bound=Model)
Condition = Callable[[Any], Q]
CONTRAST = ("one", "other", "way")
COMPARED = ("length", "labelled_in", "week", "annotator", "peer")  # mean something with `between` only


class ListFilter(msgspec.Struct, kw_only=True):
    """The filter of a list. `conditions` has those of its fields that need nothing but their value."""

    conditions: ClassVar[Mapping[str, Condition]] = {}

    def narrow(self, project: Project, rows: QuerySet[Any]) -> QuerySet[Any]:
        """The rows that pass the filter. Raises DomainError (`invalid`) for an id of another project."""
        for name, condition in self.conditions.items():
            if (value := getattr(self, name)) is not UNSET:
                rows = rows.filter(condition(value))
        return rows


class SolutionFilter(Compared, ListFilter, kw_only=True):
    """The solutions of a project. `one`, `other` and `way` go together; `between` goes with those after it."""

    search: Annotated[str | UnsetType, about('Words or "phrases" of the problem and its steps.')] = UNSET
    split: Annotated[Split | UnsetType, about("The split of the problem.")] = UNSET
    annotated: Annotated[Literal["yes", "no"] | UnsetType, about("Whether it has a label.")] = UNSET
    policy: Annotated[str | UnsetType, about("Part of the policy model's name, or the name of a run.")] = UNSET
    visibility: Annotated[Visibility | Literal["unknown"] | UnsetType, about("How much of the reasoning is shown.")] = (
        UNSET
    )
    outcome: Annotated[
        Literal["correct", "wrong", "unknown"] | UnsetType, about("Whether the final answer is right.")
    ] = UNSET
    generation: Annotated[Count | UnsetType, about("The number of a generation that queued it.")] = UNSET
    lane: Annotated[Lane | UnsetType, about("The lane in which it was queued.")] = UNSET
    route: Annotated[Route | UnsetType, about("The route on which it was queued.")] = UNSET
    disagreement: Annotated[bool, about("Only solutions on which people disagree.")] = False
    one: Annotated[Id | UnsetType, about("A label source to compare; needs `other` and `way`.")] = UNSET
    other: Annotated[Id | UnsetType, about("The label source to compare it with.")] = UNSET
    way: Annotated[
        Annotated[str, one_of(WAYS)] | UnsetType, about("How the first errors of these two sources compare.")
    ] = UNSET

    conditions = {
        "search": matching,
        "split": lambda split: Q(split=split),
        "annotated": lambda choice: _is_labelled() if choice == "yes" else ~_is_labelled(),
        "policy": lambda named: (
            Q(generator__icontains=named) | Q(provenance__policy__icontains=named) | Q(provenance__run=named)
        ),
        "visibility": lambda seen: (
            Q(provenance__visibility__isnull=True) if seen == "unknown" else Q(provenance__visibility=seen)
        ),
        "outcome": lambda outcome: Q(final_answer_correct={"correct": True, "wrong": False, "unknown": None}[outcome]),
        "domain": lambda domain: Q(problem__domain="" if domain == NOT_KNOWN else domain),
        "generator": lambda generator: Q(generator="" if generator == NOT_KNOWN else generator),
    }

    def narrow(self, project: Project, rows: QuerySet[Solution]) -> QuerySet[Solution]:
        rows = super().narrow(project, rows)
        queued = {"generation__number": self.generation, "lane": self.lane, "route": self.route}
        queued = {name: value for name, value in queued.items() if value is not UNSET}
        if queued:
            rows = rows.filter(pk__in=QueueItem.objects.filter(project=project, **queued).values("solution"))
        if self.disagreement:
            rows = rows.filter(pk__in=unnest_ids(disagreed(project)))
        if self.between is not UNSET:
            rows = rows.filter(pk__in=unnest_ids(Cube(project, self).solutions))
        elif missing := [name for name in COMPARED if getattr(self, name) is not UNSET]:
            raise invalid(missing[0], Message("filter_needs_field", field="between"))
        if missing := [name for name in CONTRAST if getattr(self, name) is UNSET]:
            if len(missing) < len(CONTRAST):
                raise invalid(missing[0], Message("filter_needs_fields", fields=", ".join(CONTRAST)))
        else:
            one, other = (_of_project(LabelSource, project, name, getattr(self, name)) for name in CONTRAST[:2])
            rows = rows.filter(pk__in=contrasted(one=one, other=other, way=str(self.way)).values("pk"))
        return rows


class OwnLabelFilter(ListFilter, kw_only=True):
    """The caller's own labels."""

    finish_reason: Annotated[list[FinishReason] | UnsetType, about("How labelling ended.")] = UNSET
    since: Annotated[date | UnsetType, about("The first day of submission.")] = UNSET
    until: Annotated[date | UnsetType, about("The last day of submission.")] = UNSET

    conditions = {
        "finish_reason": lambda reasons: Q(finish_reason__in=reasons),
        "since": lambda day: Q(submitted_at__gte=_moment(day, time.min)),
        "until": lambda day: Q(submitted_at__lte=_moment(day, time.max)),
    }


class LabelFilter(OwnLabelFilter, kw_only=True):
    """The labels of a project."""

    annotator: Annotated[UUID | UnsetType, about("The pseudonym of a member.")] = UNSET
    by: Annotated[
        Literal["members", "others"] | UnsetType,
        about("Whether a member submitted it, or it came from a file or a Monte Carlo run."),
    ] = UNSET
    source: Annotated[SourceKind | UnsetType, about("The kind of its source.")] = UNSET
    generation: Annotated[Count | UnsetType, about("The number of the generation.")] = UNSET
    lane: Annotated[Lane | UnsetType, about("The lane of the queue item.")] = UNSET
    hint: Annotated[
        Literal["shown", "blind"] | UnsetType, about("Whether the model's scores were shown or withheld.")
    ] = UNSET
    solution: Annotated[Id | UnsetType, about("The id of the solution.")] = UNSET
    batch: Annotated[Id | UnsetType, about("The id of a batch.")] = UNSET
    route: Annotated[Route | UnsetType, about("The route of the queue item.")] = UNSET
    handed_over: Annotated[HandOver | UnsetType, about("Why the queue item was handed over to a person.")] = UNSET
    domain: Annotated[str | UnsetType, about("The domain of the problem.")] = UNSET
    generator: Annotated[str | UnsetType, about("The policy model that wrote the solution.")] = UNSET
    figure: Annotated[
        Annotated[str, one_of(FIGURES)] | UnsetType,
        about("The labels behind a figure of the analysis of `annotator`, which it needs."),
    ] = UNSET

    conditions = {
        **OwnLabelFilter.conditions,
        "annotator": lambda pseudonym: Q(annotator__pseudonym=pseudonym),
        "by": lambda whom: Q(annotator__user__isnull=whom == "others"),
        "source": lambda kind: Q(source__kind=kind),
        "generation": lambda number: Q(item__generation__number=number) | Q(stated__generation=number),
        "lane": lambda lane: Q(lane=lane),
        "hint": lambda hint: _is_hinted(shown=hint == "shown"),
        "solution": lambda solution: Q(solution=solution),
        "route": lambda route: Q(item__route=route),
        "handed_over": lambda reason: Q(item__handed_over=reason),
        "domain": lambda domain: Q(solution__problem__domain=domain),
        "generator": lambda generator: Q(solution__generator=generator),
    }

    def narrow(self, project: Project, rows: QuerySet[Annotation]) -> QuerySet[Annotation]:
        rows = super().narrow(project, rows)
        if isinstance(self.batch, int):
            batch = _of_project(LabelBatch, project, "batch", self.batch)
            rows = rows.filter(pk__in=labels_of_batch(batch).values("pk"))
        if isinstance(self.figure, str):
            if not isinstance(self.annotator, UUID):
                raise invalid("figure", Message("filter_needs_fields", fields="annotator, figure"))
            analysis, people = Analysis(project), project.memberships.filter(pseudonym=self.annotator)
            rows = rows.filter(pk__in=[pk for one in people for pk in analysis.rows(who_is(one), self.figure)])
        return rows


class BatchFilter(ListFilter, kw_only=True):
    """The batches of a project."""

    state: Annotated[LabelBatch.State | UnsetType, about("Whether the batch counts.")] = UNSET

    conditions = {"state": lambda state: Q(state=state)}


def _of_project(model: type[M], project: Project, name: str, pk: int) -> M:
    row = model._default_manager.filter(project=project, pk=pk).first()
    if row is None:
        raise invalid(name, Message("filter_id_unknown", pk=pk, name=project.name))
    return row


def _is_labelled() -> Q:
    return Q(Exists(Annotation.objects.filter(solution=OuterRef("pk"))))


def _is_hinted(*, shown: bool) -> Q:
    # Not `lease__hint`, which would join the lease of every label.
    return Q(lease__in=Hint.objects.filter(shown=shown).values("lease")) | Q(stated__hint__shown=shown)


def _moment(day: date, at: time) -> datetime:
    return timezone.make_aware(datetime.combine(day, at))
