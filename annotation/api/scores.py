"""Scores of solutions by the model that serves a project."""

from typing import Annotated, Literal, Self
from uuid import UUID

import msgspec
from drf_spectacular.utils import extend_schema
from msgspec import UNSET, Meta, UnsetType
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.authentication import caller, token_of
from annotation.api.boundary import invalid, read_body
from annotation.api.texts import MOST_SOLUTIONS, SolutionToScore
from annotation.core.bounds import LARGEST_INTEGER, Count, Written
from annotation.core.membership.access import find_project
from annotation.loop.gateway.serving_model import Scored, Text
from annotation.serving import scoring_requests
from annotation.serving.messages import Served
from prm.messages import Message

TIMEOUT, LONGEST_TIMEOUT = 20.0, 55.0

Aggregate = Annotated[
    Literal["product", "min", "mean", "last"], Meta(description="How steps make the solution's score.")
]
Timeout = Annotated[float, Meta(ge=0.1, le=LONGEST_TIMEOUT, description="Seconds.")]


ProjectSlug = Annotated[Written, Meta(max_length=80, description="The project whose model scores.")]
Domain = Annotated[str, Meta(max_length=100, description="A domain that has a champion of its own is scored by it.")]
VersionNumber = Annotated[
    Annotated[int, Meta(ge=1, le=LARGEST_INTEGER)] | None,
    Meta(description="Number of a model version; else the champion."),
]


class SolutionsToScore(SolutionToScore, kw_only=True):
    """One solution at the top, or many in `solutions`."""

    project: ProjectSlug
    domain: Domain = ""
    model: VersionNumber = None
    aggregate: Aggregate = "product"
    timeout: Timeout = TIMEOUT
    solutions: Annotated[list[SolutionToScore], Meta(min_length=1, max_length=MOST_SOLUTIONS)] | UnsetType = UNSET

    def texts(self) -> list[Text]:
        """Raises DomainError (`invalid`)."""
        if self.solutions is UNSET:
            return [self.as_text()]
        if any(one is not UNSET for one in (self.problem, self.steps, self.text, self.messages)):
            raise invalid("", Message("one_solution_or_many"))
        return [one.as_text(f"solutions[{index}]") for index, one in enumerate(self.solutions)]


class StepScore(msgspec.Struct):
    """A step's score; null throughout where the step did not fit the model's context."""

    mean: Annotated[float | None, Meta(description="p(the step is no error | those before are good).")]
    spread: Annotated[float | None, Meta(description="Standard deviation over the ensemble.")]


class SolutionScore(msgspec.Struct):
    """A solution's scores and the verdict on it."""

    score: Annotated[float | None, Meta(description="The steps' means by the chosen aggregate.")]
    steps: list[StepScore]
    first_suspicious: Annotated[
        int | None,
        Meta(description="The first step below the model's threshold, from 0; -1: none; null: cannot be told."),
    ]
    uncertainty: Annotated[
        float | None, Meta(description="The model's own probability that `first_suspicious` is wrong.")
    ]
    abstained: Annotated[
        bool | None,
        Meta(
            description="Do not rely on the verdict: its uncertainty is beyond the calibrated bar, or the text is out "
            "of domain. null: the model has no bar."
        ),
    ]
    out_of_domain: Annotated[
        bool | None, Meta(description="Unlike what the model learned from; null: the model cannot tell.")
    ]
    unscored_steps: Count

    @classmethod
    def of(cls, one: Scored) -> Self:
        return cls(
            score=one.score,
            steps=[StepScore(mean, spread) for mean, spread in zip(one.mean, one.spread, strict=True)],
            first_suspicious=one.first_suspicious,
            uncertainty=one.uncertainty,
            abstained=one.abstained,
            out_of_domain=one.out_of_domain,
            unscored_steps=one.mean.count(None),
        )


class Scoring(msgspec.Struct):
    request_id: Annotated[UUID, Meta(description="Finds these scores in the score log.")]
    model: Served
    aggregate: Aggregate
    results: list[SolutionScore]


class Scores(APIView):
    """Scoring by the model that serves."""

    asks_a_worker = True

    @extend_schema(operation_id="score", request=SolutionsToScore, responses=Scoring)
    def post(self, request: Request) -> Response:
        """Score one solution or many; results stand in the order of the solutions. For members of the project."""
        body = read_body(request, SolutionsToScore)
        texts = body.texts()
        request_id, answer = scoring_requests.ask_worker(
            by=caller(request),
            token=token_of(request),
            project=find_project(request.user, body.project),
            texts=texts,
            domain=body.domain,
            number=body.model,
            aggregate=body.aggregate,
            timeout=body.timeout,
        )
        assert answer.served is not None, "an answer that is no failure names its model"
        results = [SolutionScore.of(one) for one in answer.results]
        return Response(Scoring(UUID(str(request_id)), answer.served, body.aggregate, results))
