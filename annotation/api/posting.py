"""Solutions from a sampling, search or RL run, posted in batches."""

import io
import json
from collections import Counter
from typing import Annotated, Any

import msgspec
from drf_spectacular.utils import extend_schema
from msgspec import Meta
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.authentication import caller
from annotation.api.boundary import read_body, read_query
from annotation.api.parsing import JSONParser, LinesParser
from annotation.core.bounds import Count, about, one_of
from annotation.core.membership.access import find_project
from annotation.files.posting import MOST_POSTED, Answer, post_solutions
from annotation.models import Membership
from prm.splitting import RULES, Thinking


class SolutionsToPost(msgspec.Struct):
    """`provenance` supplies each field that a solution's own provenance leaves out."""

    solutions: Annotated[
        list[Any],
        Meta(
            max_length=MOST_POSTED,
            description="`problem`, `steps` or `solution`, `id`, `answer` (the reference), `final_answer`, `outcome` "
            "(correct, wrong, unknown), `outcome_source` (given, tests), `provenance`, `labels`, `step_scores`, "
            "`domain`, `source_group`, `extra`.",
        ),
    ]
    provenance: Annotated[
        dict[str, Any],
        Meta(
            description="`policy`, `temperature`, `seed`, `prompt`, `scaffold`, `visibility` (raw, summary, redacted), "
            "`run`, `settings`."
        ),
    ] = {}
    decomposition: Annotated[str, one_of(RULES)] = "blank_lines"
    thinking: Thinking = "separate"

    def lines(self) -> bytes:
        """One solution per line, for JSON Lines."""
        return "\n".join(json.dumps(_with(one, self.provenance)) for one in self.solutions).encode()


class SplittingQuery(msgspec.Struct):
    decomposition: str = "blank_lines"
    thinking: str = "separate"


class PostedSolutions(msgspec.Struct):
    accepted: Annotated[Count, about("Number of new solutions.")]
    duplicates: Annotated[Count, about("Number of solutions that existed before.")]
    rejected: Annotated[Count, about("Number of rejected solutions.")]
    solutions: Annotated[list[Answer], about("The result of each solution.")]


class PostSolutions(APIView):
    """Posting solutions."""

    parser_classes = (JSONParser, LinesParser)

    @extend_schema(operation_id="post_solutions", request=SolutionsToPost, responses=PostedSolutions)
    def post(self, request: Request, slug: str) -> Response:
        """Add a batch of solutions; the response has a result for each. Managers only.

        `application/x-ndjson` takes one solution per line, with `?decomposition=` and `?thinking=` in the address.
        Posting a batch again adds nothing: an existing solution is a duplicate, and its result has its id. 429: post
        the batch again later.
        """
        project = find_project(request.user, slug, Membership.Role.MANAGER)
        content: Any
        chosen: SolutionsToPost | SplittingQuery
        if request.content_type.startswith(LinesParser.media_type):
            content, chosen = request.data or b"", read_query(request, SplittingQuery)
        else:
            chosen = read_body(request, SolutionsToPost, any_text=True)
            content = chosen.lines()
        answers = post_solutions(
            by=caller(request),
            project=project,
            content=io.BytesIO(content),
            decomposition=chosen.decomposition,
            thinking=chosen.thinking,
        )
        states = Counter(answer.state for answer in answers)
        return Response(PostedSolutions(states["accepted"], states["duplicate"], states["rejected"], answers))


def _with(one: Any, shared: dict[str, Any]) -> Any:
    """A solution with the shared provenance added. A value of another type is unchanged, so that it is rejected."""
    own = one.get("provenance", {}) if isinstance(one, dict) else None
    return {**one, "provenance": {**shared, **own}} if shared and isinstance(own, dict) else one
