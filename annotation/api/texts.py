"""Solutions as programs send them for scoring: problem with steps, or an OpenAI-style chat."""

from typing import Any

import msgspec
from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from annotation.api.fields import JSONObjectField, ThinkingField
from annotation.core.wording import in_words
from annotation.loop.gateway.serving_model import Text
from prm.faults import sentence_of
from prm.formats.messages import record_of
from prm.formats.reading import Unreadable
from prm.messages import Message
from prm.splitting import RULES, Splitting
from prm.vocabulary import STEP_KINDS

MOST_SOLUTIONS, MOST_STEPS = 64, 512
LONGEST_TEXT = 100_000


class StepSerializer(serializers.Serializer):
    """One step; its kind tells a tool's answer from reasoning."""

    text = serializers.CharField(max_length=LONGEST_TEXT, trim_whitespace=False)
    kind = serializers.ChoiceField(STEP_KINDS, default="reasoning")


@extend_schema_field(
    {
        "oneOf": [
            {"type": "string", "minLength": 1, "maxLength": LONGEST_TEXT},
            {
                "type": "object",
                "required": ["text"],
                "properties": {
                    "text": {"type": "string", "minLength": 1, "maxLength": LONGEST_TEXT},
                    "kind": {"type": "string", "enum": STEP_KINDS},
                },
            },
        ]
    }
)
class StepField(serializers.Field):
    """A step as plain text, or with its kind."""

    def to_internal_value(self, data: Any) -> tuple[str, str]:
        given = StepSerializer(data={"text": data} if isinstance(data, str) else data)
        given.is_valid(raise_exception=True)
        return given.validated_data["text"], given.validated_data["kind"]

    def to_representation(self, value: tuple[str, str]) -> dict[str, str]:
        return {"text": value[0], "kind": value[1]}


class TextSerializer(serializers.Serializer):
    """A solution: `problem` with `steps`, `problem` with an undivided `text`, or `messages`."""

    problem = serializers.CharField(required=False, max_length=LONGEST_TEXT, trim_whitespace=False)
    steps = serializers.ListField(child=StepField(), required=False, min_length=1, max_length=MOST_STEPS)
    text = serializers.CharField(
        required=False, max_length=LONGEST_TEXT, help_text="A solution not divided yet; `decomposition` divides it."
    )
    messages = serializers.ListField(
        child=JSONObjectField(), required=False, min_length=2, max_length=MOST_STEPS + 1,
        help_text="An OpenAI chat. The first user's message is the problem. A single answer is divided by the rule of "
        "`decomposition`; in a longer run every later message is one step.",
    )  # fmt: skip
    decomposition = serializers.ChoiceField(list(RULES), default="blank_lines")
    thinking = ThinkingField(
        default="drop", help_text="Hidden reasoning (`<think>…</think>`) in a text: scored as steps only with `keep`."
    )

    def validate(self, given: dict[str, Any]) -> dict[str, Any]:
        ways = [name for name in ("steps", "text", "messages") if name in given]
        if len(ways) != 1 or ("problem" in given) == ("messages" in given):
            raise serializers.ValidationError(
                _("Give `problem` with `steps`, `problem` with `text`, or `messages`: one of the three.")
            )
        given["as_text"] = Text(given["problem"], tuple(given["steps"])) if "steps" in given else _text(given)
        steps = given["as_text"].steps
        if not 1 <= len(steps) <= MOST_STEPS:
            raise serializers.ValidationError(
                _("The text has %(n)s steps; 1 to %(most)s are scored at once.") % {"n": len(steps), "most": MOST_STEPS}
            )
        return given


def _text(given: dict[str, Any]) -> Text:
    splitting = Splitting(given["decomposition"], given["thinking"])
    if "text" in given:
        return Text(given["problem"], _divided(given["text"], splitting))
    try:
        record = record_of({"messages": given["messages"]})
    except msgspec.ValidationError as error:
        raise serializers.ValidationError({"messages": [in_words(sentence_of(error))]}) from None
    except Unreadable as error:
        raise serializers.ValidationError({"messages": [in_words(error.reason)]}) from None
    steps = tuple((at[0].text, at[0].kind) for at in record.positions)
    if any(len(text) > LONGEST_TEXT for text, _kind in steps) or len(record.problem) > LONGEST_TEXT:
        too_long = Message("message_too_long", n=LONGEST_TEXT)
        raise serializers.ValidationError({"messages": [in_words(too_long)]})
    answers_once = len(steps) == 1 and given["messages"][-1].get("role") == "assistant"
    if answers_once and not given["messages"][-1].get("tool_calls"):
        return Text(record.problem, _divided(steps[0][0], splitting))
    return Text(record.problem, steps)


def _divided(text: str, splitting: Splitting) -> tuple[tuple[str, str], ...]:
    return tuple((step, "reasoning") for step in splitting.split(text).steps)
