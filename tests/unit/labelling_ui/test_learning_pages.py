"""The pages of active learning and of its simulations, with and without data."""

import pytest

from annotation.models import ShadowComparison, SimulationRun, Snapshot
from labelling_ui.pages.simulations import choosing_in_words
from tests.manager_world import create_empty_project, label


def saving(value, low, high):
    return {"mean": {"value": value, "low": low, "high": high}, "never": 0.0}


RESULT = {
    "comparisons": [
        {
            "function": "entropy",
            "graded": 1.0,
            "f1": [{"value": 0.3, "low": 0.2, "high": 0.4}, {"value": 0.51, "low": 0.4, "high": 0.6}],
            "area_gain": {"solutions": {"value": 0.021, "low": -0.01, "high": 0.05}},
            "saving": {"solutions": saving(1.73, 1.1, 2.4)},
            "choosing": saving(1.04, 0.9, 1.2),
        },
        {
            "function": "random",
            "graded": 0.0,
            "f1": [],
            "area_gain": {},
            "saving": {},
            "choosing": None,
        },
    ]
}


@pytest.fixture
def snapshot(project):
    counts = {"solutions": 300, "splits": {"pool": 200, "calibration": 40, "holdout": 60}}
    return Snapshot.objects.create(project=project, sha256="d" * 64, path="d.jsonl", counts=counts)


def comparison(project, snapshot, **fields):
    run = project.training_runs.get()
    given = {
        "generation": 1, "start_labels": 30, "acquisition_labels": 40, "control_labels": 25,
        "acquisition_seconds": 1500, "control_seconds": 1510, "acquisition_f1": 0.5, "control_f1": 0.462,
        "gain": 0.038, "low": -0.01, "high": 0.08, "holdout_solutions": 60, "holdout_problems": 30, "seed": 1,
        "start_f1": 0.4,
    } | fields  # fmt: skip
    return ShadowComparison.objects.create(project=project, run=run, snapshot=snapshot, **given)


def test_without_a_comparison_the_page_says_what_is_missing(manager, project):
    page = manager.get("/p/algebra/learning/").content.decode()
    assert "No live comparison yet" in page
    assert "Not enough data to decide" in page


def test_an_empty_project_has_a_learning_page(client, people):
    create_empty_project(people)
    client.force_login(people["manager"])
    assert "No live comparison yet" in client.get("/p/algebra/learning/").content.decode()


def test_a_comparison_is_shown_with_its_interval_and_leads_to_its_rows(manager, project, snapshot):
    found = comparison(project, snapshot)
    page = manager.get("/p/algebra/learning/").content.decode()
    assert "+3.8 points of F1 (95&nbsp;% interval −1.0 to +8.0)" in page
    assert f"/p/{project.slug}/runs/{found.run.number}/" in page
    assert "?lane=acquisition" in page
    csv = b"".join(manager.get("/p/algebra/learning/?download=csv").streaming_content).decode()
    assert csv.splitlines()[0].startswith("generation,run,seconds")
    assert csv.splitlines()[1].startswith("1,1,1510")


def test_the_pool_is_told_from_weighted_labels(manager, project):
    project.queue_items.filter(annotations__isnull=False).update(inclusion_probability=0.5)
    page = manager.get("/p/algebra/learning/").content.decode()
    assert "Estimates for the pool" in page
    assert "?generation=0&amp;lane=control" in page


def test_programs_get_the_same(client, people, project, snapshot):
    comparison(project, snapshot)
    client.force_login(people["reviewer"])
    found = client.get("/api/v1/projects/algebra/learning/").json()
    assert found["comparisons"][0]["gain"] == 0.038
    assert found["advice"]["stop"] is False
    assert [one["generation"] for one in found["history"]] == [0]
    client.force_login(people["annotator"])
    assert client.get("/api/v1/projects/algebra/learning/").status_code == 403


def test_a_simulation_is_started_from_the_page(manager, project, snapshot, monkeypatch):
    sent = []
    monkeypatch.setattr("annotation.core.lifecycle.enqueue", lambda task, *args, queue: sent.append((task, queue)))
    assert "Create a snapshot" not in manager.get("/p/algebra/simulations/").content.decode()
    given = {"snapshot": snapshot.pk, "functions": ["entropy"], "seeds": 2, "budget": 100}
    answer = manager.post("/p/algebra/simulations/", given)
    found = SimulationRun.objects.get()
    assert answer.headers["Location"] == f"/p/algebra/simulations/{found.pk}/"
    assert (found.functions, found.seeds, found.budget) == (["random", "wrong_answers", "entropy"], 2, 100)
    assert sent == [("rounds.simulate", "gpu")]
    assert "Waiting for a worker" in manager.get(f"/p/algebra/simulations/{found.pk}/").content.decode()
    assert "Open the simulation" in manager.get("/p/algebra/simulations/").content.decode()


def test_a_snapshot_without_a_split_is_not_offered(manager, project):
    counts = {"solutions": 200, "splits": {"pool": 200}}
    Snapshot.objects.create(project=project, sha256="d" * 64, path="d.jsonl", counts=counts)
    assert "No snapshot to replay" in manager.get("/p/algebra/simulations/").content.decode()


def test_what_cannot_be_simulated_is_said_on_the_page(manager, project, snapshot):
    given = {"snapshot": snapshot.pk, "functions": ["entropy"], "seeds": 2, "budget": 900}
    assert "40 to 200" in manager.post("/p/algebra/simulations/", given).content.decode()
    assert not SimulationRun.objects.exists()


def test_a_finished_simulation_shows_its_table_and_downloads(manager, project, snapshot):
    found = SimulationRun.objects.create(
        project=project, snapshot=snapshot, functions=["random", "entropy"], seeds=5, budget=100,
        state="done", result=RESULT,
    )  # fmt: skip
    page = manager.get(f"/p/algebra/simulations/{found.pk}/").content.decode()
    assert "1.73×" in page
    assert "choosing buys nothing certain: random selection needs 1.04× as many solutions" in page
    assert "choosing buys nothing certain" in manager.get("/p/algebra/learning/").content.decode()
    assert "51.0" in page
    assert "+2.1" in page
    told = manager.get(f"/p/algebra/simulations/{found.pk}/report.json")
    assert told.json() == RESULT
    assert "attachment" in told.headers["Content-Disposition"]
    assert manager.get(f"/p/algebra/simulations/{found.pk}/curves.svg").status_code == 404


def test_what_choosing_buys_is_said_at_an_equal_training_signal():
    rows = [
        {"function": name, "graded": graded, "choosing": choosing}
        for name, graded, choosing in (
            ("random", 1.0, None),
            ("entropy", 0.0, saving(3.1, 2.5, 3.7)),
            ("entropy", 1.0, saving(1.3, 1.1, 1.5)),
            ("margin", 1.0, saving(0.9, 0.8, 1.1)),
            ("actprm", 1.0, saving(None, None, None)),
        )
    ]
    assert "choosing pays: random selection needs 1.30× as many" in choosing_in_words({"comparisons": rows})
    assert "entropy (1.10× to 1.50×)" in choosing_in_words({"comparisons": rows})
    assert "nothing certain" in choosing_in_words({"comparisons": rows[3:]})
    rows[3]["choosing"]["never"] = 0.5
    assert "needs ≤ 0.90× as many" in choosing_in_words({"comparisons": rows[3:]})
    assert choosing_in_words({"comparisons": rows[:1]}) == choosing_in_words({}) == ""


def test_labels_without_a_probability_are_no_sample(manager, project, people):
    item = project.queue_items.last()
    label(item, project.memberships.get(user=people["annotator"]), first_error=0)
    assert "Estimates for the pool" not in manager.get("/p/algebra/learning/").content.decode()
