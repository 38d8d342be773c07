"""Files that leave keep who labelled and which split a problem is of, or say what they leave out."""

import io
import json
from collections import Counter

import pytest

from annotation.datasets.exporting import export_snapshot
from annotation.datasets.snapshots import create_snapshot
from annotation.formats import prm800k, processbench, table
from annotation.formats.record import Rejection
from annotation.intake.records import import_records
from annotation.membership.projects import create_project
from annotation.models import Annotation, Problem
from tests.real_data import real_data
from tests.unit.annotation.datasets.test_snapshots import lines, rated, solution, take_in

JUDGE = {"source_kind": "model_judge", "source_name": "judge-7b"}
READERS = {"prm800k": prm800k.read, "csv": table.read, "parquet": table.read}


def by(kind, *ratings, name="", finish="solution", **fields):
    label = rated(*ratings, name=name, finish=finish, **fields)
    label.source_kind = kind
    return label


def freeze(project, manager, **filters):
    return create_snapshot(by=manager, project=project, filters=filters)


def exported(snapshot, format, **asked):
    return b"".join(export_snapshot(snapshot, format, **asked))


def moved(content, format, manager, slug):
    """A second project that took in what the first one exported."""
    project = create_project(by=manager, name=slug, slug=slug)
    import_records(project=project, records=[r for _, r in READERS[format](io.BytesIO(content))], by=None)
    return project


def kinds_of(project):
    found = Annotation.objects.filter(project=project)
    return Counter(found.values_list("source__kind", "source__name", "first_error"))


def splits_of(project):
    return dict(Problem.objects.filter(project=project).values_list("text", "split"))


@pytest.mark.parametrize("format", READERS)
def test_labels_keep_their_kind_and_problems_their_split_on_the_way_through_a_file(project, manager, format):
    for number in range(40):
        one = solution(
            f"problem {'x' * number}",
            by("human", 1, 0, 1, name="ann"),
            by("model_judge", 1, -1, name="judge-7b", finish="found_error"),
            by("monte_carlo", -1, name="qwen, 8 rollouts", finish="found_error", source_detail={"rollouts": 8}),
        )
        one.source_group = f"series {number}"
        take_in(project, one)
    assert len(set(splits_of(project).values())) == 3, "each split has problems"
    again = moved(exported(freeze(project, manager), format), format, manager, "again")
    assert kinds_of(again) == kinds_of(project)
    assert splits_of(again) == splits_of(project)
    detail = Annotation.objects.filter(project=again, source__kind="monte_carlo").values_list("source__detail")
    assert set(map(str, detail)) == {"({'rollouts': 8},)"}


def test_real_processbench_labels_stay_a_consensus_in_prm800k(project, manager):
    path = real_data("processbench/gsm8k.json")
    with path.open("rb") as file:
        take_in(project, *[record for _, record in processbench.read(file)])
    content = exported(freeze(project, manager), "prm800k")
    again = moved(content, "prm800k", manager, "again")
    assert kinds_of(again) == kinds_of(project)
    assert {kind for kind, _, _ in kinds_of(again)} == {"consensus"}
    assert splits_of(again) == splits_of(project)
    assert Counter(line["split"] for line in lines([content])) == Counter(
        Annotation.objects.filter(project=project).values_list("solution__split", flat=True)
    )


def test_a_prm800k_export_adds_nothing_to_the_project_that_it_comes_from(project, manager):
    with real_data("prm800k/prm800k_real_records.jsonl").open("rb") as file:
        take_in(project, *[record for _, record in prm800k.read(file)])
    content = exported(freeze(project, manager), "prm800k")
    counts = take_in(project, *[record for _, record in prm800k.read(io.BytesIO(content))])
    assert (counts.accepted, counts.duplicates) == (0, 9)


def test_a_kind_that_nobody_knows_is_refused_with_its_line(project, manager):
    take_in(project, solution("p", rated(1)))
    [line] = lines([exported(freeze(project, manager), "prm800k")])
    [(_, found)] = prm800k.read(io.BytesIO(json.dumps(line | {"source_kind": "robot"}).encode()))
    assert isinstance(found, Rejection)
    assert found.field == "source_kind"


def test_a_file_that_does_not_say_who_labelled_is_read_as_the_kind_that_is_named(project, manager):
    take_in(project, solution("p", by("human", 1, name="ann"), by("model_judge", 1, name="judge-7b")))
    written = lines([exported(freeze(project, manager), "prm800k")])
    content = "\n".join(json.dumps(line) for line in written).encode()
    stripped = "\n".join(json.dumps({k: v for k, v in line.items() if k != "source_kind"}) for line in written).encode()

    def kinds(content):
        found = prm800k.read(io.BytesIO(content), source_kind="model_judge")
        return [record.annotations[0].source_kind for _, record in found]

    assert kinds(content) == ["human", "model_judge"], "what a line says stands"
    assert kinds(stripped) == ["model_judge", "model_judge"]
