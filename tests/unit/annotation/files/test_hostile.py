"""Files made to break an import: each hostile record is refused or in, the worker lives, the rest of the file is in."""

import io
import json
import random

import pytest
from django.db.models.functions import Length

from annotation.files.record_faults import MAX_POSITIONS
from annotation.models import ImportOptions, Step
from prm.formats import table
from prm.formats.reading import MAX_DEPTH
from prm.formats.registry import FORMATS
from tests.unit.prm.formats.hostile import example, spoilt

pytestmark = pytest.mark.django_db


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(FORMATS))
def test_an_import_takes_or_refuses_whatever_stands_in_whatever_field(import_content, name):
    good = json.dumps(example(name)).encode()
    mapping = table.checked(None, table.sample(io.BytesIO(good))) if name == "table" else None
    if name == "labels":
        import_content([{"problem": "p", "id": "a-1", "steps": ["a", "b"]}])
    lines = [good, *(line for _, line in spoilt(name)), good]
    job = import_content(lines, format=name, options=ImportOptions(mapping=mapping))
    assert job.state == "done", job.error
    assert job.accepted + job.duplicates + job.rejected == len(lines)
    assert job.accepted
    assert job.duplicates
    assert job.rejected == job.rejections.count()


@pytest.mark.slow
def test_megabytes_that_pack_badly_go_into_any_field_or_are_refused(import_content):
    """An index of the database would refuse them, if a field without a bound had one."""
    megabyte = json.dumps(random.Random(0).randbytes(500_000).hex())
    lines = [line for _, line in spoilt("plain", {"a megabyte": megabyte})]
    job = import_content([*lines, example("plain")], format="plain")
    assert job.state == "done", job.error
    assert job.accepted > 3
    assert job.accepted + job.duplicates + job.rejected == len(lines) + 1
    assert "the database rejects" not in " ".join(job.rejections.values_list("reason", flat=True))


def test_the_longest_and_most_steps_and_the_deepest_values_are_in(import_content):
    deepest = json.loads("[" * (MAX_DEPTH - 1) + "]" * (MAX_DEPTH - 1))
    job = import_content(
        [
            {"problem": "one", "steps": ["x" * 64_000, "$y$ " * 16_000]},
            {"problem": "two", "steps": [str(number) for number in range(MAX_POSITIONS)]},
            {"problem": "three", "steps": [str(number) for number in range(MAX_POSITIONS + 1)]},
            {"problem": "four", "steps": ["a"], "deep": deepest},
        ]
    )
    assert (job.state, job.accepted) == ("done", 3)
    assert list(job.rejections.values_list("line", "field")) == [(3, "steps")]
    assert Step.objects.count() == 2 + MAX_POSITIONS + 1
    assert Step.objects.filter(solution__problem__text="one").annotate(size=Length("text")).first().size == 64_000
