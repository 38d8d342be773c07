"""Simulations on a project's own labels: called off, gone on with, shown, and taken up after a dead worker."""

import json
import re
from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.core import tickets
from annotation.core.lifecycle import MAX_ATTEMPTS, STALLED_AFTER, cancel_job, sweep_jobs
from annotation.labels.datasets.snapshots import create_snapshot
from annotation.loop.proof import simulating as running
from annotation.loop.proof.simulations import resume_simulation, start_simulation
from annotation.models import SimulationRun
from tests import library
from tests.factories import UserFactory
from tests.rounds_world import QUICK, folders, labelled_project

pytestmark = pytest.mark.django_db(transaction=True)
State = SimulationRun.State
LABELLED = 400  # so that every split has ten right and ten wrong ones


@pytest.fixture
def sent(settings, tmp_path, monkeypatch):
    folders(settings, tmp_path)
    messages = []
    monkeypatch.setattr("annotation.core.jobs._send", lambda task, args, queue: messages.append((task, args, queue)))
    return messages


@pytest.fixture
def manager(sent):
    return UserFactory(is_staff=True)


@pytest.fixture
def simulation(manager):
    project = labelled_project(manager, labelled=LABELLED, unlabelled=0, training=QUICK)
    snapshot = create_snapshot(by=manager, project=project, filters={})
    return start_simulation(
        by=manager, project=project, snapshot=snapshot, functions=[], seeds=1, budget=running.LEAST_BUDGET
    )


def test_a_simulation_is_called_off_goes_on_and_is_shown(client, manager, simulation, monkeypatch):
    shares = []
    watch = running.watch

    def watch_and_cancel(command, *, on_line, **options):
        def listen(line):
            on_line(line)
            simulation.refresh_from_db()
            shares.append(simulation.progress)
            if shares[-1] and len(kept) == 0:
                kept.append(line)
                cancel_job(by=manager, job=simulation)

        watch(command, on_line=listen, **options)

    kept = []
    monkeypatch.setattr(running, "watch", watch_and_cancel)
    running.run_simulation(simulation.pk)
    simulation.refresh_from_db()
    assert (simulation.state, simulation.result) == (State.CANCELLED, {})
    assert 0 < simulation.progress < 1
    assert re.match(r"(random|wrong_answers)( \+ graded 1)?, seed 0: F1 ", simulation.message)
    arms = running.folder_of(simulation) / "arms.jsonl"
    finished = arms.read_text().splitlines()

    watch = library.watch  # in this process: nobody stops it
    resume_simulation(by=manager, job=simulation)
    shares.clear()
    running.run_simulation(simulation.pk)
    simulation.refresh_from_db()
    assert (simulation.state, simulation.error, simulation.progress) == (State.DONE, "", 1.0)
    assert arms.read_text().splitlines()[: len(finished)] == finished
    assert sorted({share for share in shares if share}) == [n / 4 for n in range(len(finished), 5)]

    # What the page reads is what the command wrote.
    client.force_login(manager)
    address = f"/p/{simulation.project.slug}/simulations/{simulation.pk}/"
    shown = client.get(address)
    rows = {(row["function"], row["graded"]): row for row in shown.context["comparisons"]}
    assert set(rows) == {(name, graded) for name in ("random", "wrong_answers") for graded in (0.0, 1.0)}
    for row in rows.values():
        assert 0 <= row["f1"][-1]["low"] <= row["f1"][-1]["value"] <= row["f1"][-1]["high"] <= 1
    chosen = rows["wrong_answers", 1.0]
    assert chosen["area_gain"]["solutions"]["value"] is not None
    savings = [*(chosen["saving"][axis] for axis in ("solutions", "steps", "seconds")), chosen["choosing"]]
    assert [one["mean"]["value"] > 0 and one["never"] >= 0 for one in savings] == [True] * 4
    assert "With the same training signals, choosing" in shown.content.decode()
    written = json.loads((running.folder_of(simulation) / running.REPORT).read_bytes())
    assert {name: written["plan"]["config"][name] for name in QUICK} == QUICK
    assert client.get(address + "report.json").json() == written
    assert client.get(address + "curves.svg").getvalue().startswith(b"<?xml")
    assert "curves.svg" in shown.content.decode()


def test_a_dead_worker_s_simulation_is_asked_for_again_and_given_up_at_last(simulation, sent):
    rows = SimulationRun.objects.filter(pk=simulation.pk)
    rows.update(state=State.RUNNING, heartbeat_at=timezone.now())
    tickets.take(SimulationRun, simulation.pk, "")  # the worker that died had fetched the message
    sent.clear()
    assert sweep_jobs() == 0
    rows.update(heartbeat_at=timezone.now() - 2 * STALLED_AFTER)
    assert sweep_jobs() == 1
    assert sent == [("rounds.simulate", (simulation.pk,), "gpu")]
    assert sweep_jobs() == 0, "asked for a moment ago"
    rows.update(attempts=MAX_ATTEMPTS, heartbeat_at=timezone.now() - timedelta(hours=1))
    running.run_simulation(simulation.pk)
    simulation.refresh_from_db()
    assert simulation.state == State.FAILED
    assert "died 3 times" in simulation.error


def test_a_simulation_gives_way_to_a_round_and_goes_on_by_itself(simulation, sent, monkeypatch):
    looked = iter([False, True])  # none waits when it begins, one does soon after
    monkeypatch.setattr("annotation.loop.processes.devices.round_waits", lambda: next(looked, True))
    running.run_simulation(simulation.pk)
    simulation.refresh_from_db()
    assert (simulation.state, simulation.attempts, simulation.error) == (State.QUEUED, 0, "")
    SimulationRun.objects.update(heartbeat_at=timezone.now() - 2 * STALLED_AFTER)
    sent.clear()
    sweep_jobs()
    assert sent == [("rounds.simulate", (simulation.pk,), "gpu")]
