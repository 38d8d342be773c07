"""People whose labels came in a file: every page shows them, and none lets them sign in."""

import json

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, connection, transaction
from django.test import Client

from annotation.core.errors import DomainError
from annotation.core.membership.accounts import invite
from annotation.core.membership.members import change_role, qualify, remove
from annotation.files.record_import import import_records
from annotation.labels.agreement.cube import agreement_of
from annotation.labels.consensus.fits import fit_for, scope_of
from annotation.labels.datasets.snapshots import create_snapshot
from annotation.models import AuditEntry, GoldAnswer, Lease, Membership, Project, QueueItem
from annotation.work.gold.designation import mark_gold, references
from annotation.work.gold.screening import decide
from annotation.work.queue.managing import change_items
from prm.formats.record import Completion, HintDraw, Inclusion, PathPosition, Rating, Record, RecordAnnotation
from tests.stored import snapshot_file

MARKED = "ann of the file (from a file)"


def by(name: str, *ratings: int, **fields: object) -> RecordAnnotation:
    path = [PathPosition(n, chosen=0, ratings=[Rating(0, "rated", rating=r)]) for n, r in enumerate(ratings)]
    error = ratings.index(-1) if -1 in ratings else -1
    finish = "found_error" if error >= 0 else "solution"
    return RecordAnnotation("human", finish, path, source_name=name, first_error=error, **fields)  # type: ignore[arg-type]


@pytest.fixture
def ann(empty_project: Project) -> Membership:
    """A person from a file who labelled the same five solutions as another."""
    records = [
        Record(
            f"Problem {'x' * n}",
            [[Completion("a")], [Completion("b")]],
            annotations=[by("ann of the file", 1, -1 if n % 2 else 1, lane="gold"), by("bob of the file", 1, -1)],
        )
        for n in range(5)
    ]
    import_records(project=empty_project, records=records, by=None)
    return Membership.objects.get(name_in_file="ann of the file")


def test_they_are_on_every_page_about_labels_and_people(client: Client, people: dict[str, User], ann: Membership):
    client.force_login(people["manager"])
    solution = ann.annotations.first().solution_id  # type: ignore[union-attr]
    pages = ("labels/", "members/", "quality/", "datasets/", f"solutions/{solution}/", f"members/{ann.pk}/gold/")
    for address in pages:
        page = client.get(f"/p/algebra/{address}").content.decode()
        assert MARKED in page, address
    page = client.get(f"/p/algebra/members/{ann.pk}/gold/").content.decode()
    assert "No account" in page
    for button in ("member-screen", "/screen/", "/qualify/"):
        assert f'{button}"' not in page
    listing = client.get("/p/algebra/members/").context["listing"]
    assert {row.shown_name: row.labels for row in listing}[MARKED] == 5
    narrowed = client.get(f"/p/algebra/labels/?annotator={ann.pseudonym}").context["listing"]
    assert {label.annotator for label in narrowed} == {ann}


def test_the_measures_of_quality_have_them_as_people(ann: Membership):
    agreement = agreement_of(ann.project)
    assert (agreement.solutions, agreement.pairs) == (0, 0), "gold lanes measure people, not each other"
    import_records(
        project=ann.project,
        records=[
            Record("shared", [[Completion("a")], [Completion("b")]], annotations=[by("ann of the file", 1, 1)]),
            Record("shared", [[Completion("a")], [Completion("b")]], annotations=[by("bob of the file", 1, -1)]),
        ],
        by=None,
    )
    agreement = agreement_of(ann.project)
    assert (agreement.solutions, agreement.pairs, agreement.value) == (1, 1, 0.0)
    fit = fit_for(by=None, project=ann.project, scope=scope_of(ann.project))
    assert str(ann.pseudonym) in {annotator.name for annotator in fit.report.annotators}


def test_they_have_no_part_in_the_work(people: dict[str, User], ann: Membership):
    manager, project = people["manager"], ann.project
    for service, fields in (
        (change_role, {"role": "manager"}),
        (qualify, {"domains": None}),
        (remove, {}),
        (decide, {"outcome": "passed"}),
    ):
        with pytest.raises(DomainError) as refused:
            service(by=manager, membership=ann, **fields)
        assert refused.value.code == "person_from_file"
    with pytest.raises(DomainError) as refused:
        change_items(by=manager, project=project, change="hand", items=[], to=ann)
    assert refused.value.code == "not_a_member"
    new, _ = invite(by=manager, project=project, username="annofthefile", role="annotator")
    assert new.pk != ann.pk
    ann.refresh_from_db()
    assert (ann.user, ann.active) == (None, False)
    assert not Lease.objects.filter(annotator=ann).exists()
    assert not QueueItem.objects.filter(assigned_to=ann).exists()


@pytest.mark.parametrize("change", [{"active": True}, {"name_in_file": None}])
def test_the_database_refuses_a_person_who_is_half_a_member(ann: Membership, change: dict[str, object]):
    with pytest.raises(IntegrityError, match="membership_has_account_or_is_from_file"), transaction.atomic():
        Membership.objects.filter(pk=ann.pk).update(**change)


def test_erasing_their_name_leaves_a_snapshot_as_it_is(people: dict[str, User], ann: Membership):
    filters = {"gold": "included"}
    snapshot = create_snapshot(by=people["manager"], project=ann.project, filters=filters)
    assert b"of the file" not in snapshot_file(snapshot).read_bytes()
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL stepmark.erasing = 'on'")
    Membership.objects.filter(pk=ann.pk).update(name_in_file=f"erased {ann.pk}")
    assert create_snapshot(by=people["manager"], project=ann.project, filters=filters) == snapshot


def test_a_label_that_a_file_calls_a_persons_becomes_gold_only_by_hand(people: dict[str, User], ann: Membership):
    project = ann.project
    decided = by("carol of the file", 1, -1, adjudicates=True)
    machine = by("", 1, -1, annotator="9d2f1b2e-5f55-4a4b-9a70-53a0c1f0f3aa")
    machine.source_kind = "model_judge"
    for problem, label in (("decided", decided), ("machine", machine)):
        record = Record(problem, [[Completion("a")], [Completion("b")]], annotations=[label])
        import_records(project=project, records=[record], by=None)
    assert not GoldAnswer.objects.exists()
    assert not AuditEntry.objects.filter(action="gold.mark").exists()
    candidates = list(references(project))
    assert {one.kind for one in candidates} == {"adjudicated", "human"}
    assert not project.annotations.filter(pk__in=[one.annotation for one in candidates], lane="gold").exists()
    [offered] = [one for one in candidates if one.kind == "adjudicated"]
    assert project.solutions.get(pk=offered.solution).problem.text == "decided"
    by_machine = project.annotations.get(source__kind="model_judge")
    with pytest.raises(DomainError):
        mark_gold(by=people["manager"], project=project, annotation_id=by_machine.pk)
    mark_gold(by=people["manager"], project=project, annotation_id=offered.annotation)
    assert GoldAnswer.objects.get().by == people["manager"]


def test_the_api_names_them(client: Client, people: dict[str, User], ann: Membership):
    client.force_login(people["manager"])
    record = Record("case", [[Completion("a")]], annotations=[by("ann of the file", 1)])
    import_records(project=ann.project, records=[record], by=None)
    solution = ann.annotations.get(solution__problem__text="case").solution_id
    case = json.loads(client.get(f"/api/v1/projects/algebra/reviews/{solution}/").content)
    assert [label["annotator"] for label in case["labels"]] == ["ann of the file"]
    people_rows = json.loads(client.get("/api/v1/projects/algebra/people/?active=false").content)["results"]
    assert {(row["username"], row["name_in_file"], row["labels"]) for row in people_rows} == {
        (None, "ann of the file", 6), (None, "bob of the file", 5),
    }  # fmt: skip


def test_the_api_shows_what_a_file_states_of_a_label(client: Client, people: dict[str, User], ann: Membership):
    client.force_login(people["manager"])
    label = by(
        "", 1, annotator="9d2f1b2e-5f55-4a4b-9a70-53a0c1f0f3aa", generation=4, guidelines=2, lane="control",
        inclusion=Inclusion.of(0.25), hint=HintDraw(shown=True, model=3),
    )  # fmt: skip
    import_records(project=ann.project, records=[Record("stated", [[Completion("a")]], annotations=[label])], by=None)
    [row] = json.loads(client.get("/api/v1/projects/algebra/labels/?generation=4&hint=shown").content)["results"]
    told = {name: row[name] for name in ("annotator", "generation", "guidelines", "lane", "inclusion_probability")}
    assert told == {
        "annotator": label.annotator, "generation": 4, "guidelines": 2, "lane": "control",
        "inclusion_probability": 0.25,
    }  # fmt: skip
    assert row["hint"] == {"shown": True, "model": 3}


def test_two_people_of_a_project_never_share_a_name_or_a_pseudonym(ann: Membership):
    for fields in ({"name_in_file": ann.name_in_file}, {"name_in_file": "other", "pseudonym": ann.pseudonym}):
        with pytest.raises(IntegrityError), transaction.atomic():
            Membership.objects.create(project=ann.project, role="annotator", active=False, **fields)
