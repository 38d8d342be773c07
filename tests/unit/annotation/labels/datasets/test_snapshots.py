"""Snapshots hold the labels that were asked for, for ever; exports say what they can."""

import hashlib
import io
import json
import uuid
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotation.api.exports import ExportToStart
from annotation.core.errors import DomainError, Forbidden, Missing
from annotation.core.membership.members import add_member
from annotation.core.membership.projects import create_project
from annotation.files.record_faults import fault_of
from annotation.files.record_import import import_records
from annotation.labels.consensus.fits import choose_fit
from annotation.labels.datasets.dataset_cards import dataset_card
from annotation.labels.datasets.filters import SnapshotFilters, parse_filters
from annotation.labels.datasets.record_stream import stream_records
from annotation.labels.datasets.snapshot_export import export_snapshot
from annotation.labels.datasets.snapshots import create_snapshot, read_snapshot
from annotation.models import (
    Annotation,
    AuditEntry,
    LabelSource,
    Lane,
    Membership,
    PathStep,
    Snapshot,
    Solution,
    Step,
    StepRating,
)
from prm.formats.path import first_error
from prm.formats.prm800k import prm800k
from prm.formats.processbench import processbench
from prm.formats.record import Completion, PathPosition, Provenance, Rating, Record, RecordAnnotation
from prm.formats.records import records
from prm.formats.trl import trl
from tests.factories import AnnotationFactory, MembershipFactory
from tests.real_data import real_data
from tests.stored import snapshot_file
from tests.unit.prm.formats import native


def rated(*ratings, name="ann", finish="solution", **fields):
    """A label that walks straight on; None is an unsure step, a bad step at a found error is not chosen."""
    path = []
    for position, rating in enumerate(ratings):
        state = "unsure" if rating is None else "rated"
        chosen = None if rating == -1 and finish == "found_error" else 0
        path.append(PathPosition(position, chosen=chosen, ratings=[Rating(0, state, rating=rating)]))
    fields = {"first_error": first_error(finish, path)} | fields
    return RecordAnnotation(source_kind="human", source_name=name, finish_reason=finish, path=path, **fields)


def solution(problem, *labels, steps=3):
    return Record(problem=problem, positions=[[Completion(f"s{n}")] for n in range(steps)], annotations=list(labels))


def take_in(project, *records):
    return import_records(project=project, records=records, by=None)


def stream(project, **filters):
    parsed = parse_filters(filters)
    fit = choose_fit(by=None, project=project, filters=parsed)
    return list(stream_records(project=project, filters=parsed, fit=fit))


def lines(chunks):
    return [json.loads(line) for line in b"".join(chunks).splitlines()]


def test_real_prm800k_comes_back_from_the_database_equal(project, manager):
    path = real_data("prm800k/prm800k_real_records.jsonl")
    with path.open("rb") as file:
        take_in(project, *[record for _, record in prm800k.read(file)])
    snapshot = create_snapshot(by=manager, project=project, filters={})
    exported = [as_read(line) for line in lines(export_snapshot(snapshot, "prm800k"))]
    assert in_order(exported) == in_order(map(json.loads, path.read_text().splitlines()))
    again = create_project(by=manager, name="Again", slug="again")
    import_records(
        project=again,
        records=[r for _, r in prm800k.read(io.BytesIO(b"".join(export_snapshot(snapshot, "prm800k"))))],
        by=None,
    )
    assert _ratings(again) == _ratings(project)


def as_read(line):
    """An exported line without what exports say of the label and its problem."""
    assert line["source_kind"] == "human"
    assert line["split"]
    assert line.get("annotator", line["labeler"]) == line["labeler"]
    added = ("source_kind", "annotator", "revision", "lane", "split", "source_group")
    return {key: value for key, value in line.items() if key not in added}


def in_order(lines):
    return sorted(lines, key=lambda line: json.dumps(line, sort_keys=True))


def _ratings(project):
    found = StepRating.objects.filter(annotation__project=project)
    return sorted(map(str, found.values_list("step__text", "state", "rating", "flagged", "ordinal")))


@pytest.mark.slow
def test_real_processbench_comes_back_from_the_database_equal(project):
    path = real_data("processbench/math.json")
    with path.open("rb") as file:
        take_in(project, *[record for _, record in processbench.read(file)])
    assert in_order(json.loads(b"".join(processbench.write(stream(project))))) == in_order(json.loads(path.read_text()))


@pytest.mark.slow
@pytest.mark.django_db
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(native.PRM800K, max_size=4))
def test_any_prm800k_lines_come_back_from_the_database_equal(manager, given_lines):
    content = "\n".join(map(json.dumps, given_lines)).encode()
    project = create_project(by=manager, name="Lines", slug=uuid.uuid4().hex)
    read = [(line, record) for line, (_, record) in zip(given_lines, prm800k.read(io.BytesIO(content)), strict=True)]
    taken = [(line, record) for line, record in read if fault_of(record) is None]
    take_in(project, *[record for _, record in taken])
    exported = [as_read(line) for line in lines(prm800k.write(stream(project, revisions="all")))]
    expected = {json.dumps(line, sort_keys=True) for line, _ in taken}
    assert {json.dumps(line, sort_keys=True) for line in exported} == expected
    assert len(exported) == len(expected)


def erase_what_could_identify():
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL stepmark.erasing = 'on'")
    Annotation.objects.update(comment="", reason="erased")
    StepRating.objects.update(comment="")
    User.objects.update(username="erased")


def test_a_platform_annotation_becomes_a_valid_prm800k_line(project, manager):
    take_in(project, solution("p", steps=3))
    steps = list(Step.objects.all())
    other = Step.objects.create(solution=steps[0].solution, position=1, alternative=1, text="other")
    label = Annotation.objects.create(
        project=project,
        solution=Solution.objects.get(),
        source=LabelSource.objects.create(project=project, kind="human"),
        annotator=Membership.objects.get(),
        submission_id=uuid.uuid4(),
        payload_hash="",
        finish_reason="give_up",
        reason="my name is Anna",
        comment="Anna again",
        total_ms=5000,
        lane="screening",
        submitted_at=datetime(2026, 11, 21, 5, tzinfo=UTC),
    )
    PathStep.objects.create(annotation=label, position=0, chosen=steps[0], dwell_ms=7)
    PathStep.objects.create(annotation=label, position=1, own_text="mine")
    StepRating.objects.create(annotation=label, step=steps[0], state="rated", rating=1, flagged=False, comment="Anna")
    StepRating.objects.create(annotation=label, step=other, ordinal=0, state="unsure", flagged=True)
    StepRating.objects.create(annotation=label, step=steps[1], ordinal=1, state="rated", rating=0, flagged=False)
    asked = {"gold": "included"}
    snapshot = create_snapshot(by=manager, project=project, filters=asked)
    assert "Anna" not in snapshot_file(snapshot).read_text()
    erase_what_could_identify()
    assert create_snapshot(by=manager, project=project, filters=asked) == snapshot, "the same to the byte"
    [line] = lines(export_snapshot(snapshot, "prm800k"))
    assert as_read(line) == {
        "labeler": str(Membership.objects.get().pseudonym),
        "timestamp": "2026-11-21T05:00:00",
        "generation": None,
        "is_quality_control_question": False,
        "is_initial_screening_question": True,
        "question": {
            "problem": "p",
            "ground_truth_solution": None,
            "ground_truth_answer": None,
            "pre_generated_steps": ["s0", "s1", "s2"],
            "pre_generated_answer": None,
            "pre_generated_verifier_score": None,
        },
        "label": {
            "steps": [
                {
                    "completions": [{"text": "s0", "rating": 1, "flagged": False}],
                    "human_completion": None,
                    "chosen_completion": 0,
                },
                {
                    "completions": [
                        {"text": "other", "rating": None, "flagged": True},
                        {"text": "s1", "rating": 0, "flagged": False},
                    ],
                    "human_completion": {"text": "mine", "rating": None, "source": "human", "flagged": False},
                    "chosen_completion": None,
                },
            ],
            "total_time": 5000,
            "finish_reason": "give_up",
        },
    }
    assert (line["annotator"], line["revision"], line["lane"]) == (line["labeler"], 1, "screening")
    assert lines(prm800k.write([r for _, r in prm800k.read(io.BytesIO(json.dumps(line).encode()))])) == [line]


@pytest.mark.parametrize(
    ("filters", "names"),
    [
        ({}, ["a2", "b", "c"]),
        ({"revisions": "all"}, ["a1", "a2", "b", "c"]),
        ({"finish_reasons": ["found_error"]}, ["b"]),
        ({"source_kinds": ["model_judge"]}, ["c"]),
        ({"submitted_from": "2026-01-02"}, ["a2", "b", "c"]),
        ({"submitted_to": "2026-01-02T00:00:00"}, []),
        ({"submitted_to": "2026-01-02T00:00:00", "revisions": "all"}, ["a1"]),
        ({"min_annotations": 2}, ["a2", "c"]),
        *(({"lanes": [lane]}, []) for lane in Lane.values),
        ({"generations": [1]}, []),
        ({"splits": ["pool", "calibration", "holdout"]}, ["a2", "b", "c"]),
    ],
)
def test_filters(project, filters, names):
    def said(day, name, *ratings, kind="human", finish="solution"):
        moment = datetime(2026, 1, day, tzinfo=UTC)
        label = rated(*ratings, name=name[0], finish=finish, submitted_at=moment, native={"name": name})
        label.source_kind = kind
        return label

    take_in(
        project,
        solution("p", said(1, "a1", 1), said(3, "a2", 0), said(3, "c", 1, kind="model_judge")),
        solution("q", said(2, "b", -1, finish="found_error")),
        solution("unlabelled"),
    )
    found = [label.native["name"] for record in stream(project, **filters) for label in record.annotations]
    assert sorted(found) == names


def test_steps_after_the_first_error_are_not_counted_as_ratings(project, manager):
    label = rated(1, -1, finish="found_error")
    label.path.append(PathPosition(2, ratings=[Rating(0, "not_reached")]))
    take_in(project, solution("p", label), solution("q", rated(1, None)))
    snapshot = create_snapshot(by=manager, project=project, filters={})
    assert snapshot.counts["ratings"] == {"good": 2, "bad": 1, "unsure": 1}
    card = dataset_card(snapshot)
    assert "Ratings: 4." in card
    assert "(unsure): 1 of 4 (25.0\xa0%)" in card


def test_what_made_a_solution_goes_with_it_and_can_be_asked_for(project, manager):
    raw, summary = Provenance(policy="m", visibility="raw"), Provenance(policy="m", visibility="summary")
    records = [solution("p", rated(1)) for _ in range(3)]
    for number, (record, made) in enumerate(zip(records, [raw, summary, None], strict=True)):
        record.provenance, record.positions[1] = made, [Completion(f"s{number}")]
        record.final_answer_correct = number == 0
    records[0].outcome_source = "tests"
    take_in(project, *records)
    made = {record.positions[1][0].text: (record.provenance, record.outcome_source) for record in stream(project)}
    assert made == {"s0": (raw, "tests"), "s1": (summary, "given"), "s2": (None, "given")}
    assert [record.provenance for record in stream(project, visibilities=["raw"])] == [raw]
    taken = {record.provenance.visibility for record in stream(project, policies=["m"])}
    assert taken == {"raw", "summary"}
    card = dataset_card(create_snapshot(by=manager, project=project, filters={}))
    for row in (
        "| m | 2 |",
        "| summary | 1 |",
        "| not known | 1 |",
        "| correct (tests) | 1 |",
        "| wrong (given) | 2 |",
    ):
        assert row in card


def test_filters_by_split_take_only_those_problems(project):
    take_in(project, *[solution(f"problem {'x' * n}", rated(1)) for n in range(40)])
    by_split = {split: stream(project, splits=[split]) for split in ("pool", "calibration", "holdout")}
    assert sum(map(len, by_split.values())) == 40
    assert all(record.split == split for split, records in by_split.items() for record in records)
    assert len(stream(project, min_annotations=0)) == 40


def test_filters_by_domain_and_text_take_only_those_solutions(project):
    geometry, algebra = solution("The circle", rated(1)), solution("An equation", rated(1))
    geometry.domain, algebra.domain = "geometry", "algebra"
    algebra.positions[1] = [Completion("Divide by 100% of x_1")]
    take_in(project, geometry, algebra)

    def problems(**filters):
        return sorted((record.problem for record in stream(project, **filters)), reverse=True)

    assert problems(domains=["geometry"]) == ["The circle"]
    assert problems(text="CIRCLE") == ["The circle"]
    assert problems(text="0% of x_") == ["An equation"]
    assert problems(text="s2") == ["The circle", "An equation"]
    assert problems(text="x%1") == []


def test_a_filter_by_annotator_takes_only_the_labels_of_that_pseudonym(project, manager):
    take_in(project, solution("p", rated(1)))
    people = [MembershipFactory(project=project) for _ in range(2)]
    for person in people:
        AnnotationFactory(solution=Solution.objects.get(), annotator=person)
    wanted = str(people[0].pseudonym)
    [record] = stream(project, annotators=[wanted])
    assert [label.annotator for label in record.annotations] == [wanted]
    assert stream(project, annotators=["nobody"]) == []


def test_the_minimum_posterior_drops_solutions_with_an_uncertain_step(project):
    certain = [rated(1, 1, name="a"), rated(1, 1, name="b")]
    split = [rated(1, 1, name="a"), rated(1, 0, name="b")]
    take_in(project, solution("certain", *certain), solution("split", *split))
    assert [record.problem for record in stream(project, min_posterior=0.5)] == ["certain", "split"]
    assert [record.problem for record in stream(project, min_posterior=0.6)] == ["certain"]


def test_the_api_and_the_command_name_every_filter(capsys):
    [described] = [field.type for field in msgspec.structs.fields(ExportToStart) if field.name == "filters"]
    named = described.__metadata__[0].description
    with pytest.raises(SystemExit):
        call_command("export_snapshot", "--help")
    shown = capsys.readouterr().out
    for name in SnapshotFilters.__struct_fields__:
        assert f"`{name}`" in named
        assert name in shown


OLD = Path(__file__).parent / "snapshot_of_november_2026.jsonl"


def test_an_old_snapshot_comes_out_as_records_to_the_byte(project, settings):
    """The file was written by the code of that month and is never written again."""
    content = OLD.read_bytes()
    sha256 = hashlib.sha256(content).hexdigest()
    (settings.STATE_ROOT / "snapshots").mkdir(parents=True, exist_ok=True)
    (settings.STATE_ROOT / "snapshots" / f"{sha256}.jsonl").write_bytes(content)
    counts = {"solutions": 2, "splits": {"pool": 1, "holdout": 1}, "source_kinds": {"human": 3}}
    snapshot = Snapshot.objects.create(project=project, sha256=sha256, path=f"{sha256}.jsonl", counts=counts)
    assert b"".join(export_snapshot(snapshot, "records")) == content
    assert [len(record.annotations) for record in read_snapshot(snapshot)] == [3, 1]
    assert len(lines(export_snapshot(snapshot, "prm800k"))) == 4


EVERY_KIND = Path(__file__).parent / "labels_of_every_kind.jsonl"


def test_labels_of_every_kind_make_the_same_snapshot_to_the_byte(project):
    """The file is a snapshot of the same labels by an earlier version (2a98d5db), and is never written again."""
    content = EVERY_KIND.read_bytes()
    take_in(project, *[record for _, record in records.read(io.BytesIO(content))])
    filters = {"revisions": "all", "critiques": "included", "comments": "included", "min_annotations": 0}
    snapshot = create_snapshot(by=None, project=project, filters=filters)
    assert snapshot_file(snapshot).read_bytes() == content


@pytest.mark.parametrize(
    ("filters", "field"),
    [
        ({"splits": ["test"]}, "splits[0]"),
        ({"submitted_from": "yesterday"}, "submitted_from"),
        ({"min_annotations": -1}, "min_annotations"),
        ({"min_posterior": 1.5}, "min_posterior"),
        ({"revisions": "some"}, "revisions"),
        ({"everything": True}, ""),
    ],
)
def test_bad_filters_name_their_field(project, manager, filters, field):
    with pytest.raises(DomainError) as raised:
        create_snapshot(by=manager, project=project, filters=filters)
    assert (raised.value.code, raised.value.extra["field"]) == ("invalid_filters", field)


def test_a_snapshot_is_its_content_and_is_made_once(project, manager):
    take_in(project, solution("p", rated(1, 0, -1, finish="found_error")))
    first = create_snapshot(by=manager, project=project, filters={})
    assert create_snapshot(by=None, project=project, filters={"splits": []}) == first
    content = snapshot_file(first).read_bytes()
    assert hashlib.sha256(content).hexdigest() == first.sha256
    assert AuditEntry.objects.filter(action="snapshot.create").count() == 1
    take_in(project, solution("p", rated(1, 1, 1, name="bob")))
    second = create_snapshot(by=manager, project=project, filters={})
    assert second.sha256 != first.sha256
    assert snapshot_file(first).read_bytes() == content
    assert [len(record.annotations) for record in read_snapshot(second)] == [2]
    assert not list(snapshot_file(first).parent.glob("*.partial"))


def test_a_snapshot_that_fails_leaves_nothing(project, manager, monkeypatch, settings):
    take_in(project, solution("p", rated(1)))
    monkeypatch.setattr("annotation.labels.datasets.snapshots.os.fsync", lambda _: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        create_snapshot(by=manager, project=project, filters={})
    assert not list((settings.STATE_ROOT / "snapshots").iterdir())
    assert not Snapshot.objects.exists()


def test_nothing_to_freeze_and_a_lost_file_are_said(project, manager, settings):
    with pytest.raises(DomainError, match="No label in this project"):
        create_snapshot(by=manager, project=project, filters={})
    assert not (settings.STATE_ROOT / "snapshots").exists() or not list((settings.STATE_ROOT / "snapshots").iterdir())
    take_in(project, solution("p", rated(1)))
    snapshot = create_snapshot(by=manager, project=project, filters={})
    snapshot_file(snapshot).unlink()
    with pytest.raises(Missing):
        read_snapshot(snapshot)


def test_only_a_manager_freezes(project, manager):
    reader = User.objects.create_user("reader")
    add_member(by=manager, project=project, user=reader, role="annotator")
    with pytest.raises(Forbidden):
        create_snapshot(by=reader, project=project, filters={})


@pytest.mark.parametrize(
    ("labels", "neutral", "expected"),
    [
        ([rated(1, 0, 1)], "positive", [True, True, True]),
        ([rated(1, 0, 1)], "negative", [True, False, True]),
        ([rated(1, 0, 1)], "drop", [True]),
        ([rated(1, -1, finish="found_error")], "positive", [True, False]),
        ([rated(1, None, 1)], "positive", [True]),
        ([rated(-1, 1, 1)], "positive", [False]),
        ([rated(1, 1, 1), rated(1, -1, name="b", finish="found_error"), rated(1, 1, 1, name="c")], "drop", [True] * 3),
    ],
)
def test_trl(project, manager, labels, neutral, expected):
    take_in(project, solution("p", *labels))
    snapshot = create_snapshot(by=manager, project=project, filters={})
    steps = ["s0", "s1", "s2"]
    found = lines(export_snapshot(snapshot, "trl", neutral=neutral, splits=["pool", "calibration", "holdout"]))
    assert found == [{"prompt": "p", "completions": steps[: len(expected)], "labels": expected}]


def test_trl_loads_with_the_datasets_library_and_with_ours(project, manager, tmp_path):
    datasets = pytest.importorskip("datasets")
    take_in(project, *[solution(f"p{n}", rated(1, -1, finish="found_error")) for n in range(20)])
    snapshot = create_snapshot(by=manager, project=project, filters={})
    file = tmp_path / "trl.jsonl"
    file.write_bytes(b"".join(export_snapshot(snapshot, "trl", splits=["pool", "calibration", "holdout"])))
    loaded = datasets.load_dataset("json", data_files=str(file), cache_dir=str(tmp_path / "cache"), split="train")
    assert loaded.column_names == ["prompt", "completions", "labels"]
    assert sorted(loaded["prompt"]) == sorted(f"p{n}" for n in range(20))
    assert loaded[0] == {"prompt": loaded["prompt"][0], "completions": ["s0", "s1"], "labels": [True, False]}
    with file.open("rb") as again:
        assert b"".join(trl.write(record for _, record in trl.read(again))) == file.read_bytes()


def test_exports_say_what_they_do_not_know(project, manager):
    take_in(project, solution("p", rated(1)))
    snapshot = create_snapshot(by=manager, project=project, filters={})
    with pytest.raises(DomainError, match="spreadsheet"):
        export_snapshot(snapshot, "spreadsheet")
    with pytest.raises(DomainError, match="maybe"):
        export_snapshot(snapshot, "trl", neutral="maybe")
    assert b"".join(export_snapshot(snapshot, "records")) == snapshot_file(snapshot).read_bytes()


def test_the_card_tells_what_was_supervised_by_whom_and_how(project, manager):
    judge = rated(1, 1, 1, name="judge-7b")
    judge.source_kind = "model_judge"
    take_in(
        project,
        solution("p", rated(1, 0, -1, finish="found_error"), rated(1, -1, name="b", finish="found_error"), judge),
    )
    snapshot = create_snapshot(by=manager, project=project, filters={"source_kinds": ["human"]})
    card = dataset_card(snapshot, neutral="drop")
    assert "Solutions: 1. Problems: 1. Annotations: 2. Ratings: 5." in card
    assert "| people | 2 | 2 |" in card
    assert snapshot.sha256 in card
    assert "| neutral | 1 |" in card
    assert "| found_error | 2 |" in card
    assert "(1), 0\xa0% agree exactly and 100\xa0% within one step" in card
    assert "source kinds: human" in card
    assert "Neutral steps end the line before them" in card
    everyone = dataset_card(create_snapshot(by=manager, project=project, filters={}))
    assert "pools these kinds" in everyone
    assert "| model judges | 1 | – |" in everyone
    assert "| judge-7b | 1 |" in everyone
    assert "solution (1), 0\xa0% agree" in everyone, "a judge and a person are no two people"


def test_an_overlap_without_errors_leaves_the_errors_elsewhere_as_they_were_said(project, manager):
    """The bad step was put down as .13 good, .43 neutral, .43 bad, and a training had no bad step."""
    shared = [solution(f"shared {n}", rated(1, 1, 1, name="a"), rated(1, 1, 1, name="b")) for n in range(5)]
    alone = [solution(f"alone {n}", rated(1, 1, -1, name="a", finish="found_error")) for n in range(2)]
    take_in(project, *shared, *alone, solution("alone good", rated(1, 1, 1, name="a")))
    bad = [c.bad for record in stream(project, consensus="reliability") for c in record.consensus if c.bad > 0.5]
    assert len(bad) == 2
    assert min(bad) > 0.9
    assert {record.consensus_method for record in stream(project, consensus="reliability")} == {"reliability"}
    machines_left_out = stream(project, consensus="reliability", source_kinds=["human"])
    assert max(c.bad for record in machines_left_out for c in record.consensus) == max(bad)


def test_the_card_says_how_much_is_behind_a_reliability(project, manager):
    take_in(project, *[solution(f"p{n}", rated(1, -1, name="a"), rated(1, -1, name="b"), steps=2) for n in range(3)])
    snapshot = create_snapshot(by=manager, project=project, filters={"consensus": "reliability"})
    weighed = snapshot.counts["reliability"]
    assert {one["shared_steps"] for one in weighed.values()} == {6}
    assert all(one["interval"][0] < one["informedness"] < one["interval"][1] for one in weighed.values())
    assert "| informedness | 95 % interval | shared steps |" in dataset_card(snapshot)
