"""Scores and models in the format of vLLM's API, so that clients of process reward models work unchanged.

A model's name is a project's slug, with `:domain` for a domain's own champion and `@2` for model 2.
"""

import base64
import math
import time
from collections.abc import Callable
from functools import partial
from typing import Annotated, Any, Literal, TypeVar

import msgspec
import numpy as np
from drf_spectacular.utils import extend_schema
from msgspec import UNSET, Meta, UnsetType
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.authentication import caller, token_of
from annotation.api.boundary import read_body
from annotation.api.scores import LONGEST_TIMEOUT
from annotation.api.texts import LONGEST_SCORED_TEXT, MOST_SOLUTIONS, MOST_STEPS
from annotation.core.bounds import LARGEST_INTEGER, Count, NonBlank, about, invalid
from annotation.core.errors import DomainError, Missing
from annotation.core.membership.access import visible_projects
from annotation.files.step_tags import of_turns, read_prompt
from annotation.loop.gateway.serving_model import Text
from annotation.models import DomainChampion, ModelVersion, Project
from annotation.serving import scoring_requests
from annotation.serving.recent import recent_project
from prm.messages import Message
from prm.trust import Scored

T = TypeVar("T")
MOST_TOKENS = 131_072
TYPES, ORDERS = {"float32": "f4", "float16": "f2"}, {"little": "<", "big": ">"}

Prompt = Annotated[NonBlank, Meta(max_length=LONGEST_SCORED_TEXT)]
Token = Annotated[int, Meta(ge=0, le=LARGEST_INTEGER)]
Tokens = Annotated[list[Token], Meta(min_length=1, max_length=MOST_TOKENS)]


class PromptsToPool(msgspec.Struct, kw_only=True):
    """vLLM's request: `input` or `messages`. Other fields of vLLM's are ignored."""

    model: Annotated[
        Annotated[NonBlank, Meta(max_length=200)] | None,
        about("A project's slug, or `slug@2` for model 2."),
    ] = None
    input: Annotated[
        Prompt | Annotated[list[Prompt | Token | Tokens], Meta(min_length=1)] | UnsetType,
        about("A text, a list of texts, a list of token ids, or a list of such lists."),
    ] = UNSET
    messages: Annotated[
        Annotated[list[dict[str, Any]], Meta(min_length=2, max_length=MOST_STEPS)] | UnsetType,
        about("A conversation to score."),
    ] = UNSET
    task: Annotated[Literal["token_classify", "token_embed"], about("The kind of pooling.")] = "token_classify"
    encoding_format: Annotated[Literal["float", "base64"], about("How values are encoded.")] = "float"
    embed_dtype: Annotated[Literal["float32", "float16"], about("The number format of encoded values.")] = "float32"
    endianness: Annotated[Literal["native", "little", "big"], about("The byte order of encoded values.")] = "native"
    use_activation: Annotated[bool | None, about("False gives log-probabilities.")] = True

    def texts(self) -> list[Text]:
        """The prompts whose steps are scored. Raises DomainError (`invalid`)."""
        if self.messages and self.input is UNSET:
            turns = self.messages
            return [_text("messages", lambda: of_turns(list(map(_turn, turns))))]
        return [
            _text(f"input[{index}]", partial(read_prompt, prompt)) for index, prompt in enumerate(self._inputs(str))
        ]

    def tokens(self) -> list[list[int]]:
        """The prompts whose states are returned. Raises DomainError (`invalid`)."""
        return self._inputs(list)

    def _inputs(self, kind: type[T]) -> list[T]:
        """The prompts in `input`, all of one kind. Raises DomainError (`invalid`)."""
        if (self.input is UNSET) == (self.messages is UNSET):
            raise invalid("", Message("input_or_messages"))
        prompts: list[Any] = self.input if isinstance(self.input, list) else [self.input]
        if all(isinstance(prompt, int) for prompt in prompts):  # one prompt of token ids
            prompts = [prompts]
        if len(prompts) > MOST_SOLUTIONS:
            raise invalid("input", Message("too_many_prompts", n=MOST_SOLUTIONS))
        if not all(isinstance(prompt, kind) for prompt in prompts):
            raise invalid("input", Message("token_ids_not_judged"))
        return prompts


class PooledRows(msgspec.Struct, kw_only=True):
    index: Annotated[Count, about("The place of the input, from 0.")]
    object: Annotated[str, about("The kind of object.")] = "pooling"
    data: Annotated[
        list[list[float]] | str,
        about("One row per step tag, [p(error), p(no error)], or per token for `token_embed`; or Base64."),
    ]


class PoolingUsage(msgspec.Struct, kw_only=True):
    prompt_tokens: Count
    total_tokens: Annotated[Count, about("Tokens in total.")]
    completion_tokens: Annotated[Count, about("Always 0.")] = 0
    prompt_tokens_details: Annotated[None, about("Always null.")] = None


class PoolingAnswer(msgspec.Struct, kw_only=True):
    id: Annotated[str, about("The id of the response.")]
    object: Annotated[str, about("The kind of object.")] = "list"
    created: int
    model: Annotated[str, about("The name of the model.")]
    data: Annotated[list[PooledRows], about("The rows of the response.")]
    usage: Annotated[PoolingUsage, about("The tokens that were used.")]


class Pooling(APIView):
    """vLLM's pooling route."""

    scopes = {"POST": "score"}
    asks_a_worker = True

    @extend_schema(operation_id="pooling", request=PromptsToPool, responses=PoolingAnswer)
    def post(self, request: Request) -> Response:
        """Class probabilities of every step, as in vLLM's step pooling, or a backbone's states of token ids."""
        body = read_body(request, PromptsToPool)
        of_steps = body.task == "token_classify" or body.messages is not UNSET
        texts, ids = (body.texts(), ()) if of_steps else ((), body.tokens())
        project, domain, number = model_named(request, body.model)
        request_id, answer = scoring_requests.ask_worker(
            by=caller(request),
            token=token_of(request),
            project=project,
            kind="score" if of_steps else "states",
            route="pooling",
            texts=texts,
            ids=ids,
            domain=domain,
            number=number,
            timeout=LONGEST_TIMEOUT,
        )
        if of_steps:
            rows = [_step_rows(one, activation=body.use_activation is not False) for one in answer.results]
        else:
            rows = [np.frombuffer(states, "<f4").reshape(-1, answer.width) for states in answer.states]
        return Response(
            PoolingAnswer(
                id=f"pool-{request_id}",
                created=int(time.time()),
                model=body.model or project.slug,
                data=[PooledRows(index=index, data=_encoded(each, body)) for index, each in enumerate(rows)],
                usage=PoolingUsage(prompt_tokens=answer.tokens, total_tokens=answer.tokens),
            )
        )


def _text(place: str, read: Callable[[], tuple[str, list[str]]]) -> Text:
    try:
        problem, steps = read()
    except ValueError as error:
        raise invalid(place, Message("invalid_sampling", error=error)) from None
    if not 1 <= len(steps) <= MOST_STEPS:
        raise invalid(place, Message("step_count_out_of_range", n=len(steps), most=MOST_STEPS))
    return Text(problem, tuple((step, "reasoning") for step in steps))


def _turn(message: dict[str, Any]) -> tuple[str, str]:
    role, content = message.get("role"), message.get("content")
    if isinstance(content, list):
        content = "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    if not isinstance(role, str) or not isinstance(content, str):
        raise ValueError(Message("message_without_text"))
    return role, content


def _step_rows(one: Scored, *, activation: bool) -> "np.ndarray":
    if None in one.mean:
        raise DomainError(Message("beyond_context"))
    rows = np.array([[1 - p, p] for p in one.mean if p is not None], dtype=np.float64)
    return rows if activation else np.log(np.clip(rows, math.ulp(0.0), None))


def _encoded(rows: "np.ndarray", body: PromptsToPool) -> list[list[float]] | str:
    if body.encoding_format == "float":
        numbers: list[list[float]] = rows.tolist()
        return numbers
    order = ORDERS.get(body.endianness, "=")
    return base64.b64encode(rows.astype(order + TYPES[body.embed_dtype]).tobytes()).decode()


class ServedModel(msgspec.Struct, kw_only=True):
    id: Annotated[str, about("The name of the model.")]
    object: Annotated[str, about("The kind of object.")] = "model"
    created: int
    owned_by: Annotated[str, about("Who made the model.")]
    root: Annotated[str, about("The model's name on this server.")]
    max_model_len: Annotated[int | None, about("The longest input in tokens; null if unknown.")]


class ServedModelList(msgspec.Struct):
    data: Annotated[list[ServedModel], about("The rows of the response.")]
    object: Annotated[str, about("The kind of object.")] = "list"


class ServedModels(APIView):
    """The models that serve the pooling route."""

    scopes = {"GET": "score"}

    @extend_schema(operation_id="list_served_models", responses=ServedModelList)
    def get(self, request: Request) -> Response:
        """One model for each of the caller's projects with a champion, and for each domain with its own."""
        projects = visible_projects(request.user)
        own = DomainChampion.objects.filter(project__in=projects).select_related("model_version__project")
        champions = ModelVersion.objects.filter(project__in=projects, state=ModelVersion.State.CHAMPION)
        named = [
            (version.project.slug, version)
            for version in champions.select_related("project")
            if version.answers_programs
        ]
        named += [(f"{one.model_version.project.slug}:{one.domain}", one.model_version) for one in own]
        named.sort(key=lambda one: one[0])
        return Response(ServedModelList([_served(name, version) for name, version in named]))


def _served(name: str, version: ModelVersion) -> ServedModel:
    return ServedModel(
        id=name,
        created=int((version.promoted_at or version.created_at).timestamp()),
        owned_by="stepmark",
        root=f"{version.project.slug}@{version.number}",
        max_model_len=version.manifest.get("config", {}).get("context"),
    )


def model_named(request: Request, name: str | None) -> tuple[Project, str, int | None]:
    """Project, domain and model number from a model's name. Without a name, it is the caller's only project."""
    if name is None:
        mine = list(visible_projects(request.user).filter(model_versions__state=ModelVersion.State.CHAMPION)[:2])
        if len(mine) != 1:
            raise Missing(Message("model_not_named"), {"field": "model"}, code="model_not_found")
        return mine[0], "", None
    rest, _, number = name.partition("@")
    slug, _, domain = rest.partition(":")
    if number and not (number.isdecimal() and 0 < int(number) < 2**31):
        raise Missing(Message("model_number_invalid", number=number), {"field": "model"}, code="model_not_found")
    return recent_project(request.user, slug), domain, int(number) if number else None
