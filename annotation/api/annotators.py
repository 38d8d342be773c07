"""The analysis of annotators."""

from typing import Annotated, TypeVar
from uuid import UUID

import msgspec
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.core.bounds import Count, Id, about
from annotation.core.membership.access import STAFF, find_project
from annotation.core.reading import find_row
from annotation.labels.annotators.analysis import Analysis, who_is
from annotation.labels.annotators.biases import Measure
from annotation.labels.annotators.guessing import NO_SPEED, Note
from annotation.labels.annotators.label_costs import LabelCost, costs_by_member
from annotation.labels.annotators.patterns import PatternShare
from annotation.labels.annotators.valid_solutions import Rejections, rejections_of
from annotation.labels.annotators.weeks import Week
from annotation.models import LabelBatch, Project
from annotation.work.gold.gold_accuracy import Share
from prm.messages import Message

T = TypeVar("T")
NO_REJECTIONS = rejections_of([], {})


class AnnotatorRow(msgspec.Struct):
    """One annotator's speed, accuracy and cost."""

    annotator: Annotated[UUID, about("The annotator's pseudonym.")]
    step_ms: Annotated[float | None, about("Median milliseconds per step; null for fewer than 12 labels.")]
    usual_ms: Annotated[float | None, about("Other people's `step_ms`; null for fewer than three.")]
    right: Annotated[Share, about("Labels that name the reference's first error.")]
    guess: Annotated[float | None, about("Share that guesses would have right; null without a reference.")]
    note: Annotated[Note, about("What speed and accuracy say together; empty at the usual pace.")]
    cost: Annotated[LabelCost, about("What an accepted label costs.")]
    alarm: Annotated[Id | None, about("The id of the suspected batch; null for none.")]


class AnnotatorsReport(msgspec.Struct):
    """The annotators of a project, from its latest 5,000 labels."""

    currency: Annotated[str, about("The currency of costs.")]
    annotators: Annotated[list[AnnotatorRow], about("In the order in which they joined.")]


class BiasRow(msgspec.Struct):
    """A difference from the references on the same solutions, corrected for the number of people and features."""

    measure: Annotated[Measure, about("`calls` of errors, `position` in steps, or agreement with a `hint`.")]
    feature: Annotated[str, about("The feature of the solutions; empty for position and hints.")]
    with_feature: Annotated[Count, about("Labels with the feature.")]
    without: Annotated[Count, about("Labels without it; 0 for position.")]
    value: Annotated[float, about("The difference.")]
    low: Annotated[float, about("Lower end of its interval.")]
    high: Annotated[float, about("Upper end of its interval.")]
    clear: Annotated[bool, about("Whether it differs from zero after the correction.")]


class LikenessRow(msgspec.Struct):
    """How much a person's labels equal earlier ones by somebody else."""

    original: Annotated[UUID | None, about("Who labelled before; null for an imported source.")]
    shared: Annotated[Count, about("Solutions that both labelled.")]
    same: Annotated[Count, about("Of these, with the same first error.")]
    mistakes: Annotated[Count, about("Earlier labels that others contradict.")]
    same_mistakes: Annotated[Count, about("Of these, repeated by the person.")]
    usual: Annotated[float, about("How often other pairs of people share a mistake.")]
    comments: Annotated[Count, about("Long comments that are equal.")]


class AnnotatorReport(msgspec.Struct):
    """The analysis of one annotator."""

    annotator: Annotated[UUID, about("The annotator's pseudonym.")]
    weeks: Annotated[list[Week], about("Earliest first.")]
    biases: Annotated[list[BiasRow], about("Strongest evidence first.")]
    rejections: Annotated[Rejections, about("Valid solutions that the person rejects.")]
    patterns: Annotated[list[PatternShare], about("How far the answers follow each pattern.")]
    likenesses: Annotated[list[LikenessRow], about("Most shared mistakes first.")]


class Annotators(APIView):
    """The annotators of a project."""

    scopes = {"GET": "read"}

    @extend_schema(operation_id="list_annotators", responses=AnnotatorsReport)
    def get(self, request: Request, slug: str) -> Response:
        """Speed beside accuracy, and costs. Reviewers and managers only.

        `GET labels/?annotator=…&figure=compared` lists the labels behind `right`.
        """
        project = find_project(request.user, slug, *STAFF)
        return Response(AnnotatorsReport(project.policies.costs.currency, _rows(project)))


class AnnotatorDetail(APIView):
    """One annotator."""

    scopes = {"GET": "read"}

    @extend_schema(operation_id="get_annotator", responses=AnnotatorReport)
    def get(self, request: Request, slug: str, pseudonym: UUID) -> Response:
        """Weeks, biases, patterns and likeness to earlier labels. Reviewers and managers only."""
        project = find_project(request.user, slug, *STAFF)
        people = project.memberships.filter(pseudonym=pseudonym)
        person = find_row(people, Message("project_member_not_found"), code="member_not_found")
        analysis, who = Analysis(project), who_is(person)
        names = {who_is(one): one.pseudonym for one in project.memberships.all()}
        return Response(
            AnnotatorReport(
                annotator=pseudonym,
                weeks=analysis.weeks(who),
                biases=[_as(BiasRow, one) for one in analysis.biases if one.who == who],
                rejections=analysis.rejections.get(who, NO_REJECTIONS),
                patterns=analysis.patterns.get(who, []),
                likenesses=[
                    _as(LikenessRow, {**vars(one), "original": names.get(one.original)})
                    for one in analysis.likenesses
                    if one.who == who
                ],
            )
        )


def _as(kind: type[T], figures: object) -> T:
    """The figures as a struct of the same fields."""
    return msgspec.convert(figures, kind, from_attributes=True)


def _rows(project: Project) -> list[AnnotatorRow]:
    analysis, costs = Analysis(project), costs_by_member(project)
    suspected = project.label_batches.filter(state=LabelBatch.State.SUSPECTED, annotator__isnull=False)
    alarms = dict(suspected.values_list("annotator", "pk"))
    rows = []
    for person in project.memberships.filter(pk__in=costs).order_by("pk"):
        speed = analysis.speeds.get(who_is(person), NO_SPEED)
        rows.append(
            AnnotatorRow(
                annotator=person.pseudonym,
                step_ms=speed.step_ms,
                usual_ms=speed.usual_ms,
                right=speed.right,
                guess=speed.guess,
                note=speed.note,
                cost=costs[person.pk],
                alarm=alarms.get(person.pk),
            )
        )
    return rows
