"""The gate's verdict is kept with its audit row; a challenger serves only in place of its own rival."""

import pytest
from django.utils import timezone

from annotation.loop import registry
from annotation.loop.registry.verdict import decide
from annotation.loop.rounds.stages import evaluate, gate, promote
from annotation.loop.rounds.work import StageWork
from annotation.models import AuditEntry, ModelVersion
from annotation.models.model_version import Measurement
from prm.messages import as_json
from prm.threshold import Threshold
from prm.traces import Trace
from tests.factories import MembershipFactory, ModelVersionFactory, SnapshotFactory, make_comparison, make_verdict

pytestmark = pytest.mark.django_db
State = ModelVersion.State


@pytest.fixture
def champion():
    return ModelVersionFactory(number=1, state=State.CHAMPION)


@pytest.fixture
def challenger(champion):
    metrics = Measurement(champion=champion.number)
    return ModelVersionFactory(project=champion.project, number=2, metrics=metrics, gate=make_verdict())


def unmeasured(champion):
    return decide(challenger=2, champion=champion, measured=None, solutions=0, tolerance=0.02, least=20, holdout_uses=0)


@pytest.mark.parametrize(("rival", "state"), [(1, State.REJECTED), (None, State.CHALLENGER)])
def test_a_verdict_is_kept_with_who_what_before_and_after(challenger, rival, state):
    verdict = unmeasured(rival)
    registry.record_verdict(version=challenger, verdict=verdict)
    challenger.refresh_from_db()
    assert (challenger.state, challenger.gate.sentence) == (state, verdict.sentence)
    entry = AuditEntry.objects.get(action="model.judge", target_id=str(challenger.pk))
    assert entry.before == {"state": "challenger"}
    messages = {"verdict": as_json(verdict.sentence)}
    assert entry.after == {
        "state": state,
        "promote": verdict.promote,
        "verdict": verdict.sentence,
        "messages": messages,
    }


def test_a_holdout_is_used_by_the_gates_that_measured_on_it(champion, challenger, run):
    ModelVersionFactory(project=champion.project, number=3, gate=make_verdict(gain=None, low=None, high=None))
    challenger.gate = None
    challenger.save()
    run.model_version = challenger
    gate.perform(StageWork(run, run.stages.create(name="gate", order=0)))
    challenger.refresh_from_db()
    assert challenger.gate.holdout_uses == 0
    ModelVersion.objects.filter(pk=champion.pk).update(gate=make_verdict())
    challenger.gate = None
    gate.perform(StageWork(run, run.stages.get(name="gate")))
    assert challenger.gate.holdout_uses == 1


def serve(challenger, run):
    run.model_version = challenger
    return promote.perform(StageWork(run, stage=None))


@pytest.fixture
def run(challenger):
    return challenger.project.training_runs.create(number=1, trigger="manual", seed=0)


def test_a_challenger_takes_the_place_of_the_model_it_was_measured_against(champion, challenger, run):
    assert serve(challenger, run).figure == "model 2 serves"
    assert registry.champion_of(champion.project) == challenger
    assert serve(challenger, run).figure == "model 2 serves", "a second time too"


def test_a_challenger_does_not_replace_a_model_that_was_chosen_by_hand_meanwhile(champion, challenger, run):
    manager = MembershipFactory(project=champion.project, role="manager")
    other = ModelVersionFactory(project=champion.project, number=3, state=State.RETIRED)
    registry.promote_version(by=manager.user, version=other)
    outcome = serve(challenger, run)
    assert outcome.skipped
    assert outcome.figure == "model 3 was promoted by hand during the round and keeps serving"
    assert registry.champion_of(champion.project) == other


def test_a_challenger_that_was_promoted_by_hand_before_its_verdict_keeps_serving(champion, challenger, run):
    manager = MembershipFactory(project=champion.project, role="manager")
    registry.promote_version(by=manager.user, version=challenger)
    registry.record_verdict(version=challenger, verdict=unmeasured(champion.number))  # read before the promotion
    assert registry.champion_of(champion.project) == challenger
    assert not challenger.gate.promote
    outcome = serve(challenger, run)
    assert (outcome.skipped, outcome.figure) == (True, "model 2 keeps serving")


def test_a_version_that_serves_is_measured_against_the_baseline_and_not_against_itself(challenger, run, monkeypatch):
    manager = MembershipFactory(project=challenger.project, role="manager")
    registry.promote_version(by=manager.user, version=challenger)
    run.model_version, run.snapshot = challenger, SnapshotFactory(project=challenger.project)
    monkeypatch.setattr(evaluate, "read_snapshot", lambda snapshot: [])
    evaluate.perform(StageWork(run, stage=None))
    assert challenger.metrics.champion is None


def test_a_challenger_that_a_manager_replaced_again_does_not_serve(champion, challenger, run):
    manager = MembershipFactory(project=champion.project, role="manager")
    registry.promote_version(by=manager.user, version=challenger)
    registry.promote_version(by=manager.user, version=champion)
    outcome = serve(challenger, run)
    assert (outcome.skipped, outcome.figure) == (
        True, "model 1 was promoted by hand during the round and keeps serving",
    )  # fmt: skip
    assert registry.champion_of(champion.project) == champion


@pytest.mark.parametrize("rounds_since", [0, 2])
def test_labels_before_the_champions_promotion_helped_to_choose_it(
    champion, challenger, run, monkeypatch, rounds_since
):
    """Also those of later challengers, if a manager promoted an old version again: the manager saw their verdicts."""
    project = champion.project
    champion.snapshot = SnapshotFactory(project=project)
    champion.promoted_at = timezone.now()
    champion.save()
    for number in range(2, 2 + rounds_since):
        version, _made = ModelVersion.objects.get_or_create(project=project, number=number)
        version.snapshot = SnapshotFactory(project=project)
        version.save()
        ModelVersion.objects.filter(pk=version.pk).update(created_at=champion.promoted_at)
    latest = version.snapshot if rounds_since else champion.snapshot
    challenger.gate, challenger.metrics.holdout_solutions = None, 40
    run.model_version = challenger
    measured = []

    def compare(data, *, without, **given):
        measured.append(without)
        return make_comparison(gain=0.05, low=-0.01 if without else -0.05, solutions=30)

    monkeypatch.setattr(gate, "compare", compare)
    monkeypatch.setattr(gate, "read_snapshot", lambda snapshot: [snapshot])
    monkeypatch.setattr(gate, "holdout_traces", lambda records: [Trace(f"{record.pk}", "p", []) for record in records])
    challenger.metrics.thresholds = dict.fromkeys((evaluate.CHALLENGER, evaluate.CHAMPION), Threshold(0.5))
    gate.perform(StageWork(run, run.stages.create(name="gate", order=0)))
    assert measured == [(), {str(latest.pk)}]
    assert (challenger.gate.promote, challenger.gate.only_new) == (True, True)
