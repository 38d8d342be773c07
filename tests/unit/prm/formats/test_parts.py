"""Messages in parts: texts, and images, which come as Markdown."""

import json
from io import BytesIO

import msgspec
import pytest

from prm.encoding import render_step
from prm.formats.messages import messages
from prm.formats.parts import Part, text_of
from prm.formats.record import Record
from prm.traces import Step

DATA = "iVBORw0KGgo="


@pytest.mark.parametrize(
    ("part", "text"),
    [
        ({"type": "text", "text": "see"}, "see"),
        ({"type": "image_url", "image_url": {"url": f"data:image/png;base64,{DATA}"}}, f"data:image/png;base64,{DATA}"),
        ({"type": "image_url", "image_url": "https://example.org/a.png"}, "https://example.org/a.png"),
        ({"type": "image", "source": {"media_type": "image/png", "data": DATA}}, f"data:image/png;base64,{DATA}"),
        ({"type": "image", "source": {"media_type": "image/png", "path": "images/a.png"}}, "images/a.png"),
    ],
)
def test_an_image_becomes_markdown_that_holds_it_or_tells_where_it_is(part: dict, text: str) -> None:
    said = text_of([msgspec.convert(part, Part)])
    assert said == (text if part["type"] == "text" else f"\n![image]({text})\n")


def test_what_a_tool_answers_with_an_image_is_a_step_with_that_image() -> None:
    image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{DATA}"}}
    said = [
        {"role": "user", "content": "Draw."},
        {"role": "tool", "content": [{"type": "text", "text": "plot:"}, image]},
    ]
    ((_, record),) = messages.read(BytesIO(json.dumps({"messages": said}).encode()))
    assert isinstance(record, Record)
    assert record.positions[0][0].text == f"plot:\n![image](data:image/png;base64,{DATA})\n"


def test_a_model_is_not_given_what_an_image_holds() -> None:
    step = Step(f"plot: ![image](data:image/png;base64,{DATA}) done", "observation")
    assert render_step(step) == "[observation] plot: ![image](data:image/png) done"
    assert render_step(Step("see (data:image) and ![a](b)")) == "see (data:image) and ![a](b)"
