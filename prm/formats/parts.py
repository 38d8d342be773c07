"""What a message of an agent's chat says: a text, or parts of text and images; and its tool calls.

An image that came with the file as data becomes Markdown that holds it, `![image](data:image/png;base64,...)`, and
one that lies elsewhere becomes Markdown that tells where. A call reads as `name({"argument": ...})`.
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
    """`image_url` is OpenAI's way to hold an image, `source` Anthropic's and ATIF's."""

    text: str = ""
    image_url: str | _Address | None = None
    source: _Source | None = None


Content = str | list[Part] | None


def text_of(content: Content) -> str:
    """The parts one after another, each image on a line of its own."""
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
    """One call; arguments come as an object, or as the JSON text of one."""
    text = arguments if isinstance(arguments, str) else msgspec.json.encode(arguments).decode()
    return f"{name}({text})"


def step_text(message: str, calls: list[str]) -> str:
    """What was said, then the calls, one a line."""
    return "\n".join(part for part in (message, *calls) if part)
