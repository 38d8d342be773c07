"""Every example on the page of formats is recognised and read."""

import io
import re
from pathlib import Path

import pytest

from annotation.formats.record import Record
from annotation.formats.registry import READERS, detect

PAGE = Path(__file__).parents[4] / "docs" / "formats.md"
EXAMPLES = dict(re.findall(r"^(\w+) +(\{.*(?:\n .*)*)", PAGE.read_text().partition("## An example")[2], re.MULTILINE))


def test_every_format_has_an_example():
    assert sorted(EXAMPLES) == sorted(READERS)


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_the_example_is_recognised_and_read(name):
    content = re.sub(r"\n +", " ", EXAMPLES[name]).encode()
    assert detect(io.BytesIO(content), "file") == name
    [(line, record)] = READERS[name](io.BytesIO(content))
    assert line == 1
    assert isinstance(record, Record), record
