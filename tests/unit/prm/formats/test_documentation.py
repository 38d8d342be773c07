"""Every example on the page of formats is recognised and read."""

import io

import pytest

from prm.formats.detection import detect
from prm.formats.record import Record
from prm.formats.registry import FORMATS
from tests.unit.prm.formats.hostile import EXAMPLES


def test_every_format_has_an_example():
    assert sorted(EXAMPLES) == sorted(FORMATS)


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_the_example_is_recognised_and_read(name):
    content = EXAMPLES[name].encode()
    assert detect(io.BytesIO(content), "file") == name
    [(line, record)] = FORMATS.get(name).read(io.BytesIO(content))
    assert line == 1
    assert isinstance(record, Record), record
