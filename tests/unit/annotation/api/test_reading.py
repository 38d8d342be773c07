"""What a program reads of a project's solutions, labels, consensus, people, batches, agreement and audit log."""

import csv
import io
import json

import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotation.labels.annotators.batches import set_aside_by_hand
from annotation.labels.datasets.snapshots import create_snapshot, read_snapshot
from annotation.models import Annotation, Membership, Project, QueueItem
from tests import manager_world
from tests.api_client import api_of
from tests.factories import AnnotationFactory, LabelSourceFactory, MembershipFactory, ProjectFactory, index_words

pytestmark = pytest.mark.django_db
SECRET = ("lane", "generation", "split", "hint", "source_kind", "annotator", "set_aside", "inclusion_probability")


@pytest.fixture(scope="module")
def filled(module_db):
    people = manager_world.create_people()
    project = manager_world.create_empty_project(people)
    manager_world.fill(project, people)
    index_words(project)


@pytest.fixture
def people(filled, db):
    return {user.username: user for user in User.objects.all()}


@pytest.fixture
def project(filled, db):
    return Project.objects.get()


@pytest.fixture
def read(project, people):
    """The body of an address of the project, as one of the people."""

    def answer(address, who="manager"):
        client = api_of(people[who])
        response = client.get(f"/api/v1/projects/{project.slug}/{address}")
        assert response.status_code == 200, response.content
        return response.json()

    return answer


@pytest.fixture
def pages(project, people):
    """The rows of a list of the project as its page downloads them."""
    client = Client()
    client.force_login(people["manager"])

    def rows(address):
        together = "&" if "?" in address else "?"
        content = b"".join(client.get(f"/p/{project.slug}/{address}{together}download=csv"))
        return list(csv.DictReader(io.StringIO(content.decode())))

    return rows


def test_a_solution_is_listed_with_its_origin_and_read_with_its_steps(read, project):
    first, *others = read("solutions/")["results"]
    assert len(others) == 2
    assert first["id"] == project.solutions.latest("pk").pk
    assert first["problem"]["text"] == "What is 2 + 2?"
    assert (first["outcome"], first["outcome_source"], first["labels"], first["score"]) == ("unknown", None, 0, None)
    assert "steps" not in first

    whole = read(f"solutions/{first['id']}/")
    assert [step["text"] for step in whole.pop("steps")] == ["Step 0", "Step 1", "Step 2"]
    assert whole.items() >= first.items()


def test_a_label_has_its_source_its_place_in_the_queue_and_its_ratings(read, project, people):
    label = project.annotations.get(first_error=1)
    row = read(f"labels/{label.pk}/")
    assert row in read("labels/")["results"]
    assert row["annotator"] == str(label.annotator.pseudonym)
    assert (row["source_kind"], row["lane"], row["split"], row["generation"]) == ("human", "control", "pool", 0)
    assert (row["revision"], row["first_error"], row["finish_reason"]) == (1, 1, "found_error")
    assert (row["total_ms"], row["hint"], row["set_aside"]) == (42_000, None, False)
    assert [(rating["position"], rating["rating"]) for rating in row["ratings"]] == [(0, 1), (1, -1)]
    assert [(place["position"], place["alternative"]) for place in row["path"]] == [(0, 0), (1, None)]
    assert "annotator" not in json.dumps(row).replace('"annotator":', ""), "user names stay out"


def test_an_annotator_reads_their_own_labels_and_nothing_that_reveals_gold(read, project, people):
    hidden = QueueItem.objects.create(
        project=project, generation=project.generations.get(), solution=project.solutions.latest("pk"), split="pool",
        lane="gold", rank=9,
    )  # fmt: skip
    member = Membership.objects.get(project=project, user=people["annotator"])
    gold = manager_world.label(hidden, member, first_error=0)
    rows = read("labels/", "annotator")["results"]
    mine = Annotation.objects.filter(annotator=member).order_by("-pk")
    assert [row["id"] for row in rows] == [label.pk for label in mine]
    assert {field for row in rows for field in row} & {*SECRET} == set()
    assert "gold" not in json.dumps(rows)
    assert set(read(f"labels/{gold.pk}/", "annotator")) == set(rows[0]), "nor does the label itself"

    assert len(read("labels/?lane=gold", "annotator")["results"]) == len(rows), "the lane is no filter of theirs"
    client = api_of(people["annotator"])
    other = project.annotations.exclude(annotator=member).first()
    assert client.get(f"/api/v1/projects/algebra/labels/{other.pk}/").json()["code"] == "annotation_not_found"


@pytest.mark.slow
@pytest.mark.parametrize(
    "query",
    ["", "?finish_reason=found_error", "?since=2020-01-01", "?until=2020-01-01", "?source=human", "?source=heuristic",
     "?generation=0", "?generation=7", "?lane=control", "?lane=gold", "?hint=shown", "?annotator={pseudonym}",
     "?solution={solution}", "?batch={batch}"],
)  # fmt: skip
def test_labels_have_the_filters_of_their_page(read, pages, project, people, query):
    member = Membership.objects.get(project=project, user=people["annotator"])
    label = project.annotations.get(annotator=member)
    batch = set_aside_by_hand(
        by=people["manager"], project=project, annotator=member, since=label.submitted_at, until=label.submitted_at,
        reason="a test",
    )  # fmt: skip
    AnnotationFactory(
        solution=label.solution, annotator=None, source=LabelSourceFactory(project=project, kind="heuristic", name="h")
    )
    address = "labels/" + query.format(pseudonym=member.pseudonym, solution=label.solution_id, batch=batch.pk)
    rows, shown = read(address)["results"], pages(address)
    assert len(rows) == len(shown)
    assert [row["submitted_at"] for row in rows] == [row["submitted"].replace("+00:00", "Z") for row in shown]
    aside = {row["id"]: row["set_aside"] for row in read("labels/")["results"]}
    assert aside == {pk: pk == label.pk for pk in aside}


@pytest.mark.parametrize(
    "query",
    ["", "?search=2", "?split=pool", "?split=holdout", "?annotated=yes", "?annotated=no", "?policy=model-a",
     "?visibility=unknown", "?visibility=raw", "?outcome=unknown", "?outcome=wrong", "?generation=0&lane=control",
     "?generation=0&lane=gold", "?generation=7", "?disagreement=true", "?one={one}&other={other}&way=differing"],
)  # fmt: skip
def test_solutions_have_the_filters_of_their_page(read, pages, project, query):
    label = project.annotations.first()
    other = LabelSourceFactory(project=project, kind="heuristic", name="h")
    AnnotationFactory(solution=label.solution, annotator=None, source=other, first_error=2)
    address = "solutions/" + query.format(one=label.source_id, other=other.pk)
    assert [str(row["id"]) for row in read(address)["results"]] == [row["solution"] for row in pages(address)]


@pytest.mark.parametrize(
    ("address", "field"),
    [("labels/?batch=999999", "batch"), ("labels/?annotator=ann", "annotator"), ("labels/?since=soon", "since"),
     ("solutions/?way=differing", "one"), ("solutions/?one=999998&other=999999&way=both", "one"),
     ("solutions/?week=2026-11-23", "week"), ("agreement/?measure=luck", "measure"),
     ("agreement/?rows=week&columns=week", "columns"), ("agreement/?columns=week", "columns"),
     ("solutions/?outcome=maybe", "outcome"), ("batches/?state=new", "state"), ("consensus/?fit=best", "fit")],
)  # fmt: skip
def test_a_filter_that_cannot_be_is_refused_by_its_field(project, people, address, field):
    client = api_of(people["manager"])
    answer = client.get(f"/api/v1/projects/{project.slug}/{address}")
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid")
    assert answer.json()["extra"]["field"] == field


def test_the_consensus_is_that_of_a_snapshot_with_the_same_filters(read, project, people):
    snapshot = create_snapshot(by=people["manager"], project=project, filters={})
    record = next(read_snapshot(snapshot))
    [row] = read("consensus/")["results"]
    solution = project.solutions.get(problem__text=record.problem)
    assert (row["solution"], row["method"], row["source_kinds"]) == (solution.pk, "shares", ["human"])
    assert row["labels"] == len(record.annotations) == 2
    asserted = [(step["position"], step["good"], step["bad"], step["votes"]) for step in row["steps"]]
    assert asserted == [(step.position, step.good, step.bad, step.votes) for step in record.consensus]
    assert row["fit"] is None
    assert read("consensus/?source_kinds=heuristic")["results"] == []


def test_the_consensus_is_that_of_the_latest_fit_or_of_the_one_asked_for(read, project, people):
    filters = {"consensus": project.policies.quality.consensus, "source_kinds": ["human"]}
    snapshot = create_snapshot(by=people["manager"], project=project, filters=filters)
    record = next(read_snapshot(snapshot))
    for row in (*read("consensus/")["results"], *read("consensus/?fit=1")["results"]):
        assert (row["method"], row["fit"]) == (filters["consensus"], 1)
        assert [step["bad"] for step in row["steps"]] == [step.bad for step in record.consensus]
    assert read("consensus/?fit=0")["results"][0]["method"] == "shares"
    [fit] = read("consensus-fits/")["results"]
    assert read("consensus-fits/1/") == fit
    assert (fit["number"], fit["state"], fit["sha256"]) == (1, "done", record.consensus_fit)
    assert {one["name"] for one in fit["report"]["annotators"]} == {label.annotator for label in record.annotations}


def test_people_are_named_once_with_their_pseudonym(read, project, people):
    rows = {row["username"]: row for row in read("people/")["results"]}
    member = Membership.objects.get(project=project, user=people["annotator"])
    assert rows["annotator"]["pseudonym"] == str(member.pseudonym)
    assert (rows["annotator"]["labels"], rows["annotator"]["median_seconds"]) == (1, 42)
    assert rows["reviewer"]["labels"] == 0
    Membership.objects.filter(pk=member.pk).update(active=False)
    assert [row["username"] for row in read("people/?active=false")["results"]] == ["annotator"]


def test_a_batch_states_who_and_when_and_links_to_its_labels(read, project, people):
    member = Membership.objects.get(project=project, user=people["annotator"])
    label = project.annotations.get(annotator=member)
    batch = set_aside_by_hand(
        by=people["manager"], project=project, annotator=member, since=label.submitted_at, until=label.submitted_at,
        reason="a test",
    )  # fmt: skip
    [row] = read("batches/?state=set_aside")["results"]
    assert (row["id"], row["annotator"], row["source_kind"]) == (batch.pk, str(member.pseudonym), None)
    assert (row["judge"], row["reason"], row["decided_by"]) == ("person", "a test", "manager")
    assert read("batches/?state=suspected")["results"] == []


def test_agreement_is_cut_by_two_dimensions_whose_cells_open_their_solutions(read, project):
    report = read("agreement/?rows=pair&columns=length&between=people")
    whole = {"value": 0.0, "low": None, "high": None, "solutions": 1, "pairs": 1}
    assert report["whole"] == {"row": "", "column": "", **whole}
    [cell] = report["cells"]
    annotator, peer = cell["row"].split(" ")
    assert {annotator, peer} == {str(of) for of in project.annotations.values_list("annotator__pseudonym", flat=True)}
    assert cell == {"row": f"{annotator} {peer}", "column": "1-4", **whole}
    address = f"solutions/?between=people&annotator={annotator}&peer={peer}&length="
    assert [row["labels"] for row in read(f"{address}1-4")["results"]] == [2]
    assert read(f"{address}5-8")["results"] == []
    assert read("agreement/?between=machines")["whole"] is None


def test_agreement_is_compared_between_the_projects_that_one_reviews(project, people):
    ProjectFactory()
    MembershipFactory(user=people["manager"], role="annotator")
    client = api_of(people["manager"])
    [of] = client.get("/api/v1/agreement/?rows=domain").json()
    assert (of["project"], [cell["pairs"] for cell in of["cells"]]) == (project.slug, [1])
    client.force_authenticate(people["annotator"])
    assert client.get("/api/v1/agreement/").json() == []


def test_the_audit_log_is_filtered(read, project, people):
    rows = read("audit/")["results"]
    assert [row["id"] for row in rows] == [entry.pk for entry in project.audit_entries.all()]
    assert read("audit/?since=0175-09-22T20:11:45%2B17:12&until=0001-01-01T00:00:00%2B17:12")["results"] == []
    added = read("audit/?action=member.add&by=manager&since=2020-01-01T00:00:00Z")["results"]
    assert {row["action"] for row in added} == {"member.add"}
    assert added[0]["after"]["role"] == "annotator"
    assert read("audit/?until=2020-01-01T00:00:00Z")["results"] == []


@pytest.mark.slow
def test_a_page_costs_the_same_whatever_the_number_of_rows(
    read, project, people, django_assert_max_num_queries, django_assert_num_queries
):
    manager_world.grow(project, people)
    for number in range(3):
        AnnotationFactory(solution=project.solutions.first(), annotator__user=User.objects.create_user(f"m{number}"))
    for address in ("solutions/", "labels/", "consensus/", "people/", "batches/", "audit/"):
        with django_assert_max_num_queries(20, info=address) as one:
            read(f"{address}?limit=1")
        with django_assert_num_queries(len(one), info=address):
            read(f"{address}?limit=100")
