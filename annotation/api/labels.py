"""Labels: the ratings of each step, and where they come from."""

from datetime import datetime
from typing import Annotated, Any, ClassVar, Self
from uuid import UUID

import msgspec
from django.db.models import BooleanField, ExpressionWrapper, Prefetch, QuerySet
from drf_spectacular.utils import extend_schema
from msgspec import UNSET, Meta, UnsetType
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.boundary import Row, read_query
from annotation.api.paging import Page, PagedView
from annotation.api.schema import query_of
from annotation.core.bounds import Count, FirstError, Id, JSONObject, Milliseconds, Position, about
from annotation.core.membership.access import STAFF, find_project, require_role
from annotation.core.reading import find_row
from annotation.labels.annotators.batches import is_set_aside
from annotation.labels.list_filters import LabelFilter, ListFilter, OwnLabelFilter
from annotation.models import Annotation, Membership, PathStep, StepRating
from annotation.work.annotations import current_annotations
from prm.messages import Message
from prm.vocabulary import FinishReason, Rating, RatingState, SourceKind, Split


class RatingRow(Row):
    """The rating of one completion."""

    paths: ClassVar[dict[str, str]] = {"position": "step.position", "alternative": "step.alternative"}

    position: Annotated[Position, about("Place in the solution, from 0.")]
    alternative: Annotated[Count, about("0 for the sampled completion; others are alternatives to it.")]
    state: Annotated[RatingState, about("Whether the step is rated; `unsure`: seen, but not decided.")]
    rating: Annotated[Rating | None, about("1 good, 0 neutral, -1 bad; null if not rated.")]
    accepted: Annotated[bool, about("True if it was rated good together with other steps.")]
    flagged: Annotated[bool | None, about("Whether a reviewer should look; null if a file does not say.")]
    error_type: Annotated[str, about("The type of error; empty for none.")]
    comment: Annotated[str, about("The annotator's comment on the step.")]
    dimensions: Annotated[JSONObject, about("Answers besides the rating, such as broken policy clauses.")]
    spans: Annotated[list[JSONObject], about("Marked parts of the text: `start`, `end`, `error_type`, `comment`.")]


class ChosenStep(Row):
    """The choice of a label at one position."""

    paths: ClassVar[dict[str, str]] = {"alternative": "chosen.alternative"}

    position: Annotated[Position, about("Place in the solution, from 0.")]
    alternative: Annotated[Count | None, about("The chosen completion; null at the first error and for an own step.")]
    own_text: Annotated[str | None, about("The step that the annotator wrote; null for none.")]
    dwell_ms: Annotated[Milliseconds | None, about("Active time on the step; null if unknown.")]


class HintOfLabel(Row):
    """The draw that showed or withheld a model's scores."""

    paths: ClassVar[dict[str, str]] = {"model": "model_version.number"}

    shown: Annotated[bool, about("True in the hint arm, false in the blind arm.")]
    model: Annotated[int, about("The number of the model version.")]


class LabelRow(Row):
    """A label: one revision of an annotator's work on a solution, or a label from a file.

    The fields that may be left out are for reviewers and managers only.
    """

    paths: ClassVar[dict[str, str]] = {
        "annotator": "annotator.pseudonym",
        "split": "solution.split",
        "source_kind": "source.kind",
        "source_name": "source.name",
    }
    of_staff: ClassVar[tuple[str, ...]] = (
        "source_kind", "source_name", "annotator", "split", "lane", "generation", "inclusion_probability",
        "set_aside", "hint",
    )  # fmt: skip

    id: Annotated[Id, about("The label's id in this installation.")]
    solution: Annotated[Id, about("The id of the solution.")]
    revision: Annotated[int, Meta(ge=1, description="1 for the first submission.")]
    finish_reason: Annotated[FinishReason, about("How labelling ended.")]
    reason: Annotated[str, about("The reason in words; empty for a finished solution.")]
    first_error: Annotated[FirstError | None, about("Position of the first error; -1 if none, null if unknown.")]
    progress: Annotated[
        Annotated[int, Meta(ge=0, le=4)] | None,
        about("How far the solution got before its first error; null if not asked."),
    ]
    adjudicates: Annotated[bool, about("Whether the label overrides the consensus.")]
    ratings: Annotated[list[RatingRow], about("By position, then in the order shown.")]
    path: Annotated[list[ChosenStep], about("The choice at each position.")]
    comment: Annotated[str, about("The annotator's comment on the solution.")]
    total_ms: Annotated[Milliseconds | None, about("Active time on the solution; null if unknown.")]
    submitted_at: Annotated[datetime, about("When it was submitted.")]
    guidelines: Annotated[Count | None, about("The version of the guidelines that applied; null if unknown.")]
    source_kind: Annotated[SourceKind | UnsetType, about("What the label comes from.")] = UNSET
    source_name: Annotated[
        str | UnsetType, about("The model or the format of its file; empty for people and members.")
    ] = UNSET
    annotator: Annotated[
        UUID | UnsetType | None, about("The annotator's pseudonym; null for a label that names nobody.")
    ] = UNSET
    split: Annotated[Split | UnsetType, about("The split of the problem.")] = UNSET
    lane: Annotated[str | UnsetType, about("The lane of the queue item; empty for none.")] = UNSET
    generation: Annotated[Count | UnsetType | None, about("The number of the generation; null for none.")] = UNSET
    inclusion_probability: Annotated[
        float | UnsetType | None, about("The probability of drawing the solution; null if unknown.")
    ] = UNSET
    set_aside: Annotated[bool | UnsetType, about("Whether the label is in a batch that was set aside.")] = UNSET
    hint: Annotated[
        HintOfLabel | UnsetType | None,
        about("The draw that showed or withheld the model's scores; null if there was none."),
    ] = UNSET

    @classmethod
    def of(cls, row: Any, **others: Any) -> Self:
        """The label as its annotator sees it; as reviewers see it with `staff`."""
        staff = others.pop("staff")
        facts = _facts(row)
        if not staff:
            facts |= dict.fromkeys(cls.of_staff, UNSET)
        ratings = sorted(row.ratings.all(), key=lambda rating: (rating.step.position, rating.ordinal))
        path = [ChosenStep.of(step) for step in row.path.all()]
        return super().of(row, ratings=[RatingRow.of(rating) for rating in ratings], path=path, **facts, **others)


def _facts(row: Annotation) -> dict[str, Any]:
    """What other tables hold for the platform's own labels, else what the file of an imported label states."""
    item, draw, stated = row.item, getattr(row.lease, "hint", None), row.stated
    return {
        "guidelines": row.guidelines.number if row.guidelines else stated.get("guidelines"),
        "generation": item.generation.number if item else stated.get("generation"),
        "inclusion_probability": item.inclusion_probability if item else stated.get("inclusion", {}).get("probability"),
        "hint": HintOfLabel.of(draw) if draw else msgspec.convert(stated.get("hint"), HintOfLabel | None),
    }


class Labels(PagedView):
    """The labels of a project."""

    scopes = {"GET": "read"}

    @extend_schema(operation_id="list_labels", parameters=query_of(LabelFilter), responses=Page[LabelRow])
    def get(self, request: Request, slug: str) -> Response:
        """Each annotator's latest revision, and the labels from files, latest first.

        Annotators see their own labels only, without the fields that could reveal hidden gold, and can filter by
        `finish_reason`, `since` and `until`.
        """
        member = _reader(request, slug)
        kind: type[ListFilter] = LabelFilter if member.role in STAFF else OwnLabelFilter
        rows = read_query(request, kind).narrow(member.project, _rows(member, current_annotations(member.project)))
        return self.page_of(rows, request, lambda row: LabelRow.of(row, staff=member.role in STAFF))


class LabelDetail(APIView):
    """One label."""

    scopes = {"GET": "read"}

    @extend_schema(operation_id="get_label", responses=LabelRow)
    def get(self, request: Request, slug: str, label_id: int) -> Response:
        """A label, of any revision. Annotators see their own labels only."""
        member = _reader(request, slug)
        labels = _rows(member, member.project.annotations.all()).filter(pk=label_id)
        otherwise = Message("annotation_not_found", name=member.project.name, annotation_id=label_id)
        label = find_row(labels, otherwise)
        return Response(LabelRow.of(label, staff=member.role in STAFF))


def _reader(request: Request, slug: str) -> Membership:
    project = find_project(request.user, slug)
    member = require_role(request.user, project)
    member.project = project
    return member


def _rows(member: Membership, labels: QuerySet[Annotation]) -> QuerySet[Annotation]:
    """The labels that the member may see, latest first, with all that a row shows."""
    if member.role not in STAFF:
        labels = labels.filter(annotator=member)
    ratings = StepRating.objects.select_related("step").defer("step__text")
    path = PathStep.objects.select_related("chosen").defer("chosen__text", "native")
    rows = ("solution", "source", "annotator", "guidelines", "item__generation", "lease__hint__model_version")
    long = ("solution__extra", "solution__provenance", "native", "guidelines__text", "guidelines__examples")
    return (
        labels.annotate(set_aside=ExpressionWrapper(is_set_aside(), output_field=BooleanField()))
        .select_related(*rows)
        .defer(*long, "lease__hint__model_version__manifest")
        .prefetch_related(Prefetch("ratings", ratings), Prefetch("path", path))
        .order_by("-submitted_at", "-pk")
    )
