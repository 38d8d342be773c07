"""A dataset's counts of people and of their agreement."""

import pytest

from annotation.labels.datasets.tally import Tally
from prm.formats.record import Completion, Record, RecordAnnotation


def label(error: int, **who: str) -> RecordAnnotation:
    return RecordAnnotation(source_kind="human", finish_reason="found_error", path=[], first_error=error, **who)


@pytest.mark.parametrize(
    ("other", "people", "pairs"),
    [({"annotator": "bob"}, 2, 1), ({}, 1, 0), ({"source_name": "a file"}, 1, 0)],
)
def test_only_people_who_are_known_agree_or_differ(other, people, pairs):
    record = Record(problem="p", positions=[[Completion(text="s")], [Completion(text="t")]])
    record.annotations = [label(0, annotator="ann"), label(1, **other)]
    tally = Tally(formats=())
    list(tally.of([record]))
    counts = tally.counts()
    assert counts["people"] == {"human": people}
    assert counts["agreement"].get("pairs", 0) == pairs
