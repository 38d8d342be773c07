"""Removes folders of the server from what people and programs read."""

import json
from pathlib import PurePath
from typing import Any

from django.conf import settings

from prm.messages import Message, as_json, from_json


def without_roots(text: str) -> str:
    """The text with paths relative to the data folder, such as `runs/7/train.log`."""
    if isinstance(text, Message):
        return from_json(json.loads(_without_roots(json.dumps(as_json(text), ensure_ascii=False))))
    return _without_roots(text)


def without_folders(value: Any) -> Any:
    """The JSON value with each absolute path shortened to its last part."""
    if isinstance(value, dict):
        return {name: without_folders(item) for name, item in value.items()}
    if isinstance(value, list):
        return [without_folders(item) for item in value]
    return PurePath(value).name if isinstance(value, str) and value.startswith("/") else value


def _without_roots(text: str) -> str:
    return text.replace(f"{settings.STATE_ROOT}/", "").replace(f"{settings.BASE_DIR}/", "")
