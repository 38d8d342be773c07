import json
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
from django.db import models

from annotation.core.wording import read_message
from prm.messages import as_json

T = TypeVar("T", bound=msgspec.Struct | None)

if TYPE_CHECKING:
    JSON = models.JSONField[T, T]
else:
    JSON = models.JSONField


class StructEncoder(json.JSONEncoder):
    def default(self, o: Any) -> Any:
        return msgspec.to_builtins(o, enc_hook=as_json)


class StructField(JSON):
    """A JSON column with a msgspec struct as its value. A `Message` in the struct keeps its code and values."""

    def __init__(self, struct: Any = None, **kwargs: Any) -> None:
        self.struct = struct
        super().__init__(**{"encoder": StructEncoder} | kwargs)

    def deconstruct(self) -> Any:
        """The field as a plain JSONField, so that migrations do not depend on the struct."""
        name, _path, args, kwargs = super().deconstruct()
        del kwargs["encoder"]
        if "default" in kwargs and kwargs["default"] is self.struct:
            kwargs["default"] = dict
        return name, "django.db.models.JSONField", args, kwargs

    def from_db_value(self, value: str | None, expression: Any, connection: Any) -> Any:
        return None if value is None else msgspec.json.decode(value, type=self.struct, dec_hook=read_message)
