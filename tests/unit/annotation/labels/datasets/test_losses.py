"""Counting records of one structure together gives the counts of a dry run of every writer on every record."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.labels.consensus.consensus import consensus_of
from annotation.labels.datasets import losses
from annotation.labels.datasets.losses import ExportCounts
from prm.exporters import EXPORTERS
from prm.formats.path import first_error
from prm.formats.record import Completion, PathPosition, Rating, Record, RecordAnnotation
from prm.formats.writing import never
from prm.vocabulary import FINISH_REASONS

TEXTS = st.sampled_from(["a", "b", "c", "Step 1: a", "with ки"])
NATIVE = st.sampled_from(
    [{}, {}, {"format": "mr_ben", "line": {}}, {"format": "rlhflow", "line": {}}, {"given": {"problem": "ки"}}]
)
EXTRA = st.sampled_from([{}, {}, {"history": [], "question": "a"}, {"messages": [{"role": "user", "content": "a"}]}])
KINDS = st.sampled_from(["reasoning", "reasoning", "observation"])


@st.composite
def labels(draw, positions):
    path = []
    for position in range(draw(st.integers(0, len(positions)))):
        count = len(positions[position])
        rated = draw(st.lists(st.integers(0, count - 1), unique=True)) if count else []
        ratings = [Rating(one, *draw(st.sampled_from(STATES))) for one in rated]
        chosen = draw(st.none() | st.sampled_from(rated)) if rated else None
        own = draw(st.none() | TEXTS) if chosen is None else None
        path.append(PathPosition(position, chosen, own, ratings=ratings))
    finish = draw(st.sampled_from(FINISH_REASONS))
    return RecordAnnotation(
        draw(st.sampled_from(["human", "model_judge"])),
        finish,
        path,
        source_name=draw(st.sampled_from("xy")),
        first_error=draw(st.sampled_from([first_error(finish, path), None])),
        adjudicates=draw(st.integers(0, 4)) == 0,
        native=draw(NATIVE),
    )


STATES = [("rated", 1), ("rated", 1), ("rated", 0), ("rated", -1), ("unsure", None), ("not_reached", None)]


@st.composite
def records(draw):
    completions = st.lists(st.builds(Completion, TEXTS, KINDS), min_size=1, max_size=2)
    positions = draw(st.lists(completions, min_size=1, max_size=3))
    record = Record(draw(TEXTS), positions, split=draw(st.sampled_from(["pool", "holdout"])), extra=draw(EXTRA))
    record.annotations = draw(st.lists(labels(positions), max_size=3))
    record.consensus = consensus_of(record.annotations) if draw(st.booleans()) else []
    return record


def counts(exporters, of):
    run = ExportCounts(exporters)
    for record in of:
        run.add(record)
    return run.counts()


@pytest.mark.slow
@given(st.lists(records(), min_size=1, max_size=12))
def test_records_of_one_structure_count_as_each_alone(several):
    exporters = [EXPORTERS.get(name) for name in EXPORTERS]

    assert counts(exporters, several * 2) == counts(
        [replace(one, by_structure=never) for one in exporters], several * 2
    )


@pytest.mark.slow
@given(st.lists(records(), min_size=3, max_size=8))
def test_structures_beyond_the_most_that_are_remembered_count_too(several):
    exporters = [EXPORTERS.get("trl")]
    most, losses.MOST_REMEMBERED = losses.MOST_REMEMBERED, 2
    try:
        assert counts(exporters, several) == counts([replace(exporters[0], by_structure=never)], several)
    finally:
        losses.MOST_REMEMBERED = most


def test_a_writer_runs_once_for_records_of_one_structure():
    ran = []

    def lines(record, neutral):
        ran.append(record.problem)
        return [{}]

    exporter = replace(EXPORTERS.get("records"), lines=lines, two_classes=False)
    alike = [Record(problem, [[Completion(problem)]]) for problem in ("a", "b")]

    assert counts([exporter], alike)["records"]["positive"][""]["held"] == {"solutions": 2, "rows": 2}
    assert ran == ["a"]
