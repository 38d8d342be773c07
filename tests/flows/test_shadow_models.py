"""The live comparison: two models on equal time of acquisition and control, measured, kept, and gone again."""

import pytest
from django.db import Error

from annotation.core.errors import DomainError
from annotation.loop.proof.lane_estimates import estimates_of
from annotation.loop.rounds import trainer
from annotation.loop.rounds.stages import shadow
from annotation.models import ModelVersion, ShadowComparison
from tests.factories import UserFactory
from tests.library import stay_in_process
from tests.rounds_world import folders
from tests.shadow_world import CHANCES, project_of_two_lanes, shadow_work

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def project(settings, tmp_path, monkeypatch):
    folders(settings, tmp_path)
    monkeypatch.setattr("annotation.core.jobs._send", lambda task, args, queue: None)
    stay_in_process(monkeypatch)
    return project_of_two_lanes(UserFactory(is_staff=True))


def left_behind(settings):
    return [*(settings.STATE_ROOT / "runs").rglob("shadow/*"), *(settings.STATE_ROOT / "models").rglob("*.safetensors")]


def test_both_lanes_are_compared_on_equal_time_and_nothing_of_it_serves(project, settings):
    work = shadow_work(project)
    outcome = shadow.perform(work)
    assert not outcome.skipped, outcome.figure
    found = project.shadow_comparisons.get()
    assert (found.run, found.snapshot, found.generation) == (work.run, work.run.snapshot, 1)
    assert min(found.acquisition_labels, found.control_labels) >= shadow.LEAST_LABELS
    longest = max(project.annotations.filter(total_ms__isnull=False).values_list("total_ms", flat=True)) / 1000
    assert abs(found.acquisition_seconds - found.control_seconds) <= longest
    assert found.start_labels > 0
    assert found.start_f1 is not None
    assert found.gain == pytest.approx(found.acquisition_f1 - found.control_f1)
    assert found.low <= found.gain <= found.high
    assert found.samples
    assert found.holdout_solutions >= 5

    # Shadow models are no versions, and their files are gone.
    assert not ModelVersion.objects.exists()
    assert [path for path in left_behind(settings) if "cache" not in path.parts] == []

    # What is kept stays as it is, and a second time does nothing.
    with pytest.raises(Error, match="immutable"):
        ShadowComparison.objects.update(gain=1.0)
    assert shadow.perform(work) == outcome
    assert ShadowComparison.objects.count() == 1

    # The weighted estimates are kept with it.
    by_lane = {one.lane: one for one in estimates_of(project)}
    assert {one["lane"] for one in found.estimates} == set(by_lane) == {"acquisition", "control"}
    for lane, one in by_lane.items():
        rate = one.first_error_rate
        assert one.labelled == one.items == rate.n
        assert rate.low <= rate.value <= rate.high
        assert rate.value == pytest.approx(rate.naive), f"all of {lane} had the chance {CHANCES[lane]}"
        assert one.seconds.value > 0
        assert one.champion_accuracy is None, "no model drew this generation"

    # Without a new label there is nothing to compare again.
    again = shadow.perform(shadow_work(project, number=2))
    assert again.skipped
    assert "no new label since the comparison in run 1" in again.figure


def test_a_failure_and_too_little_leave_nothing_behind(project, settings, monkeypatch):
    def fail(**given):
        raise DomainError("the trainer failed with exit code 1.", code="training_failed")

    def said(**policy):
        project.policy = project.policy | policy
        project.save()
        outcome = shadow.perform(shadow_work(project, number=project.training_runs.count() + 1))
        assert outcome.skipped
        return outcome.figure

    monkeypatch.setattr(trainer, "train", fail)
    monkeypatch.setattr(shadow, "LEAST_LABELS", 1)  # how many labels fit in equal times depends on who got which
    with pytest.raises(DomainError, match="exit code 1"):
        shadow.perform(shadow_work(project))
    assert said(shadow_models=False) == "switched off in the settings"
    assert "500 are needed" in said(shadow_models=True, gate_min_holdout=500)
    monkeypatch.setattr(shadow, "LEAST_LABELS", 1000)
    assert "1000 of each are needed" in said()
    assert left_behind(settings) == []
    assert not ShadowComparison.objects.exists()
