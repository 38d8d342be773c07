"""Fields that hold at the boundary what the database cannot store."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from annotation.core.wording import in_reader_words, in_words
from prm.splitting import THINKING

LARGEST_ID = 2**63 - 1
LARGEST_MS = 2**53 - 1


@extend_schema_field({"type": "object", "additionalProperties": {}})
class JSONObjectField(serializers.JSONField):
    """A JSON object without NUL and broken characters, which PostgreSQL refuses."""

    default_error_messages = {
        "not_an_object": "This is not a JSON object.",
        "bad_character": "A text in it holds a NUL or a broken character.",
    }

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        if not isinstance(data, dict):
            self.fail("not_an_object")
        if not _storable(data):
            self.fail("bad_character")
        return data


class ThinkingField(serializers.ChoiceField):
    """What happens to hidden reasoning in solutions that come as one text."""

    def __init__(self, **kwargs: Any) -> None:
        text = (
            "Hidden reasoning (`<think>…</think>`) in solutions that come as one text: `separate` keeps it beside the "
            "solution, `drop` discards it, `keep` splits it into steps."
        )
        super().__init__(list(THINKING), **{"default": "separate", "help_text": text, **kwargs})


class MessageField(serializers.CharField):
    """What a service or a worker said, in the caller's language."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(read_only=True, **kwargs)

    def to_representation(self, value: str) -> str:
        return in_words(value)


class VerdictField(JSONObjectField):
    """A gate's verdict, its sentences in the caller's language."""

    def to_representation(self, value: Any) -> Any:
        return in_reader_words(value)


class AuditsField(JSONObjectField):
    """A model's last audits, what they found in the caller's language."""

    def to_representation(self, value: Any) -> Any:
        findings = [in_reader_words(finding) for finding in value.get("findings", [])]
        return value | {"findings": findings} if value else value


class IdField(serializers.IntegerField):
    """The id of a row."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(min_value=1, max_value=LARGEST_ID, **kwargs)


class MillisecondsField(serializers.IntegerField):
    """A duration."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(min_value=0, max_value=LARGEST_MS, **kwargs)


def _storable(value: Any) -> bool:
    if isinstance(value, str):
        return "\0" not in value and not any("\ud800" <= character <= "\udfff" for character in value)
    if isinstance(value, dict):
        return all(_storable(name) and _storable(inner) for name, inner in value.items())
    return all(map(_storable, value)) if isinstance(value, list) else True
