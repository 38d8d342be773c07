"""The text of a chat message: a text, or parts of text and images, and its tool calls.

An image becomes Markdown with its data, `![image](data:image/png;base64,...)`, or with its address. A tool call
becomes `name({"argument": ...})`.
"""

from typing import Any

import msgspec


class _Address(msgspec.Struct):
    url: str = ""


class _Source(msgspec.Struct):
    media_type: str = ""
    data: str = ""
    path: str = ""
    url: str = ""


class Part(msgspec.Struct):
    """A part of a message: `image_url` is OpenAI's field for an image, `source` Anthropic's and ATIF's."""

    text: str = ""
    image_url: str | _Address | None = None
    source: _Source | None = None


Content = str | list[Part] | None


def text_of(content: Content) -> str:
    """The parts as one text, with each image on its own line."""
    return "".join(map(_text, content)) if isinstance(content, list) else content or ""


def _text(part: Part) -> str:
    address = _image(part)
    return f"{part.text}\n![image]({address})\n" if address else part.text


def _image(part: Part) -> str:
    if isinstance(part.image_url, _Address):
        return part.image_url.url
    if part.image_url or not part.source:
        return part.image_url or ""
    source = part.source
    return f"data:{source.media_type};base64,{source.data}" if source.data else source.url or source.path


def call_text(name: str, arguments: Any) -> str:
    """One call as text; arguments are an object or its JSON text."""
    text = arguments if isinstance(arguments, str) else msgspec.json.encode(arguments).decode()
    return f"{name}({text})"


def step_text(message: str, calls: list[str]) -> str:
    """The message, then one call per line."""
    return "\n".join(part for part in (message, *calls) if part)
