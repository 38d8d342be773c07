"""Submissions and the caller's own progress."""

from typing import Annotated, Self

import msgspec
from drf_spectacular.utils import extend_schema
from msgspec import UNSET, Meta, UnsetType
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.authentication import by_program, caller
from annotation.api.boundary import read_body
from annotation.api.claims import ClaimAnswer, Held, Task, answer_claim
from annotation.api.scopes import require_scopes
from annotation.core.bounds import Count, FirstError, Id, about
from annotation.core.membership.access import find_project, membership_of
from annotation.labels.labour.statistics import my_progress
from annotation.models import SentBack
from annotation.work.claiming import fetch_steps
from annotation.work.labelling.payload import OwnLabel, Submission
from annotation.work.labelling.revisions import as_submitted, fills_place, find_latest
from annotation.work.labelling.sending_back import sent_back_to
from annotation.work.labelling.submission import Submitted, submit_annotation
from annotation.work.practice.screening_progress import Standing, describe_standing


class LabelToRevise(msgspec.Struct):
    task: Annotated[Task, about("The solution as a task.")]
    submitted: Annotated[OwnLabel, about("The label as it was submitted.")]
    sent_back: Annotated[str | None, about("The reason for sending it back; null if it was not.")]


class Receipt(msgspec.Struct):
    id: Id
    revision: Annotated[
        int,
        Meta(
            ge=1,
            description="Above 1, it replaces the caller's earlier label everywhere.",
        ),
    ]
    counted: Annotated[
        bool,
        Meta(
            description="True if the label, or an earlier revision of it, counts towards the annotations wanted. "
            "False for an adjudication and for a label submitted after the item was complete. Both are still used."
        ),
    ]
    first_error: Annotated[FirstError | None, about("Position of the first error; -1 if none, null if unknown.")]

    @classmethod
    def of(cls, submitted: Submitted) -> Self:
        label = submitted.annotation
        return cls(label.pk, label.revision, fills_place(label), label.first_error)


class LabelAndClaim(Submission, frozen=True, kw_only=True):
    """A label, and a claim of the next task by the same request."""

    holding: Annotated[
        Held | UnsetType,
        about("Leases that the page holds besides this one. If it is sent, the response has the next task."),
    ] = UNSET


class ReceiptAndTask(Receipt):
    next: Annotated[
        ClaimAnswer | UnsetType, about("The response to the claim; only if the label was sent with `holding`.")
    ] = UNSET


class OwnProgress(msgspec.Struct):
    today: Annotated[Count, about("Labels today.")]
    total: Annotated[Count, about("Number of labels.")]
    median_seconds: Annotated[float | None, about("Median active time per label, in seconds; null if unknown.")]
    sent_back: Annotated[Count, about("Number of labels that reviewers sent back to the caller.")] = 0
    screening: Annotated[
        Standing | None,
        about("Null if the caller is not screened, or has submitted ordinary work."),
    ] = None


class Annotations(APIView):
    """Submissions of a project."""

    scopes = {"POST": "submit"}

    @extend_schema(operation_id="submit", request=LabelAndClaim, responses={201: ReceiptAndTask, 200: ReceiptAndTask})
    def post(self, request: Request, slug: str) -> Response:
        """Submit an annotation. Returns 201 the first time, 200 with the same body if the submission is repeated.

        With `holding`, the same request claims the next task once the label is stored. It needs the scope `claim` too.
        With a token that is not marked as a person's tool, the label's source kind is model judge.
        Returns 409 `revision_conflict` if the caller has a newer revision than `based_on`. `extra` then holds it as
        `latest`, and the submission as `submitted`. To replace it, submit again with `extra.revision` as `based_on`.
        """
        project = find_project(request.user, slug)
        body, by = read_body(request, LabelAndClaim), caller(request)
        if claims := body.holding is not UNSET:
            require_scopes(request, ["claim"])
        submitted = submit_annotation(
            by=by, project=project, submission=body.label, by_program=by_program(request), flushes=not claims
        )
        receipt = ReceiptAndTask.of(submitted)
        if body.holding is not UNSET:  # the claim also waits until the label is on the disk
            receipt.next = answer_claim(by=by, project=project, holding=body.holding)
        return Response(receipt, status=201 if submitted.created else 200)


class OwnWork(APIView):
    """The caller's own label on a solution."""

    scopes = {"GET": "read"}

    @extend_schema(operation_id="own_work", responses=LabelToRevise)
    def get(self, request: Request, slug: str, solution_id: int) -> Response:
        """The caller's latest revision on a solution, with the solution as a task and the draft of a revision."""
        project = find_project(request.user, slug)
        latest = find_latest(by=caller(request), project=project, solution_id=solution_id)
        assert latest.lease is not None  # `find_latest` requires one
        sent = latest.sent_back.filter(state=SentBack.State.OPEN).first()
        task = Task.of_lease(
            latest.lease, project, fetch_steps(solution_id), guidelines=project.current_guidelines.number
        )
        return Response(LabelToRevise(task, as_submitted(latest), sent.reason if sent else None))


class MyProgress(APIView):
    """The caller's own work."""

    scopes = {"GET": "read"}

    @extend_schema(operation_id="my_progress", responses=OwnProgress)
    def get(self, request: Request, slug: str) -> Response:
        """How many solutions the caller labelled today and in total, and the time per solution."""
        project = find_project(request.user, slug)
        member = membership_of(request.user, project)
        progress = OwnProgress(**my_progress(by=caller(request), project=project))
        if member is not None:
            member.project = project
            progress.sent_back = sent_back_to(member).count()
            progress.screening = describe_standing(member)
        return Response(progress)
