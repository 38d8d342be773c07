"""A labelled project that was exported as `records` and imported into an empty one is the same project."""

import io
import json
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.utils import timezone

from annotation.core.errors import DomainError
from annotation.core.membership.projects import create_project
from annotation.files.record_import import import_records
from annotation.labels.datasets.dataset_cards import dataset_card
from annotation.labels.datasets.snapshot_export import export_snapshot
from annotation.labels.datasets.snapshots import create_snapshot, read_snapshot
from annotation.models import (
    Annotation,
    GoldAnswer,
    Hint,
    LabelSource,
    Lease,
    PathStep,
    Problem,
    Project,
    Step,
    StepRating,
)
from annotation.work.gold.designation import mark_gold
from prm.formats import table
from prm.formats.detection import detect
from prm.formats.prm800k import prm800k
from prm.formats.record import Completion, Inclusion, PathPosition, Provenance, Rating, Record, RecordAnnotation
from prm.formats.records import records
from tests.factories import (
    AnnotationFactory,
    GenerationFactory,
    LabelSourceFactory,
    MachineAnnotatorFactory,
    MembershipFactory,
    ModelVersionFactory,
    QueueItemFactory,
)

AT = datetime(2026, 11, 21, 5, 0, 0, 123456, tzinfo=UTC)


def machine(kind, *ratings, name="", **fields):
    path = [
        PathPosition(n, chosen=None if rating == -1 else 0, ratings=[Rating(0, "rated", rating=rating)])
        for n, rating in enumerate(ratings)
    ]
    error = ratings.index(-1) if -1 in ratings else -1
    return RecordAnnotation(
        kind, "found_error" if error >= 0 else "solution", path, source_name=name, first_error=error, **fields
    )


def imported(number):
    """A solution with two alternatives that a label brought, and the labels of two machines."""
    later = Completion("Or 2 + 2 = 4.", kind="edit", added=True)
    return Record(
        problem=f"Problem {'x' * number}: what is 2 + 2?",
        positions=[[Completion("We add.")], [Completion("2 + 2 = 5."), later], [Completion("5.")]],
        source_group=f"series {number}",
        domain="sums",
        generator="m-7b",
        external_id=f"s{number}",
        reference_answer="4",
        final_answer="5",
        final_answer_correct=False,
        outcome_source="tests",
        provenance=Provenance(policy="m-7b", temperature=0.7, settings={"top_p": 0.9}),
        extra={"batch": 1.5},
        multiplicity=3,
        annotations=[
            machine("model_judge", 1, -1, name="judge-7b", submitted_at=AT),
            machine("monte_carlo", 1, 0, 1, name="m-7b, 8 rollouts", source_detail={"rollouts": 8}),
        ],
    )


class Labelling:
    """Labels by members of a project, made as the workbench stores them."""

    def __init__(self, project):
        self.project = project
        self.generation = GenerationFactory(project=project, number=3)
        self.version = ModelVersionFactory(project=project, number=4)
        self.guidelines = [project.guideline_versions.create(number=number, text="Be fair.") for number in (1, 2)]
        self.minutes = 0

    def label(self, solution, lane, who, *ratings, revision=1, source=None, hint=None, own="", **fields):
        """A label; a second rating at a position, as a pair, is of its alternative."""
        self.minutes += 1
        item = self.project.queue_items.filter(solution=solution).first() or QueueItemFactory(
            generation=self.generation, solution=solution, lane=lane, inclusion_probability=0.3
        )
        now = timezone.now()
        lease, new = Lease.objects.get_or_create(
            annotator=who, solution=solution, defaults={"item": item, "claimed_at": now, "expires_at": now}
        )
        if new and hint is not None:
            Hint.objects.create(
                lease=lease, model_version=self.version, scores=[0.9], share=0.5, reveal="on_request",
                shown=hint, seen=[[1, None]] if hint else [], drawn_at=now,
            )  # fmt: skip
        label = AnnotationFactory(
            solution=solution,
            annotator=who,
            source=source or LabelSourceFactory(project=self.project),
            item=item,
            lease=lease,
            lane=item.lane,
            revision=revision,
            guidelines=self.guidelines[revision - 1],
            total_ms=9000,
            submitted_at=AT + timedelta(minutes=self.minutes),
            **fields,
        )
        for position, rating in enumerate(ratings):
            self._rate(label, position, rating if isinstance(rating, tuple) else (rating,), own)
        return label

    def _rate(self, label, position, ratings, own):
        steps = list(label.solution.steps.filter(position=position))
        is_last = ratings[0] == -1
        PathStep.objects.create(
            annotation=label,
            position=position,
            chosen=None if is_last else steps[0],
            own_text=own or None if is_last else None,
            dwell_ms=700,
        )
        for ordinal, (step, rating) in enumerate(zip(steps, ratings, strict=False)):
            StepRating.objects.create(
                annotation=label,
                step=step,
                ordinal=ordinal,
                state="unsure" if rating is None else "rated",
                rating=rating,
                flagged=rating is None,
                error_type="slip" if rating == -1 else "",
                comment="Carol saw this." if rating == -1 else "",
                dimensions={"redundant": True} if rating == 0 else {},
                spans=[{"start": 0, "end": 2, "comment": "Carol too."}] if rating == -1 else [],
            )


@pytest.fixture
def manager(labelled):
    return User.objects.get(username="manager")


@pytest.fixture
def labelled(labelled_rows, db):
    return Project.objects.get(slug="project")


@pytest.fixture(scope="module")
def labelled_rows(module_db):
    """Two annotators of each solution, a revision, a program, an adjudication, gold, hints and every split."""
    manager = User.objects.create_user("manager", is_staff=True)
    project = create_project(by=manager, name="Project", slug="project")
    import_records(project=project, records=[imported(number) for number in range(12)], by=manager)
    solutions = list(project.solutions.order_by("pk"))
    assert {one.split for one in solutions} == {"pool", "calibration", "holdout"}
    ann, bob = (MembershipFactory(project=project) for _ in range(2))
    program = MachineAnnotatorFactory(membership__project=project)
    reviewer = MembershipFactory(project=project, role="reviewer")
    work = Labelling(project)
    for number, solution in enumerate(solutions):
        lane = {"pool": "acquisition"}.get(solution.split, solution.split)
        said = partial(work.label, solution, lane)
        said(ann, None, None, finish_reason="give_up", first_error=None, reason="Ann is tired.", comment="I am Ann.")
        said(bob, 1, (-1, 1), own="2 + 2 is 4.", finish_reason="found_error", first_error=1, hint=number % 2 == 0)
        said(ann, 1, 0, 1, revision=2, progress=2)
        said(program.membership, 1, 1, 1, source=program.source)
        if number == 3:
            said(reviewer, 1, (-1, 1), finish_reason="found_error", first_error=1, adjudicates=True)
    gold = AnnotationFactory(solution=solutions[0], annotator=reviewer, first_error=1, finish_reason="found_error")
    mark_gold(by=manager, project=project, annotation_id=gold.pk)


def download(project, manager, **filters):
    snapshot = create_snapshot(by=manager, project=project, filters=filters)
    return snapshot, b"".join(export_snapshot(snapshot, "records"))


@pytest.fixture
def moved(manager, tmp_path):
    """A function that imports an export into an empty project, by the command."""

    def move(content, name="moved"):
        project = create_project(by=manager, name=name, slug=name)
        path = tmp_path / f"{name}.jsonl"
        path.write_bytes(content)
        call_command("import_solutions", str(path), project=name)
        return project

    return move


@pytest.mark.parametrize(
    "filters", [{"revisions": "all"}, {}, {"source_kinds": ["human"], "lanes": ["acquisition", "holdout"]}]
)
def test_an_empty_installation_has_the_same_snapshot(labelled, manager, moved, filters):
    snapshot, content = download(labelled, manager, **filters)
    again, same = download(moved(content), manager, **filters)
    assert same == content
    assert again.sha256 == snapshot.sha256
    assert again.counts == snapshot.counts
    assert {"1"} <= again.counts["guidelines"].keys() <= {"", "1", "2"}
    assert {draw["least"] for draw in again.counts["draws"]} == {0.3}


def told(project):
    """What the database says of each label, without ids."""
    rows = Annotation.objects.filter(project=project, solution__in=ordinary(project))
    found = rows.values_list(
        "solution__problem__text_hash", "solution__content_hash", "solution__split", "source__kind", "source__name",
        "source__detail", "annotator__pseudonym", "revision", "lane", "first_error", "finish_reason", "adjudicates",
        "total_ms", "progress", "submitted_at",
    )  # fmt: skip
    return sorted(map(str, found))


def ordinary(project):
    gold = GoldAnswer.objects.filter(project__slug="project").values("solution__content_hash", "solution__external_id")
    [known] = gold
    return project.solutions.exclude(external_id=known["solution__external_id"])


def test_it_has_the_same_labels_people_kinds_revisions_splits_and_lanes(labelled, manager, moved):
    _, content = download(labelled, manager, revisions="all")
    again = moved(content)
    assert told(again) == told(labelled)
    people = {str(one.pseudonym): one for one in again.memberships.filter(user=None)}
    assert people.keys() == {
        str(pseudonym)
        for pseudonym in Annotation.objects.filter(project=labelled, solution__in=ordinary(labelled))
        .exclude(annotator=None)
        .values_list("annotator__pseudonym", flat=True)
    }
    assert {(one.active, one.kind) for one in people.values()} == {(False, "person"), (False, "machine")}
    assert set(again.solutions.values_list("multiplicity", flat=True)) == {3}
    drawn = drawn_in(again, manager)
    assert drawn == drawn_in(labelled, manager)
    assert {hint.shown for hint, *_ in drawn if hint} == {True, False}
    assert {(generation, inclusion) for _, generation, inclusion, _ in drawn} == {(3, Inclusion.of(0.3))}
    assert {version for *_, version in drawn} == {1, 2}


def drawn_in(project, manager):
    """How each label by a member was drawn, and under which guidelines it was made."""
    snapshot = create_snapshot(by=manager, project=project, filters={"revisions": "all"})
    labels = (label for record in read_snapshot(snapshot) for label in record.annotations if label.annotator)
    return [(label.hint, label.generation, label.inclusion, label.guidelines) for label in labels]


def test_a_filter_by_generation_takes_the_labels_that_came_from_it(labelled, manager, moved):
    _, content = download(labelled, manager)
    there, here = (download(one, manager, generations=[3])[1] for one in (labelled, moved(content)))
    assert here == there
    with pytest.raises(DomainError, match="No label"):
        create_snapshot(by=manager, project=labelled, filters={"generations": [4]})


def test_comments_and_reasons_travel_on_request_only(labelled, manager, moved):
    _, without = download(labelled, manager, revisions="all")
    assert b"Carol" not in without
    assert b"Ann" not in without
    snapshot, content = download(labelled, manager, revisions="all", comments="included")
    for text in (b"Carol saw this.", b"Carol too.", b"Ann is tired.", b"I am Ann."):
        assert content.count(text) >= 11
    assert "include comments and reasons as people wrote them" in dataset_card(snapshot)
    again, same = download(moved(content), manager, revisions="all", comments="included")
    assert (again.sha256, same) == (snapshot.sha256, content)


def test_the_order_of_the_file_makes_no_difference(labelled, manager, moved):
    snapshot, content = download(labelled, manager)
    reversed_lines = b"".join(reversed(content.splitlines(keepends=True)))
    assert download(moved(reversed_lines), manager)[0].sha256 == snapshot.sha256


def test_its_own_export_adds_nothing_to_a_project(labelled, manager):
    for filters in ({}, {"revisions": "all"}, {"consensus": "reliability"}):
        _, content = download(labelled, manager, **filters)
        counts = import_records(project=labelled, records=[r for _, r in records.read(io.BytesIO(content))], by=manager)
        assert (counts.accepted, counts.annotations) == (0, 0)


def test_an_earlier_revision_that_comes_later_is_stored_before_the_later_one(labelled, manager, moved):
    _, latest = download(labelled, manager)
    _, every = download(labelled, manager, revisions="all")
    project = moved(latest)
    import_records(project=project, records=[r for _, r in records.read(io.BytesIO(every))], by=manager)
    assert download(project, manager, revisions="all")[1] == every


def test_records_are_detected():
    line = json.dumps({"problem": "p", "positions": [[{"text": "a"}]]}).encode()
    assert detect(io.BytesIO(line), "export.jsonl") == "records"


def test_prm800k_keeps_annotator_revision_and_lane(labelled, manager):
    snapshot = create_snapshot(by=manager, project=labelled, filters={"revisions": "all"})
    content = b"".join(export_snapshot(snapshot, "prm800k"))
    again = create_project(by=manager, name="Again", slug="again")
    import_records(project=again, records=[r for _, r in prm800k.read(io.BytesIO(content))], by=manager)

    def of(project):
        rows = Annotation.objects.filter(project=project, solution__problem__text_hash__in=problems)
        return sorted(
            map(str, rows.values_list("source__kind", "source__name", "annotator__pseudonym", "revision", "lane"))
        )

    problems = list(Problem.objects.filter(project=again).values_list("text_hash", flat=True))
    assert of(again) == of(labelled)
    counts = import_records(project=labelled, records=[r for _, r in prm800k.read(io.BytesIO(content))], by=manager)
    assert (counts.accepted, counts.annotations) == (0, 0)


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_a_table_keeps_annotator_revision_and_lane(labelled, manager, format):
    snapshot = create_snapshot(by=manager, project=labelled, filters={"revisions": "all"})
    content = b"".join(export_snapshot(snapshot, format))
    again = create_project(by=manager, name="Again", slug="again")
    import_records(project=again, records=[r for _, r in table.read(io.BytesIO(content))], by=manager)

    def identities(project):
        rows = Annotation.objects.filter(project=project, ratings__rating__isnull=False, solution__in=ordinary(project))
        return set(
            rows.values_list(
                "solution__external_id", "source__kind", "source__name", "annotator__pseudonym", "revision", "lane"
            )
        )

    assert identities(again) == identities(labelled)


def test_two_annotators_in_one_file_are_never_revisions_of_each_other(manager):
    project = create_project(by=manager, name="New", slug="new")

    def by(name, *ratings):
        label = machine("human", *ratings, name=name)
        return Record("p", [[Completion("a")], [Completion("b")]], annotations=[label])

    given = [by("ann", 1, 1), by("bob", 1, -1), by("ann", 1, 0), by("bob", 1, -1), by("", 1, 1), by("", 0, 0)]
    counts = import_records(project=project, records=given, by=manager)
    assert (counts.annotations, counts.revised, counts.unnamed, counts.duplicates) == (5, 1, 1, 1)
    found = project.annotations.order_by("pk").values_list("annotator__name_in_file", "source__name", "revision")
    assert list(found) == [
        ("ann", "", 1), ("bob", "", 1), ("ann", "", 2), (None, "", 1), (None, "(2)", 1),
    ]  # fmt: skip
    assert LabelSource.objects.filter(project=project).count() == 2
    assert not project.memberships.filter(name_in_file__isnull=False, active=True).exists()
    assert Step.objects.filter(solution__project=project).count() == 2
    assert project.solutions.count() == 1
