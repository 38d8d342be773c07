"""Scores in the shapes of vLLM's pooling API, so that clients of process reward models work unchanged."""

import base64
import math
import time
from typing import Any

import numpy as np
from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.authentication import caller, token_of
from annotation.api.fields import JSONObjectField
from annotation.api.scores import LONGEST_TIMEOUT
from annotation.api.served_models import model_named
from annotation.api.texts import LONGEST_TEXT, MOST_SOLUTIONS, MOST_STEPS
from annotation.core.errors import DomainError
from annotation.core.wording import in_words
from annotation.files.step_tags import of_turns, read_prompt
from annotation.loop.gateway.serving_model import Scored, Text
from annotation.serving import scoring_requests
from prm.messages import Message

LARGEST_TOKEN, MOST_TOKENS = 2**31 - 1, 131_072
TASKS = ("token_classify", "token_embed")
ENCODINGS, TYPES, ORDERS = ("float", "base64"), {"float32": "f4", "float16": "f2"}, {"little": "<", "big": ">"}

_IDS = {"type": "array", "items": {"type": "integer", "minimum": 0, "maximum": LARGEST_TOKEN}, "minItems": 1}
_PROMPT = {"type": "string", "minLength": 1, "maxLength": LONGEST_TEXT}


@extend_schema_field(
    {
        "oneOf": [
            _PROMPT,
            {"type": "array", "items": _PROMPT, "minItems": 1, "maxItems": MOST_SOLUTIONS},
            _IDS,
            {"type": "array", "items": _IDS, "minItems": 1, "maxItems": MOST_SOLUTIONS},
        ]
    }
)
class InputField(serializers.Field):
    """One prompt or many, as text or as token ids: a list of texts, or a list of lists of ids."""

    default_error_messages = {
        "wrong": "Give a text, a list of texts, a list of token ids, or a list of such lists.",
        "many": f"At most {MOST_SOLUTIONS} prompts are read at once, each of at most {LONGEST_TEXT:,} characters.",
    }

    def to_internal_value(self, data: Any) -> list[str] | list[list[int]]:
        if isinstance(data, str) or (isinstance(data, list) and data and all(map(_is_token, data))):
            data = [data]
        if not isinstance(data, list) or not data:
            self.fail("wrong")
        texts = all(isinstance(each, str) and each.strip() and "\0" not in each for each in data)
        ids = all(isinstance(each, list) and each and all(map(_is_token, each)) for each in data)
        if not texts and not ids:
            self.fail("wrong")
        if len(data) > MOST_SOLUTIONS or any(len(each) > (LONGEST_TEXT if texts else MOST_TOKENS) for each in data):
            self.fail("many")
        return data

    def to_representation(self, value: Any) -> Any:
        return value


class PoolingRequestSerializer(serializers.Serializer):
    """vLLM's request: `input` or `messages`. Fields of vLLM's that are not named here change nothing."""

    model = serializers.CharField(required=False, max_length=200, help_text="A project's slug; `slug@2` for a version.")
    input = InputField(required=False)
    messages = serializers.ListField(child=JSONObjectField(), required=False, min_length=2, max_length=MOST_STEPS)
    task = serializers.ChoiceField(TASKS, default="token_classify")
    encoding_format = serializers.ChoiceField(ENCODINGS, default="float")
    embed_dtype = serializers.ChoiceField(list(TYPES), default="float32")
    endianness = serializers.ChoiceField(["native", *ORDERS], default="native")
    use_activation = serializers.BooleanField(default=True, allow_null=True, help_text="False gives log-probabilities.")

    def validate(self, given: dict[str, Any]) -> dict[str, Any]:
        if ("input" in given) == ("messages" in given):
            raise serializers.ValidationError(_("Give `input` or `messages`: one of the two."))
        ids = "input" in given and not isinstance(given["input"][0], str)
        if ids != (given["task"] == "token_embed"):
            raise serializers.ValidationError(
                _(
                    "Token ids are read for their states, by the task `token_embed`; steps are judged in text, by the "
                    "task `token_classify`."
                )
            )
        if not ids:
            given["texts"] = _texts(given)
        return given


class PoolingDataSerializer(serializers.Serializer):
    index = serializers.IntegerField()
    object = serializers.CharField(default="pooling")
    data = serializers.JSONField(  # type: ignore[assignment] # the name is vLLM's
        help_text="One row a step tag, [p(error), p(no error)]; one row a token for `token_embed`; or their base64."
    )


class UsageSerializer(serializers.Serializer):
    prompt_tokens = serializers.IntegerField()
    total_tokens = serializers.IntegerField()
    completion_tokens = serializers.IntegerField()


class PoolingResponseSerializer(serializers.Serializer):
    id = serializers.CharField()
    object = serializers.CharField(default="list")
    created = serializers.IntegerField()
    model = serializers.CharField()
    data = PoolingDataSerializer(many=True)  # type: ignore[assignment]
    usage = UsageSerializer()


class Pooling(APIView):
    """vLLM's pooling route."""

    asks_a_worker = True

    @extend_schema(operation_id="pooling", request=PoolingRequestSerializer, responses=PoolingResponseSerializer)
    def post(self, request: Request) -> Response:
        """Class probabilities of every step, as vLLM's step pooling gives them; or a backbone's states of token ids."""
        given = PoolingRequestSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        said = given.validated_data
        project, domain, number = model_named(request, said.get("model"))
        request_id, answer = scoring_requests.ask_worker(
            by=caller(request),
            token=token_of(request),
            project=project,
            kind="score" if "texts" in said else "states",
            route="pooling",
            texts=said.get("texts", ()),
            ids=() if "texts" in said else said["input"],
            domain=domain,
            number=number,
            timeout=LONGEST_TIMEOUT,
        )
        if "texts" in said:
            rows = [_step_rows(one, activation=said["use_activation"] is not False) for one in answer.results]
        else:
            width = answer.width
            rows = [np.frombuffer(states, "<f4").reshape(-1, width) for states in answer.states]
        return Response(
            {
                "id": f"pool-{request_id}",
                "object": "list",
                "created": int(time.time()),
                "model": said.get("model", project.slug),
                "data": [
                    {"index": index, "object": "pooling", "data": _encoded(each, said)}
                    for index, each in enumerate(rows)
                ],
                "usage": {
                    "prompt_tokens": answer.tokens,
                    "total_tokens": answer.tokens,
                    "completion_tokens": 0,
                    "prompt_tokens_details": None,
                },
            }
        )


def _texts(given: dict[str, Any]) -> list[Text]:
    texts = []
    for index, prompt in enumerate(given.get("input") or [given["messages"]]):
        place = f"input[{index}]" if "input" in given else "messages"
        try:
            problem, steps = read_prompt(prompt) if isinstance(prompt, str) else of_turns(list(map(_turn, prompt)))
        except ValueError as error:
            raise serializers.ValidationError({place: [in_words(Message("invalid_sampling", error=error))]}) from None
        if not 1 <= len(steps) <= MOST_STEPS:
            count = _("It has %(n)s steps; 1 to %(most)s are read.") % {"n": len(steps), "most": MOST_STEPS}
            raise serializers.ValidationError({place: [count]})
        texts.append(Text(problem, tuple((step, "reasoning") for step in steps)))
    return texts


def _turn(message: dict[str, Any]) -> tuple[str, str]:
    role, content = message.get("role"), message.get("content")
    if isinstance(content, list):
        content = "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    if not isinstance(role, str) or not isinstance(content, str):
        raise ValueError(Message("message_without_text"))
    return role, content


def _step_rows(one: Scored, *, activation: bool) -> "np.ndarray":
    if None in one.mean:
        raise DomainError("beyond_context", Message("beyond_context"))
    rows = np.array([[1 - p, p] for p in one.mean if p is not None], dtype=np.float64)
    return rows if activation else np.log(np.clip(rows, math.ulp(0.0), None))


def _encoded(rows: "np.ndarray", said: dict[str, Any]) -> Any:
    if said["encoding_format"] == "float":
        return rows.tolist()
    order = ORDERS.get(said["endianness"], "=")
    return base64.b64encode(rows.astype(order + TYPES[said["embed_dtype"]]).tobytes()).decode()


def _is_token(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LARGEST_TOKEN
