"""Every kind of label that the workbench hands in comes back in exports, as it was last said."""

import json
import uuid

import pytest

from annotation.labels.datasets.snapshots import create_snapshot
from annotation.models import Solution
from tests.api_client import api_of
from tests.factories import GenerationFactory, MembershipFactory, QueueItemFactory

pytestmark = pytest.mark.django_db
STEPS = ["We add.", ["2 + 2 = 5.", "2 + 2 = 4."], "The answer is 4."]
SCHEME = {"ask_own_step": True, "error_types": ["slip"]}


@pytest.fixture
def project():
    generation = GenerationFactory(project__scheme=SCHEME)
    QueueItemFactory.create_batch(5, generation=generation, solution__steps=STEPS)
    return generation.project


@pytest.fixture
def client_of(project):
    def client(role):
        return api_of(MembershipFactory(project=project, role=role).user)

    return client


@pytest.fixture
def annotator(project, client_of):
    """Claims the next solution and hands it in, or hands in again what is given; each answer is its `submission`."""
    client, address = client_of("annotator"), f"/api/v1/projects/{project.slug}/"

    def label(say, again=None, **said):
        task = again or client.post(address + "claim/", {}, format="json").json()["task"]
        steps = [[completion["id"] for completion in at["alternatives"]] for at in task["solution"]["steps"]]
        body = {
            "submission_id": str(uuid.uuid4()),
            "solution": task["solution"]["id"],
            "lease": task["lease"]["id"],
            "based_on": 1 if again else 0,
            "total_ms": 9000,
            "path": say(steps),
        }
        answer = client.post(address + "annotations/", body | said, format="json")
        assert answer.status_code == 201, answer.json()
        return task

    return label


def place(position, *ratings, chosen=None, **more):
    return {"position": position, "chosen": chosen, "ratings": list(ratings), **more}


def word(step, rating=None, **more):
    return {"step": step, "state": "unsure" if rating is None else "rated", "rating": rating, **more}


def unsure_and_flagged(steps):
    (first,), (second, _), (third,) = steps
    return [
        place(0, word(first, 1, flagged=True), chosen=first, dwell_ms=700),
        place(1, word(second), chosen=second),
        place(2, word(third, 0), chosen=third),
    ]


def all_good(steps):
    return [place(position, word(at[0], 1), chosen=at[0]) for position, at in enumerate(steps)]


def error_with_all_that_can_be_said(steps):
    (first,), (wrong, right), _ = steps
    return [
        place(0, word(first, 1), chosen=first),
        place(
            1,
            word(
                wrong,
                -1,
                error_type="slip",
                comment="carol@example.org says it is four",
                spans=[
                    {"start": 8, "end": 9, "error_type": "slip", "comment": "Carol counts four"},
                    {"start": 0, "end": 5},
                ],
            ),
            word(right, 1),
            own_text="2 + 2 is 4.",
        ),
    ]


def begun(steps):
    return [place(0, word(steps[0][0], 1), chosen=steps[0][0])]


@pytest.fixture
def export(project, annotator, client_of):
    """One solution labelled in each way, the first one twice; what a manager downloads in a format, by solution."""
    labelled = {
        "revised": annotator(all_good, finish_reason="solution"),
        "error": annotator(error_with_all_that_can_be_said, finish_reason="found_error", comment="I am Carol."),
        "gave_up": annotator(begun, finish_reason="give_up", reason="Carol cannot tell."),
        "bad": annotator(begun, finish_reason="bad_problem", reason="Carol finds no question."),
        "disputed": annotator(all_good, finish_reason="solution", reference_disputed=True, comment="It is 5."),
    }
    annotator(unsure_and_flagged, again=labelled["revised"], finish_reason="solution")
    names = {task["solution"]["id"]: name for name, task in labelled.items()}
    solutions = Solution.objects.order_by("problem__text_hash", "content_hash")
    order = list(solutions.values_list("pk", flat=True))
    manager = client_of("manager")
    made = create_snapshot(by=None, project=project, filters={})

    def download(format):
        answer = manager.get(f"/api/v1/snapshots/{made.pk}/download/?format={format}")
        lines = [json.loads(line) for line in b"".join(answer.streaming_content).splitlines()]
        return {names[solution]: line for solution, line in zip(order, lines, strict=True)}

    return download


def test_every_kind_of_label_comes_back_in_records_the_latest_revision_alone(export):
    labels = {name: record["annotations"] for name, record in export("records").items()}
    assert {name: len(said) for name, said in labels.items()} == dict.fromkeys(labels, 1)
    told = {name: said[0] for name, said in labels.items()}
    assert {name: (said["finish_reason"], said.get("first_error")) for name, said in told.items()} == {
        "revised": ("solution", -1),
        "error": ("found_error", 1),
        "gave_up": ("give_up", None),
        "bad": ("bad_problem", None),
        "disputed": ("solution", -1),
    }
    assert {name for name, said in told.items() if said.get("reference_disputed")} == {"disputed"}
    assert told["revised"]["path"] == [
        place(0, {"alternative": 0, "state": "rated", "rating": 1, "flagged": True}, chosen=0, dwell_ms=700),
        place(1, {"alternative": 0, "state": "unsure", "flagged": False}, chosen=0),
        place(2, {"alternative": 0, "state": "rated", "rating": 0, "flagged": False}, chosen=0),
    ]
    wrong = {
        "alternative": 0, "state": "rated", "rating": -1, "flagged": False, "error_type": "slip",
        "spans": [{"start": 8, "end": 9, "error_type": "slip"}, {"start": 0, "end": 5}],
    }  # fmt: skip
    right = {"alternative": 1, "state": "rated", "rating": 1, "flagged": False}
    assert told["error"]["path"][1] == {"position": 1, "own_text": "2 + 2 is 4.", "ratings": [wrong, right]}
    assert [len(told[name]["path"]) for name in ("gave_up", "bad")] == [1, 1]


def test_prm800k_has_each_label_as_far_as_it_can_be_said_there(export):
    labels = {name: line["label"] for name, line in export("prm800k").items()}
    assert {name: label["finish_reason"] for name, label in labels.items()} == {
        "revised": "solution", "error": "found_error", "gave_up": "give_up", "bad": "bad_problem",
        "disputed": "solution",
    }  # fmt: skip
    said = [[(c["rating"], c["flagged"]) for c in step["completions"]] for step in labels["revised"]["steps"]]
    assert said == [[(1, True)], [(None, True)], [(0, False)]]
    end = labels["error"]["steps"][1]
    assert [(c["text"], c["rating"]) for c in end["completions"]] == [("2 + 2 = 5.", -1), ("2 + 2 = 4.", 1)]
    assert (end["chosen_completion"], end["human_completion"]["text"]) == (None, "2 + 2 is 4.")


def test_comments_critiques_and_reasons_are_left_out_of_exports_by_design_for_they_could_identify(export):
    for format in ("records", "prm800k"):
        assert "carol" not in json.dumps(export(format)).lower()
