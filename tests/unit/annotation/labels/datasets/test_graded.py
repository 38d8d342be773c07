"""Training learns from the grades of unread pool solutions, and of no others."""

import random
import re
from collections import Counter

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.core.errors import Conflict, DomainError
from annotation.labels.datasets.dataset_cards import dataset_card
from annotation.labels.datasets.filters import parse_filters
from annotation.labels.datasets.graded import graded_records
from annotation.labels.datasets.snapshot_export import export_snapshot
from annotation.labels.datasets.snapshots import create_snapshot, read_graded, read_snapshot
from annotation.loop.gateway.traces import write_settled_traces, write_training_traces
from annotation.loop.rounds.stages.snapshot import perform
from annotation.loop.rounds.work import StageWork
from annotation.models import (
    GoldAnswer,
    Lease,
    PathStep,
    RunStage,
    Snapshot,
    Solution,
    StepRating,
    TrainingRun,
)
from prm.config import TrainConfig
from prm.formats.identity import text_hash
from prm.formats.trace_files import read_traces
from prm.labels import step_labels
from prm.training.dataset import read_training_data
from tests.factories import (
    AnnotationFactory,
    GenerationFactory,
    LabelSourceFactory,
    MembershipFactory,
    ProblemFactory,
    QueueItemFactory,
    SolutionFactory,
)


def graded(project, **filters):
    return list(graded_records(project, parse_filters({"graded": 1000, **filters})))


def labelled(project, solution, kind="human", name=""):
    source = LabelSourceFactory(project=project, kind=kind, name=name)
    annotator = {"annotator": None} if name else {}
    return AnnotationFactory(solution=solution, source=source, **annotator)


@pytest.fixture
def world(project):
    """Groups of two problems with four solutions each: in any split, some with gold, read, in hand or ungraded."""
    rng, holder, generation = random.Random(7), MembershipFactory(project=project), GenerationFactory(project=project)
    for group in range(24):
        split = rng.choice(["pool", "pool", "calibration", "holdout"])
        problems = [ProblemFactory(project=project, split=split, source_group=f"group {group}") for _ in range(2)]
        for problem in problems:
            for _ in range(4):
                solution = SolutionFactory(
                    project=project, problem=problem, final_answer_correct=rng.choice([True, False, None])
                )
                state = rng.choice(["unread"] * 5 + ["gold", "read", *(["in hand"] if split == "pool" else [])])
                if state in ("gold", "read"):
                    reference = labelled(project, solution)
                if state == "gold" and group % 3 == 0:
                    GoldAnswer.objects.create(project=project, solution=solution, annotation=reference)
                if state == "in hand":
                    item = QueueItemFactory(generation=generation, solution=solution)
                    times = {"claimed_at": timezone.now(), "expires_at": timezone.now()}
                    Lease.objects.create(item=item, solution=solution, annotator=holder, **times)
    stray = ProblemFactory(project=project, source_group="group 0", split="holdout")  # a group in two splits
    SolutionFactory(project=project, problem=stray, final_answer_correct=True)
    return project


def test_no_solution_that_measures_ever_teaches_by_its_grade(world):
    """Neither do its problem and its source group (invariant 4)."""
    chosen = graded(world)
    solutions = Solution.objects.filter(project=world)
    measuring = set(solutions.exclude(split="pool").values_list("problem__source_group", flat=True))
    measuring |= set(GoldAnswer.objects.values_list("solution__problem__source_group", flat=True))
    assert {record.source_group for record in chosen}.isdisjoint(measuring)
    assert {record.split for record in chosen} == {"pool"}
    free = solutions.filter(annotations=None, leases=None, final_answer_correct__isnull=False)
    assert len(chosen) == free.exclude(problem__source_group__in=measuring).count() > 20
    assert not any(record.annotations for record in chosen)


def test_a_person_and_a_source_that_trains_have_read_a_solution_and_another_machine_has_not(project):
    for kind, name in (("human", "ann"), ("consensus", "file"), ("model_judge", "judge"), ("monte_carlo", "mc")):
        solution = SolutionFactory(project=project, external_id=kind, final_answer_correct=True)
        labelled(project, solution, kind, name)
    assert graded(project) == []
    people = graded(project, source_kinds=["human"])
    assert {record.external_id for record in people} == {"model_judge", "monte_carlo"}
    judged = graded(project, source_kinds=["human", "model_judge"])
    assert [record.external_id for record in judged] == ["monte_carlo"]


def test_each_side_is_limited_and_balanced_over_the_problems(project):
    problems = [ProblemFactory(project=project) for _ in range(3)]
    for problem, size in zip(problems, (9, 2, 1), strict=True):
        for right in (True, False):
            SolutionFactory.create_batch(size, project=project, problem=problem, final_answer_correct=right)
    chosen = graded(project, graded=4)
    sides = Counter((record.problem, record.final_answer_correct) for record in chosen)
    for right in (True, False):  # one of each problem, then a second of one that has it
        counts = [sides[problem.text, right] for problem in problems]
        assert counts in ([1, 2, 1], [2, 1, 1])
    assert Counter(record.final_answer_correct for record in graded(project, graded=6)) == {True: 6, False: 6}
    assert graded(project, splits=["holdout"]) == []


def test_the_groups_that_measure_are_not_searched_solution_by_solution(world, project):
    with CaptureQueriesContext(connection) as asked:
        assert graded(project)
    chosen = [query["sql"] for query in asked if "row_number" in query["sql"].lower()]
    assert len(chosen) == 2
    # PostgreSQL joins it. It would search a list (NOT IN) that does not fit its memory once for each solution.
    assert all("NOT EXISTS" in statement for statement in chosen)
    assert not [statement for statement in chosen if re.search(r"NOT \(\S+ IN \(SELECT", statement)]


@pytest.fixture
def labels(project):
    for right in (True, False, False):
        SolutionFactory(project=project, final_answer_correct=right)
    labelled(project, SolutionFactory(project=project, final_answer_correct=True))
    return project


def test_a_snapshot_lists_its_graded_solutions_and_is_the_same_when_rebuilt(labels, manager):
    made = create_snapshot(by=manager, project=labels, filters={"graded": 1000})
    assert made.counts["graded"] == {"right": 1, "wrong": 2}
    assert len({made.sha256, made.graded_sha256}) == 2
    listed = list(read_graded(made))
    hashes = [text_hash(record.problem) for record in listed]
    assert hashes == sorted(hashes)
    assert create_snapshot(by=manager, project=labels, filters={"graded": 1000}) == made
    SolutionFactory(project=labels, final_answer_correct=True)
    later = create_snapshot(by=manager, project=labels, filters={"graded": 1000})
    assert (later.sha256, later.counts["graded"]["right"]) == (made.sha256, 2)
    assert later.graded_sha256 != made.graded_sha256
    Solution.objects.filter(annotations=None).delete()
    assert list(read_graded(made)) == listed


def test_labels_and_exports_are_those_of_a_snapshot_without_graded_solutions(labels, manager):
    plain = create_snapshot(by=manager, project=labels, filters={})
    with_graded = create_snapshot(by=manager, project=labels, filters={"graded": 1000})
    assert (plain.sha256, plain.graded_sha256) == (with_graded.sha256, "")
    assert list(read_graded(plain)) == []
    assert list(read_snapshot(plain)) == list(read_snapshot(with_graded))
    for format in ("records", "prm800k"):
        assert b"".join(export_snapshot(plain, format)) == b"".join(export_snapshot(with_graded, format))
    assert "graded" not in plain.counts
    assert "Graded solutions" not in dataset_card(plain)
    assert "right | 1" in dataset_card(with_graded)


def test_graded_solutions_without_a_label_make_no_snapshot(project, manager):
    SolutionFactory(project=project, final_answer_correct=True)
    with pytest.raises(DomainError, match="No label in this project"):
        create_snapshot(by=manager, project=project, filters={"graded": 1000})
    assert not Snapshot.objects.exists()


def test_a_changed_file_of_graded_solutions_is_refused(labels, manager, settings):
    made = create_snapshot(by=manager, project=labels, filters={"graded": 1000})
    path = settings.STATE_ROOT / "snapshots" / f"{made.graded_sha256}.jsonl"
    path.chmod(0o600)
    path.write_bytes(b"{}\n")
    with pytest.raises(Conflict):
        read_graded(made)


def rated(project, solution, *ratings, kind="monte_carlo", name="policy, 8 rollouts"):
    label = labelled(project, solution, kind, name if kind == "monte_carlo" else "")
    for step, rating in zip(solution.steps.order_by("position"), ratings, strict=False):
        PathStep.objects.create(annotation=label, position=step.position, chosen=step)
        StepRating.objects.create(annotation=label, step=step, state="rated", rating=rating)


@pytest.fixture
def estimates(project, manager):
    """Solutions with estimates: one unread, one read, one that measures, and one of a problem with gold."""
    unread, read = (SolutionFactory(project=project, final_answer_correct=None) for _ in range(2))
    for solution in (unread, read):
        rated(project, solution, 1, -1)
    rated(project, read, 1, -1, kind="human")
    rated(project, SolutionFactory(project=project, problem=ProblemFactory(project=project, split="holdout")), 1)
    reference = labelled(project, SolutionFactory(project=project))
    GoldAnswer.objects.create(project=project, solution=reference.solution, annotation=reference)
    rated(project, SolutionFactory(project=project, problem=reference.solution.problem), 1)
    SolutionFactory(project=project, final_answer_correct=True)
    return project, unread, read


def test_estimates_of_unread_and_of_labelled_pool_solutions_are_listed_and_no_others(estimates):
    project, unread, read = estimates
    listed = graded(project, source_kinds=["human"], estimates=10)
    assert len(listed) == 3
    with_estimates = {record.problem for record in listed if record.annotations}
    assert with_estimates == {unread.problem.text, read.problem.text}
    assert {label.source_kind for record in listed for label in record.annotations} == {"monte_carlo"}
    assert [record.annotations for record in graded(project, source_kinds=["human"])] == [[]]
    pooled = graded(project, source_kinds=["human", "monte_carlo"], estimates=10)
    assert unread.problem.text in {record.problem for record in pooled if record.annotations}


def test_a_snapshot_with_estimates_trains_them_as_a_source_of_their_own(estimates, manager, tmp_path):
    project, unread, read = estimates
    filters = {"source_kinds": ["human"], "graded": 5, "estimates": 5}
    made = create_snapshot(by=manager, project=project, filters=filters)
    assert (made.counts["graded"], made.counts["estimated"]) == ({"right": 1, "wrong": 0}, 2)
    assert "Monte Carlo estimates of 2 solutions" in dataset_card(made)
    assert b"monte_carlo" not in b"".join(export_snapshot(made, "records"))
    write_training_traces(read_snapshot(made), tmp_path / "train.jsonl", graded=read_graded(made))
    data = read_training_data(tmp_path / "train.jsonl", TrainConfig(estimate_weight=1.0))
    taught = {trace.problem: [label and label.good for label in step_labels(trace)] for trace in data.unread}
    assert taught[unread.problem.text] == [1.0, 0.0, None]
    assert read.problem.text not in taught
    [(people, machine)] = data.estimated
    assert people.problem == machine.problem == read.problem.text
    assert write_settled_traces(read_snapshot(made), tmp_path / "all.jsonl", graded=read_graded(made)) == {"pool": 1}
    rest = [trace for trace in read_traces(tmp_path / "all.jsonl") if not any(step_labels(trace))]
    assert {trace.problem for trace in rest} == {record.problem for record in read_graded(made)} - {read.problem.text}


@pytest.mark.parametrize(("weight", "listed"), [(0.0, None), (1.0, 2)])
def test_a_round_lists_estimates_if_they_have_a_weight(estimates, manager, weight, listed):
    project, *_ = estimates
    project.policy = {**project.policy, "training": {"estimate_weight": weight}}
    project.save()
    run = TrainingRun.objects.create(project=project, number=1, seed=7, requested_by=manager)
    perform(StageWork(run, RunStage(run=run)))
    assert run.snapshot.counts.get("estimated") == listed
