"""Scores of solutions by the champion of a project."""

from typing import Annotated, Self
from uuid import UUID

import msgspec
from drf_spectacular.utils import extend_schema
from msgspec import UNSET, Meta, UnsetType
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.authentication import caller, token_of
from annotation.api.boundary import read_body
from annotation.api.texts import MOST_SOLUTIONS, SolutionToScore
from annotation.core.bounds import LARGEST_INTEGER, Count, NonBlank, about, invalid
from annotation.loop.gateway.serving_model import Text
from annotation.serving import scoring_requests
from annotation.serving.messages import Served
from annotation.serving.recent import recent_project
from prm import scores
from prm.messages import Message
from prm.trust import Scored

TIMEOUT, LONGEST_TIMEOUT = 20.0, 55.0

Aggregate = Annotated[scores.Aggregate, about("How step scores are aggregated into the solution's score.")]
Timeout = Annotated[float, Meta(ge=0.1, le=LONGEST_TIMEOUT, description="Seconds.")]


ProjectSlug = Annotated[NonBlank, Meta(max_length=80, description="The project whose champion scores.")]
Domain = Annotated[str, Meta(max_length=100, description="The domain; if it has its own champion, that model scores.")]
VersionNumber = Annotated[
    Annotated[int, Meta(ge=1, le=LARGEST_INTEGER)] | None,
    about("Number of a model. Default: the champion."),
]


class SolutionsToScore(SolutionToScore, kw_only=True):
    """One solution in the body itself, or many in `solutions`."""

    project: ProjectSlug
    domain: Domain = ""
    model: VersionNumber = None
    aggregate: Aggregate = "product"
    timeout: Timeout = TIMEOUT
    solutions: Annotated[
        Annotated[list[SolutionToScore], Meta(min_length=1, max_length=MOST_SOLUTIONS)] | UnsetType,
        about("Many solutions at once."),
    ] = UNSET

    def texts(self) -> list[Text]:
        """The texts to score. Raises DomainError (`invalid`)."""
        if self.solutions is UNSET:
            return [self.as_text()]
        if any(one is not UNSET for one in (self.problem, self.steps, self.text, self.messages)):
            raise invalid("", Message("one_solution_or_many"))
        return [one.as_text(f"solutions[{index}]") for index, one in enumerate(self.solutions)]


class StepScore(msgspec.Struct):
    """A step's score. All fields are null if the step is beyond the model's context."""

    mean: Annotated[float | None, about("p(the step is correct | all earlier steps are correct).")]
    spread: Annotated[float | None, about("Standard deviation over the ensemble.")]


class SolutionScore(msgspec.Struct):
    """A solution's scores and the verdict on it."""

    score: Annotated[float | None, about("The mean step scores, aggregated as requested.")]
    steps: Annotated[list[StepScore], about("The score of each step.")]
    first_suspicious: Annotated[
        int | None,
        about("Position of the first step below the threshold; -1 if none; null if unknown."),
    ]
    threshold: Annotated[float | None, about("The model's threshold for a solution with so many steps.")]
    uncertainty: Annotated[float | None, about("The model's own probability that `first_suspicious` is wrong.")]
    abstained: Annotated[
        bool | None,
        Meta(
            description="Do not rely on the verdict: its uncertainty is above the calibrated limit, or the text is out "
            "of domain. null: the model has no calibrated limit."
        ),
    ]
    out_of_domain: Annotated[
        bool | None, about("The text is unlike the training data; null if the model cannot detect it.")
    ]
    unscored_steps: Annotated[Count, about("Number of steps beyond the model's context.")]

    @classmethod
    def of(cls, one: Scored) -> Self:
        return cls(
            score=one.score,
            steps=[StepScore(mean, spread) for mean, spread in zip(one.mean, one.spread, strict=True)],
            first_suspicious=one.first_suspicious,
            threshold=one.threshold,
            uncertainty=one.uncertainty,
            abstained=one.abstained,
            out_of_domain=one.out_of_domain,
            unscored_steps=one.mean.count(None),
        )


class Scoring(msgspec.Struct):
    request_id: Annotated[UUID, about("The key of these scores in the score log.")]
    model: Annotated[Served, about("The name of the model.")]
    aggregate: Aggregate
    results: Annotated[list[SolutionScore], about("The result of each solution, in the order of the request.")]


class Scores(APIView):
    """Scoring with the champion."""

    scopes = {"POST": "score"}
    asks_a_worker = True

    @extend_schema(operation_id="score", request=SolutionsToScore, responses=Scoring)
    def post(self, request: Request) -> Response:
        """Score one solution or many. Results are in the order of the solutions. For members of the project."""
        body = read_body(request, SolutionsToScore)
        texts = body.texts()
        request_id, answer = scoring_requests.ask_worker(
            by=caller(request),
            token=token_of(request),
            project=recent_project(request.user, body.project),
            texts=texts,
            domain=body.domain,
            number=body.model,
            aggregate=body.aggregate,
            timeout=body.timeout,
        )
        assert answer.served is not None, "an answer without a failure names its model"
        results = [SolutionScore.of(one) for one in answer.results]
        return Response(Scoring(UUID(str(request_id)), answer.served, body.aggregate, results))
