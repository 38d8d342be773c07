"""Rounds with the real library: from labels to the next generation, done twice, rejected, rolled back."""

from collections import Counter

import msgspec
import pytest

from annotation.core.errors import Conflict, DomainError, Forbidden
from annotation.labels.datasets.snapshots import read_graded
from annotation.loop import registry
from annotation.loop.gateway import training
from annotation.loop.rounds import pipeline, runs
from annotation.loop.rounds.stages import gate, train
from annotation.loop.selection.generations import open_first_generation, open_next_generation
from annotation.models import (
    AuditEntry,
    Generation,
    Lease,
    Membership,
    ModelVersion,
    PathStep,
    PoolScore,
    QueueItem,
    RunStage,
    Snapshot,
    StepRating,
    TrainingRun,
)
from annotation.work.claiming import claim_next
from prm.formats.identity import key_of, solution_key
from prm.formats.trace_files import read_traces
from tests.factories import (
    AnnotationFactory,
    LabelSourceFactory,
    MembershipFactory,
    ModelVersionFactory,
    ProjectFactory,
    SolutionFactory,
    UserFactory,
    make_comparison,
)
from tests.library import stay_in_process
from tests.rounds_world import folders, labelled_project

pytestmark = pytest.mark.django_db(transaction=True)
Run, Version = TrainingRun.State, ModelVersion.State


@pytest.fixture(autouse=True)
def _quiet(settings, tmp_path, monkeypatch):
    """Folders of the test's own, nothing sent to workers, and a training of a few epochs."""
    folders(settings, tmp_path)
    stay_in_process(monkeypatch)
    monkeypatch.setattr("annotation.core.jobs._send", lambda task, args, queue: None)
    config = training.training_config
    monkeypatch.setattr(train, "training_config", lambda policy, seed: config(policy, seed=seed) | {"epochs": 3})


@pytest.fixture
def manager():
    return UserFactory(is_staff=True)


@pytest.fixture
def verdicts(monkeypatch):
    """What the gate measures, call by call: (gain, low); the last one stays."""
    found = [(0.1, 0.01)]

    def compare(data, **given):
        gain, low = found.pop(0) if len(found) > 1 else found[0]
        return make_comparison(gain=gain, low=low, high=gain + 0.1, solutions=20, problems=10, samples=[gain])

    monkeypatch.setattr(gate, "compare", compare)
    return found


def do_round(project, by):
    run = runs.prepare_run(by=by, project=project, trigger="manual", seed=7)
    run = pipeline.run_through(run)
    assert run.state == Run.DONE, run.error
    return run


def counts():
    models = (Snapshot, ModelVersion, PoolScore, Generation, QueueItem)
    return {m.__name__: m.objects.count() for m in models} | {
        "promotions": AuditEntry.objects.filter(action="model.promote").count(),
        "registrations": AuditEntry.objects.filter(action="model.register").count(),
    }


def test_a_round_from_labels_to_the_next_generation(manager, verdicts, settings):
    project = labelled_project(manager, training={"graded_weight": 0.5})
    run = do_round(project, manager)
    version = run.model_version

    # Trained on pool and calibration only, measured on the holdout only.
    by_id = dict(project.solutions.values_list("pk", "split"))
    hashes = project.solutions.values_list("problem__text_hash", "content_hash", "split")
    by_key = {key_of(problem, content): split for problem, content, split in hashes}

    def splits(name):
        lines = (settings.STATE_ROOT / "runs" / str(run.pk) / name).read_bytes().splitlines()
        return {by_key[msgspec.json.decode(line)["id"]] for line in lines}

    assert splits("train.jsonl") == {"pool", "calibration"}
    assert splits("holdout.jsonl") == {"holdout"}

    # The grades of unread pool solutions teach too, as the snapshot lists them.
    traces = list(read_traces(settings.STATE_ROOT / "runs" / str(run.pk) / "train.jsonl"))
    unread = [trace for trace in traces if trace.labels is None]
    assert [trace.id for trace in unread] == [solution_key(record) for record in read_graded(run.snapshot)]
    assert {by_key[trace.id] for trace in unread} == {"pool"}
    sides = Counter("right" if trace.final_answer_correct else "wrong" for trace in unread)
    assert sides == run.snapshot.counts["graded"]
    assert min(sides.values()) > 0
    taught = version.manifest["graded"]
    assert 0 < taught["right"] + taught["wrong"] <= len(unread)  # those of validation problems teach nothing
    assert 0 < taught["noise"]["overall"]["right_despite_error"] < 1

    # The champion has a manifest, metrics with intervals beside the baseline, and a reasoned verdict.
    assert version.state == Version.CHAMPION
    assert registry.champion_of(project) == version
    assert version.snapshot == run.snapshot
    assert version.manifest["config"]["seed"] == 7
    assert None not in (version.metrics.challenger, version.metrics.baseline)
    assert version.metrics.thresholds
    assert "is promoted: ProcessBench F1 +10.0 points against the zero-label baseline" in version.gate.sentence

    # The whole pool is scored, with what ranking needs.
    scores = PoolScore.objects.filter(model_version=version).select_related("solution")
    assert {s.solution_id for s in scores} == {pk for pk, split in by_id.items() if split == "pool"}
    for score in scores:
        scored = len(score.mean) - score.unscored_steps
        assert len(score.heads) == scored * version.manifest["config"]["heads"] * 2
        assert score.gain >= 0
        assert score.expected_seconds > 0

    # The next generation is drawn by the champion, in lanes, with probabilities and a seed.
    generation = run.generation
    assert (generation.model_version, generation.acquisition) == (version, "contradiction")
    items = list(generation.items.all())
    lanes = Counter(item.lane for item in items)
    assert lanes == {lane: n for lane, n in generation.mix.items() if n}
    assert {"acquisition", "control", "holdout"} <= set(lanes)
    assert all(0 < item.inclusion_probability <= 1 for item in items)
    assert all(item.gain is not None for item in items if item.lane == "acquisition")
    labelled = set(project.annotations.values_list("solution", flat=True))
    assert not [item for item in items if item.solution_id in labelled and item.lane != "overlap"]
    assert all(item.solution_id in labelled for item in items if item.lane == "overlap")
    assert len({item.rank for item in items}) == len(items)

    # Its stages and its losses can be watched.
    *stages, shadow = run.stages.all()
    assert [s.state for s in stages] == [RunStage.State.DONE] * 7
    assert (shadow.name, shadow.state) == (RunStage.Name.SHADOW, RunStage.State.SKIPPED), "nothing was acquired yet"
    assert run.points.filter(stage="train", loss__isnull=False).exists()


def test_a_round_learns_from_monte_carlo_estimates(manager, verdicts, settings):
    project = labelled_project(manager, training={"graded_weight": 0.5, "estimate_weight": 0.5})
    source = LabelSourceFactory(project=project, kind="monte_carlo", name="policy, 8 rollouts")
    unread = list(project.solutions.filter(split="pool", annotations=None).order_by("pk"))
    for number, solution in enumerate(unread):
        estimate(solution, source, error=number % 3)
    run = do_round(project, manager)

    listed = [record for record in read_graded(run.snapshot) if record.annotations]
    assert {label.source_kind for record in listed for label in record.annotations} == {"monte_carlo"}
    assert run.snapshot.counts["estimated"] == len(listed) == len(unread)
    taught = run.model_version.manifest["estimated"]
    assert 0 < taught["solutions"] <= len(unread)  # those of validation problems teach nothing
    assert taught["steps"] >= taught["solutions"]
    assert run.model_version.state == Version.CHAMPION


def estimate(solution, source, *, error):
    """Rate each step up to the one at `error` as rollouts do: good before it, bad there."""
    label = AnnotationFactory(solution=solution, source=source, annotator=None, item=None)
    for step in solution.steps.filter(position__lte=error):
        PathStep.objects.create(annotation=label, position=step.position, chosen=step)
        StepRating.objects.create(
            annotation=label, step=step, state="rated", rating=-1 if step.position == error else 1
        )


def test_every_stage_may_be_done_twice(manager, verdicts):
    project = labelled_project(manager, labelled=60, unlabelled=30)
    run = do_round(project, manager)
    before, champion = counts(), registry.champion_of(project)
    queue = list(QueueItem.objects.order_by("pk").values_list("solution", "rank", "lane"))
    for stage in run.stages.all():
        # As if the worker had died after the work and before the row was written.
        RunStage.objects.filter(pk=stage.pk).update(state=RunStage.State.RUNNING)
        TrainingRun.objects.filter(pk=run.pk).update(state=Run.RUNNING)
        assert pipeline.run_through(run).state == Run.DONE, stage.name
    assert counts() == before
    assert registry.champion_of(project) == champion
    assert list(QueueItem.objects.order_by("pk").values_list("solution", "rank", "lane")) == queue


def test_a_rejected_challenger_leaves_the_champion_serving_and_ranking(manager, verdicts):
    verdicts[:] = [(0.1, 0.01), (0.05, -0.3)]
    project = labelled_project(manager, labelled=60, unlabelled=40)
    first = do_round(project, manager).model_version
    leased = claim_next(by=manager, project=project, holding=[]).lease
    project.policy["training"] = {"heads": 5}
    project.save()
    second = do_round(project, manager)
    assert second.model_version.manifest["config"]["heads"] == 5
    first.refresh_from_db()
    assert (first.state, second.model_version.state) == (Version.CHAMPION, Version.REJECTED)
    assert "Model 2 is not promoted, model 1 keeps serving" in second.model_version.gate.sentence
    assert second.model_version.gate.holdout_uses == 1
    assert second.stages.get(name="promote").state == RunStage.State.SKIPPED
    assert second.stages.get(name="score").figure.startswith("0 solutions")
    assert second.generation.model_version == first
    # The old generation is retired; what someone has in hand stays theirs and is offered to nobody else.
    assert project.generations.get(state="open") == second.generation
    leased.refresh_from_db()
    assert leased.state == Lease.State.ACTIVE
    assert not second.generation.items.filter(solution=leased.solution_id).exists()
    assert not QueueItem.objects.filter(generation=leased.item.generation, state="ready").exists()


def test_a_run_with_nothing_to_learn_says_so_and_makes_no_version(manager, verdicts, client):
    project = labelled_project(manager, labelled=60, unlabelled=40)
    first = do_round(project, manager)
    before = counts()
    again = do_round(project, manager)
    told = "nothing to learn: model 1 was trained with the same labels, choices and code"
    assert [(stage.state, stage.figure) for stage in again.stages.exclude(name=RunStage.Name.SHADOW)][1:] == [
        (RunStage.State.SKIPPED, told),
        *[(RunStage.State.SKIPPED, "no new model")] * 3,
        (RunStage.State.SKIPPED, "model 1 has already scored the whole pool"),
        (RunStage.State.SKIPPED, f"generation {first.generation.number} continues"),
    ]
    assert counts() == before
    assert again.model_version is None
    client.force_login(manager)
    for address in (f"/p/{project.slug}/runs/{again.number}/", f"/p/{project.slug}/runs/"):
        assert told in client.get(address).content.decode()

    # Solutions that came meanwhile are scored and may be asked for, without a new model.
    SolutionFactory(project=project, split="pool")
    third = do_round(project, manager)
    assert (third.model_version, third.stages.get(name="score").state) == (None, RunStage.State.DONE)
    assert third.generation.model_version == first.model_version


def test_rollback_is_one_call_by_a_manager(manager):
    project = MembershipFactory(user=manager, role=Membership.Role.MANAGER).project
    first = ModelVersionFactory(project=project, number=1, state=Version.RETIRED)
    second = ModelVersionFactory(project=project, number=2, state=Version.CHAMPION)
    with pytest.raises(Forbidden):
        registry.promote_version(by=MembershipFactory(project=project).user, version=first)
    registry.promote_version(by=manager, version=first)
    assert registry.champion_of(project) == first
    second.refresh_from_db()
    assert second.state == Version.RETIRED
    said = AuditEntry.objects.filter(action="model.promote").first()
    assert (said.by, said.before, said.after["champion"]) == (manager, {"champion": 2}, 1)
    with pytest.raises(Conflict):
        registry.promote_version(by=manager, version=first)


def test_too_few_labels_or_no_errors_is_said_clearly(manager):
    project = labelled_project(manager, labelled=5, unlabelled=30)
    with pytest.raises(DomainError, match=r"Label \d+ more") as few:
        runs.request_run(by=manager, project=project)
    assert few.value.code == "too_few_labels"
    assert not project.training_runs.exists()


def test_labels_of_kinds_that_the_policy_leaves_out_do_not_count(manager):
    project = labelled_project(manager, labelled=60, unlabelled=0, training_sources=["simulated"])
    with pytest.raises(DomainError, match="0 solutions of the pool are labelled"):
        runs.request_run(by=manager, project=project)


def test_generation_0_is_a_stratified_random_start(manager):
    project = labelled_project(manager, labelled=0, unlabelled=150, generation_budget=40)
    generation = open_first_generation(by=manager, project=project)
    items = list(generation.items.select_related("solution__problem"))
    assert (generation.number, generation.acquisition, generation.model_version) == (0, "random", None)
    assert len(items) == 40
    assert {item.solution.problem.domain for item in items if item.lane == "control"} == {"math", "programs", "agents"}
    assert all(item.wanted == (2 if item.lane == "overlap" else 1) for item in items)
    assert all(0 < item.inclusion_probability < 1 for item in items if item.lane == "control")
    with pytest.raises(Conflict, match="already open"):
        open_first_generation(by=manager, project=project)
    again = open_next_generation(by=manager, project=project)
    assert (again.number, again.acquisition) == (1, "random")
    generation.refresh_from_db()
    assert generation.state == Generation.State.RETIRED


def test_a_project_without_solutions_has_nothing_to_open(manager):
    project = ProjectFactory()
    MembershipFactory(project=project, user=manager, role=Membership.Role.MANAGER)
    for opening in (open_first_generation, open_next_generation):
        with pytest.raises(DomainError, match="Import more"):
            opening(by=manager, project=project)
    assert not project.generations.exists()
    SolutionFactory(project=project)
    assert open_first_generation(by=manager, project=project).items.count() == 1
