from typing import Any

from django.db import models

from prm.messages import as_json, from_json


class MessageField(models.JSONField):
    """A text that can be shown in the reader's language: a `Message` with its code and values, or any other text.

    Its value is a `str` in English. The column has an object for a message, a string for any other text.
    """

    def __init__(self, **kwargs: Any) -> None:
        kwargs.setdefault("default", str)
        kwargs.setdefault("blank", True)
        super().__init__(**kwargs)

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> str | None:
        stored = super().from_db_value(value, expression, connection)
        return None if stored is None else from_json(stored)

    def get_db_prep_value(self, value: Any, connection: Any, prepared: bool = False) -> Any:
        plain = as_json(value) if isinstance(value, str) else value
        return super().get_db_prep_value(plain, connection, prepared)

    def value_to_string(self, obj: models.Model) -> Any:
        return as_json(self.value_from_object(obj))

    def to_python(self, value: Any) -> Any:
        return from_json(value) if isinstance(value, dict) else value
